// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import Synchronization

/// This relay's rights to the work that only one relay of a fleet does. Written by the keeper of its lease, read
/// from any thread.
///
/// A relay that is alone with its store, as one on SQLite is, may do everything, always.
package final class Membership: Sendable {
    private struct State {
        var isAlone = true
        var node: NodeLease?
        var trustedUntil: MonotonicTime?
        var leads = false
        var ahead = Duration.zero
        /// The clock by which the trust is measured; valid since the relay joined a fleet.
        var clock: @Sendable () -> MonotonicTime = { MonotonicTime(nanoseconds: 0) }
    }

    /// How far the difference of the clocks may move from the known one before it counts as changed.
    private static let jitter = Duration.milliseconds(500)

    private let state = Mutex(State())
    /// The highest mark seen of the store. While the store has gone back in time, this relay may do nothing.
    package let memory = StoreMemory()

    package init() {}

    /// The owner's number of what this relay claims; 0: the relay is alone, or has no place.
    package var node: Int64 { state.withLock { $0.node?.node ?? 0 } }

    /// The relay's place; nil: it has none, or is alone.
    package var lease: NodeLease? { state.withLock { $0.node } }

    /// The place that each of the relay's transactions must hold; while it has none, a place that no relay has. nil: it
    /// is alone.
    package var held: NodeLease? {
        state.withLock { $0.isAlone ? nil : $0.node ?? NodeLease(node: 0, incarnation: 0) }
    }

    package var isAlone: Bool { state.withLock { $0.isAlone } }

    /// Changes each time that the relay could not be sure of what it owns; nil: it may send nothing.
    package var term: Int64? {
        guard !memory.hasFallen else { return nil }
        // Two numbers in one: a relay joins anew some thousand times in its life, and a store hardly ever goes back.
        let epoch = memory.epoch << 40
        return state.withLock { state in
            if state.isAlone { return epoch }
            guard let until = state.trustedUntil, state.clock() < until else { return nil }
            return state.node.map { epoch + $0.incarnation }
        }
    }

    /// Whether a relay that is alone with its store may send; nil: there are others, and `term` decides.
    package var mayAlone: Bool? { state.withLock { $0.isAlone } ? !memory.hasFallen : nil }

    /// How long `term` stays valid without a further heartbeat; zero or less where the trust has ended. nil: for good,
    /// since the relay is alone.
    package var untilDoubt: Duration? {
        state.withLock { state in
            state.isAlone ? nil : state.trustedUntil.map { $0 - state.clock() } ?? .zero
        }
    }

    /// Whether this relay has the duties that one relay carries out for the whole fleet.
    package var leads: Bool { term != nil && state.withLock { $0.isAlone || $0.leads } }

    /// How far the database's clock is ahead of this machine's; below zero: behind.
    package var ahead: Duration { state.withLock { $0.ahead } }

    // MARK: Written by the keeper of the lease

    /// Notes that there are other relays from now on.
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

    /// - Returns: whether the difference has changed from the known one by more than the jitter.
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
