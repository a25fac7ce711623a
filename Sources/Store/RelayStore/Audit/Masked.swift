// SPDX-License-Identifier: Apache-2.0

/// Users and devices as the log and the audit trail name them.
package enum Masked {
    /// Enough for a reader who has the number to recognise it, too little to call it.
    package static func telephone(_ telephone: String) -> String {
        switch telephone.utf8.count {
        case ..<8: "…"
        // Five of eight digits would leave a thousand numbers to try.
        case ..<11: "…\(telephone.suffix(2))"
        default: "\(telephone.prefix(3))…\(telephone.suffix(2))"
        }
    }

    /// Enough to find the token again, too little to push to it.
    package static func token(_ token: String) -> String {
        token.utf8.count < 16 ? "…" : "\(token.prefix(4))…\(token.suffix(4))"
    }
}
