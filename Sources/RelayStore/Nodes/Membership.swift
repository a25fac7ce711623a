// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import Synchronization

/// What this relay may do of what only one of a fleet does. Written by who keeps its lease, read from any thread.
///
/// A relay that is alone with its store, as one on SQLite is, may do everything, always.
package final class Membership: Sendable {
    private struct State {
        var isAlone = true
        var node: NodeLease?
        var trustedUntil: MonotonicTime?
        var leads = false
        var ahead = Duration.zero
        /// Since joining a fleet: what the trust is measured by.
        var clock: @Sendable () -> MonotonicTime = { MonotonicTime(nanoseconds: 0) }
    }

    /// How far the two clocks may differ from what is known before that is taken for another difference.
    private static let jitter = Duration.milliseconds(500)

    private let state = Mutex(State())
    /// What was seen of the store: while that has gone back, nobody may do anything.
    package let memory = StoreMemory()

    package init() {}

    /// Who owns what it claims: 0 of a relay that is alone.
    package var node: Int64 { state.withLock { $0.node?.node ?? 0 } }

    /// Its place; nil: it has none, or is alone.
    package var lease: NodeLease? { state.withLock { $0.node } }

    /// The place that each of its transactions has to hold, which nobody has where it has none; nil: it is alone.
    package var held: NodeLease? {
        state.withLock { $0.isAlone ? nil : $0.node ?? NodeLease(node: 0, incarnation: 0) }
    }

    package var isAlone: Bool { state.withLock { $0.isAlone } }

    /// Another one with each time that it could not be sure of what it owns; nil: it may send nothing.
    package var term: Int64? {
        guard !memory.hasFallen else { return nil }
        // Two numbers in one: relays join anew some thousand times in their lives, and a store falls hardly ever.
        let epoch = memory.epoch << 40
        return state.withLock { state in
            if state.isAlone { return epoch }
            guard let until = state.trustedUntil, state.clock() < until else { return nil }
            return state.node.map { epoch + $0.incarnation }
        }
    }

    /// Whether a relay that is alone with its store may send; nil: there are others, and `term` says it.
    package var mayAlone: Bool? { state.withLock { $0.isAlone } ? !memory.hasFallen : nil }

    /// How long `term` stays as it is if nobody hears anything, zero where it is nil; nil: for good.
    package var untilDoubt: Duration? {
        state.withLock { state in
            state.isAlone ? nil : state.trustedUntil.map { $0 - state.clock() } ?? .zero
        }
    }

    /// Whether it has the duties that one relay does for all.
    package var leads: Bool { term != nil && state.withLock { $0.isAlone || $0.leads } }

    /// How far the database's clock is ahead of this machine's; below zero: behind.
    package var ahead: Duration { state.withLock { $0.ahead } }

    // MARK: Written by who keeps the lease

    /// From now on there are others.
    ///
    /// - Parameter clock: CLOCK_BOOTTIME.
    package func beginFleet(clock: @escaping @Sendable () -> MonotonicTime) {
        state.withLock { ($0.isAlone, $0.clock) = (false, clock) }
    }

    package func note(_ node: NodeLease?, trustedUntil: MonotonicTime?) {
        state.withLock { state in
            if node != state.node { state.leads = false }
            (state.node, state.trustedUntil) = (node, trustedUntil)
        }
    }

    package func note(leads: Bool) { state.withLock { $0.leads = leads } }

    /// - Returns: whether that is another difference than was known.
    @discardableResult
    package func note(ahead: Duration) -> Bool {
        state.withLock { state in
            let moved = ahead - state.ahead
            guard moved > Self.jitter || moved < .zero - Self.jitter else { return false }
            state.ahead = ahead
            return true
        }
    }
}
