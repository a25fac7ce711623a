// SPDX-License-Identifier: Apache-2.0

/// Notices that the push service refuses nearly every token from the start: the sign of a key or a server of the wrong
/// environment, not of bad tokens (PROTOCOLS 1.6, BadDeviceToken). One breaker watches one campaign from its start or
/// resumption; once it has seen a healthy beginning it never trips.
package struct CredentialBreaker: Sendable, Equatable {
    /// Answers that are looked at before a judgement.
    package static let sample = 20
    /// Share of bad tokens in the sample that trips the breaker.
    package static let share = 0.8

    private enum State: Sendable, Equatable {
        case watching(answers: Int, bad: Int)
        case trusted
        case tripped
    }

    private var state: State = .watching(answers: 0, bad: 0)

    package init() {}

    package var isTripped: Bool { state == .tripped }

    /// Feeds what one batch came to; returns whether the breaker is tripped now.
    ///
    /// - Parameters:
    ///   - accepted: pushes that the service took, and those it refused for a reason that proves the token real (410).
    ///   - badTokens: pushes refused with BadDeviceToken.
    package mutating func answered(accepted: Int, badTokens: Int) -> Bool {
        guard case .watching(var answers, var bad) = state else { return isTripped }
        answers += accepted + badTokens
        bad += badTokens
        if answers < Self.sample {
            state = .watching(answers: answers, bad: bad)
        } else {
            state = Double(bad) >= Self.share * Double(answers) ? .tripped : .trusted
        }
        return isTripped
    }
}
