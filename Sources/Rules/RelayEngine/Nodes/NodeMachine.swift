// SPDX-License-Identifier: Apache-2.0

/// Keeps the lease of a relay in a fleet, and decides when the relay may trust it. Pure: events and time in, actions out.
///
/// | state | means | ends |
/// |---|---|---|
/// | out | it has no place: it owns nothing and sends nothing | it joins, as a new incarnation |
/// | trusted | its last good heartbeat was sent less than 4.5 s ago | that time is over |
/// | in doubt | its place may be taken: it sends nothing, and keeps what it owns | a heartbeat succeeds, or finds it fenced: out |
///
/// Other relays fence it 6 s after its last heartbeat by the database's clock: then it has sent nothing for 1.5 s. While the
/// database is gone no relay is fenced, because none can ask the database for it. Nor does a relay fence others while its own
/// heartbeats are slow, or have been good for less than 6 s: then the database was away, and every lease has run out alike.
///
/// Its times are those of a clock that goes on while the machine is suspended (clock_gettime(2), CLOCK_BOOTTIME).
package struct NodeMachine: Sendable, Equatable {
    package enum Action: Hashable, Sendable {
        case join
        case beat
        /// Look up which leases have run out, and whether there is a leader.
        ///
        /// - fences: whether the relays that hold those leases may be fenced.
        case look(fences: Bool)
        case wait(until: MonotonicTime)
    }

    /// How long a heartbeat holds, by the database's clock.
    package static let lease = Duration.seconds(6)
    package static let beat = Duration.milliseconds(1500)
    /// How long a heartbeat is trusted, from when it was sent.
    package static let trust = Duration.milliseconds(4500)
    package static let look = Duration.seconds(1)
    /// A heartbeat that took longer is evidence against the database.
    package static let slow = Duration.seconds(1)
    /// The pause after an error.
    package static let rest = Duration.milliseconds(250)

    private struct Place: Sendable, Equatable {
        /// When the last good heartbeat was sent, and how long it took.
        var sent: MonotonicTime
        var took: Duration
        /// Since when all heartbeats have been good.
        var steadySince: MonotonicTime
    }

    private var place: Place?
    private var nextBeat: MonotonicTime
    private var nextLook: MonotonicTime

    package init(at now: MonotonicTime) { (nextBeat, nextLook) = (now, now) }

    package func next(at now: MonotonicTime) -> Action {
        guard let place else { return now >= nextBeat ? .join : .wait(until: nextBeat) }
        if now >= nextBeat { return .beat }
        if now >= nextLook {
            return .look(fences: now - place.steadySince >= Self.lease && place.took < Self.slow)
        }
        return .wait(until: min(nextBeat, nextLook))
    }

    /// Until when it may send; nil: it has no place.
    package var trustedUntil: MonotonicTime? { place.map { $0.sent + Self.trust } }

    /// It has joined, or a heartbeat was good.
    package mutating func good(sent: MonotonicTime, answered now: MonotonicTime) {
        // A relay that could not be trusted in between was not steady.
        let steady = place.flatMap { sent - $0.sent < Self.trust ? $0.steadySince : nil } ?? now
        place = Place(sent: sent, took: now - sent, steadySince: steady)
        nextBeat = sent + Self.beat
    }

    /// A heartbeat found that other relays have taken its place.
    package mutating func fenced(at now: MonotonicTime) { (place, nextBeat) = (nil, now) }

    package mutating func looked(at now: MonotonicTime) { nextLook = now + Self.look }

    /// The database did not carry out the action.
    package mutating func failed(_ action: Action, at now: MonotonicTime) {
        place?.steadySince = now
        switch action {
        case .join, .beat: nextBeat = now + Self.rest
        case .look, .wait: nextLook = now + Self.look
        }
    }
}
