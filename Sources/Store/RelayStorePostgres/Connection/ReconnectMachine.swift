// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// Whether a server is there, and which caller may try to connect. Pure: events and time in, actions out.
///
/// | state | means | ends |
/// |---|---|---|
/// | up | the last connection that was made succeeded; any caller may make another | a connection breaks, or cannot be made |
/// | down | one caller at a time tries: at once, then after 0.1 s, 0.2 s … 2 s, each with up to a quarter more | one succeeds |
/// A connection that broke alone is replaced by the first try: if that fails too, the server is gone. Connections that
/// were made before the server was gone are found to be broken one by one, perhaps hours later; this is not reported
/// again.
///
/// While it is down for less than `patience`, callers wait for the next try, up to their deadlines: a server that restarts
/// is back by then, unnoticed. After that they are refused at once, so that no threads pile up behind a server that is gone.
///
/// `Repetition` decides whether the lost work may be repeated.
struct ReconnectMachine: Sendable {
    enum Permission: Hashable, Sendable {
        /// Connect, and report how it went.
        case dial
        /// Ask again then, or when the try of another caller has ended.
        case wait(until: MonotonicTime)
        /// The server has been gone for `since`, for this reason.
        case refuse(since: Duration, reason: String)
    }

    /// A change that is logged: once when the server is gone, once when it is back.
    enum Report: Hashable, Sendable {
        /// One connection broke, and was replaced.
        case replaced(reason: String)
        case lost(reason: String)
        /// - tries: the failed ones in between.
        case back(after: Duration, tries: Int)
    }

    private struct Outage {
        var since: MonotonicTime
        var reason: String
        var tries = 0
        var notBefore: MonotonicTime
        var isTrying = false
        var isReported = false
    }

    static let patience = Duration.seconds(5)

    private var outage: Outage?
    /// The number of past outages in which the server was gone.
    private(set) var outages = 0

    var isUp: Bool { outage == nil }

    /// Decides for a caller that needs a connection.
    mutating func needed(at now: MonotonicTime) -> Permission {
        guard var outage else { return .dial }
        if !outage.isTrying, now >= outage.notBefore {
            outage.isTrying = true
            self.outage = outage
            return .dial
        }
        let age = now - outage.since
        guard age < Self.patience else { return .refuse(since: age, reason: outage.reason) }
        // While another caller tries, wait for the end of its try.
        return .wait(until: outage.isTrying ? outage.since + Self.patience : outage.notBefore)
    }

    mutating func connected(at now: MonotonicTime) -> Report? {
        guard let outage else { return nil }
        self.outage = nil
        guard outage.isReported else { return .replaced(reason: outage.reason) }
        outages += 1
        return .back(after: now - outage.since, tries: outage.tries)
    }

    /// Notes that a connection could not be made.
    /// - Parameter random: from 0 up to, not including, 1.
    mutating func failed(_ reason: String, at now: MonotonicTime, random: Double) -> Report? {
        var outage = outage ?? Outage(since: now, reason: reason, notBefore: now, isTrying: true)
        let isNews = !outage.isReported
        // The connection may have broken long ago, and none was needed since.
        if isNews { outage.since = now }
        (outage.reason, outage.isReported) = (reason, true)
        // Several callers may have been connecting when the outage began: they count as one.
        if outage.isTrying {
            outage.tries += 1
            outage.isTrying = false
            outage.notBefore = now + Self.backOff(after: outage.tries, random: random)
        }
        self.outage = outage
        return isNews ? .lost(reason: reason) : nil
    }

    /// Notes that an established connection broke. The first caller to notice connects at once.
    /// - Parameter generation: `outages` when the connection was made.
    mutating func broke(_ reason: String, generation: Int, at now: MonotonicTime) {
        guard outage == nil, generation == outages else { return }
        outage = Outage(since: now, reason: reason, notBefore: now)
    }

    static func backOff(after tries: Int, random: Double) -> Duration {
        let milliseconds = min(2000, 100 << min(max(tries - 1, 0), 5))
        return .milliseconds(Int64(Double(milliseconds) * (1 + 0.25 * random)))
    }
}

/// Whether work that failed may be done once more, on another connection if need be. Pure.
///
/// | how it failed | reads only | changes something |
/// |---|---|---|
/// | the connection broke before anything was sent, or in a transaction before its COMMIT | again | again |
/// | the connection broke with the answer to a COMMIT, or to a statement outside of one | again | the caller learns that it is unknown |
/// | serialization, deadlock | again | again: all of it was rolled back |
/// | a plan that is stale, in a transaction | again | again |
/// | anything else: a lock that was not obtained in time, a full disk, a rule that forbids it, a cancelled statement | no | no |
struct Repetition: Sendable {
    static let most = 3

    static func isDue(
        after failure: PostgresFailure, attempt: Int, isReadOnly: Bool, at now: MonotonicTime, deadline: MonotonicTime
    ) -> Bool {
        guard attempt < most, now < deadline else { return false }
        switch failure.cause {
        case .lost: return isReadOnly || !failure.isOutcomeUnknown
        // Their deadline has passed.
        case .silent, .dropped, .crowded: return false
        case .refused(let state):
            switch state.reaction {
            case .reconnect: return isReadOnly || !failure.isOutcomeUnknown
            case .busy: return state == "40001" || state == "40P01"
            case .prepareAnew: return true
            case .full, .conflict, .fenced, .wentBack, .failed: return false
            }
        }
    }
}
