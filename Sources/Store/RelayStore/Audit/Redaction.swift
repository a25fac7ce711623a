// SPDX-License-Identifier: Apache-2.0

/// How much of people's data a reader is shown: the one place that decides how a telephone and a push token are written.
///
/// Each writer of one takes a sight, which `Caller.sight` derives from the caller.
package enum Redaction: Hashable, Sendable, CaseIterable {
    /// As they are: for callers with the scope `users` or `devices`, and for an operator.
    case whole
    /// Enough to know one again, too little to call or to push to: for every other caller that may ask.
    case masked
    /// Nothing of them, only how many: for what leaves the relay unasked, and for what is kept after a user was erased.
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
