// SPDX-License-Identifier: Apache-2.0

/// Notices that the push service refuses nearly every push from the start: the sign of a key, a topic or a server that is
/// not these tokens', not of bad tokens (PROTOCOLS 1.6, BadDeviceToken). One breaker watches one campaign from its start
/// or resumption; once it has seen a healthy beginning it never trips.
///
/// A device counts once, by what became of it in the end.
package struct CredentialBreaker: Sendable, Equatable {
    /// Answers that are looked at before a judgement.
    package static let sample = 20
    /// The same for a campaign that has delivered before: what is left of a good fan-out may be a corner of bad tokens.
    package static let sampleOfProven = 100
    /// Share of refused pushes in the sample that trips the breaker.
    package static let share = 0.8

    package struct Count: Sendable, Equatable {
        package var answers = 0
        package var refused = 0
    }

    private enum State: Sendable, Equatable {
        case watching(Count)
        case trusted
        case tripped(Count)
    }

    private let size: Int
    private var state = State.watching(Count())

    /// - Parameter delivered: pushes of this campaign that the service took before.
    package init(delivered: Int64 = 0) {
        size = delivered < Self.sample ? Self.sample : Self.sampleOfProven
    }

    package var isTripped: Bool { verdict != nil }
    /// No judgement yet.
    package var isWatching: Bool { if case .watching = state { true } else { false } }
    /// What it tripped on; nil while it has not.
    package var verdict: Count? { if case .tripped(let count) = state { count } else { nil } }

    /// Feeds what one batch came to; returns whether the breaker is tripped now.
    ///
    /// - Parameters:
    ///   - accepted: pushes that the service took, and those it refused for a reason that proves the token real (410).
    ///   - refused: pushes refused for good, such as with BadDeviceToken.
    package mutating func answered(accepted: Int, refused: Int) -> Bool {
        guard case .watching(var count) = state else { return isTripped }
        count.answers += accepted + refused
        count.refused += refused
        if count.answers < size {
            state = .watching(count)
        } else {
            state = Double(count.refused) >= Self.share * Double(count.answers) ? .tripped(count) : .trusted
        }
        return isTripped
    }
}
