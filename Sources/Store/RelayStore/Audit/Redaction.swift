// SPDX-License-Identifier: Apache-2.0

/// How much of people's data a reader is shown: the one place that decides how a telephone and a push token are written.
///
/// Code that writes one of them takes a `Redaction`, which `Caller.sight` derives from the caller.
package enum Redaction: Hashable, Sendable, CaseIterable {
    /// As they are: for callers with the scope `users` or `devices`, and for an operator.
    case whole
    /// For callers without the right to see devices: enough to recognise a device, too little to call or push to it.
    case masked
    /// Only their number: for data that the relay sends unasked, and data that it keeps after a user was erased.
    case counted

    package func telephone(_ telephone: String) -> String {
        switch self {
        case .whole: telephone
        case .masked: Masked.telephone(telephone)
        case .counted: Self.nothing
        }
    }

    package func token(_ token: String) -> String {
        switch self {
        case .whole: token
        case .masked: Masked.token(token)
        case .counted: Self.nothing
        }
    }

    private static let nothing = "…"
}
