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
        /// Since joining a fleet: the clock by which the trust is measured.
        var clock: @Sendable () -> MonotonicTime = { MonotonicTime(nanoseconds: 0) }
    }

    /// How far the clocks' difference may move from the known one before it counts as another difference.
    private static let jitter = Duration.milliseconds(500)

    private let state = Mutex(State())
    /// The marks seen of the store: while it has gone back, no relay may do anything.
    package let memory = StoreMemory()

    package init() {}

    /// The owner's number for what this relay claims; 0 of a relay that is alone.
    package var node: Int64 { state.withLock { $0.node?.node ?? 0 } }

    /// Its place; nil: it has none, or is alone.
    package var lease: NodeLease? { state.withLock { $0.node } }

    /// The place that each of its transactions has to hold: one that no relay has, where it has none; nil: it is alone.
    package var held: NodeLease? {
        state.withLock { $0.isAlone ? nil : $0.node ?? NodeLease(node: 0, incarnation: 0) }
    }

    package var isAlone: Bool { state.withLock { $0.isAlone } }

    /// Changes each time that the relay could not be sure of what it owns; nil: it may send nothing.
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

    /// Whether a relay that is alone with its store may send; nil: there are others, and `term` decides.
    package var mayAlone: Bool? { state.withLock { $0.isAlone } ? !memory.hasFallen : nil }

    /// How long `term` stays as it is without a further heartbeat, zero where it is nil; nil: for good.
    package var untilDoubt: Duration? {
        state.withLock { state in
            state.isAlone ? nil : state.trustedUntil.map { $0 - state.clock() } ?? .zero
        }
    }

    /// Whether it has the duties that one relay does for all.
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

    /// - Returns: whether the difference has changed from the known one.
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
