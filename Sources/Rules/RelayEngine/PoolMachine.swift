// SPDX-License-Identifier: Apache-2.0

/// Decides for a pool of connections to one origin when another one is dialled, and what becomes of a request whose stream
/// ended without an answer.
///
/// Pure: the caller counts its connections, and passes in the time and a random number for the jitter.
///
/// | what happened | next dial |
/// |---|---|
/// | dialling failed, or a connection ended that never had a 2xx, for the n-th time in a row | 1 s doubling to 60 s |
/// | GOAWAY with ENHANCE_YOUR_CALM, for the n-th time | 1 s doubling to 60 s; forgotten when a connection lived 10 min |
/// | a connection ended within 10 s, with no more delivered than lost or refused | at once 3 times in a row, then 1 s doubling to 60 s |
/// | a good connection ended later, or had delivered more than it lost and refused | at once |
///
/// The last row is an orderly end, even if after few requests: nginx ends a connection after a thousand
/// (`keepalive_requests`), other servers after ten. All that this costs is one dial after another, and Apple asks for no less
/// than that.
///
/// A connection is judged when its last stream has ended: until then it is unknown what it delivers. A failure that is reported
/// during a pause began before the pause, and does not make it longer: many connections to one server end together.
///
/// Jitter adds up to a quarter.
///
/// `ConnectionSearch` and `SurplusRule` decide how many connections there are while nothing goes wrong. Where the server ends
/// connections, the next one begins with no more requests in flight than the last one answered. If that is less than a
/// connection's streams, more are dialled, one after the other, until together they carry as much as one full connection.
package struct PoolMachine: Sendable {
    /// The pool's connections, counted.
    package struct Connections: Sendable, Hashable {
        /// Connections that take new requests, now or later.
        package var usable = 0
        /// Usable ones that cannot carry more than they do.
        package var full = 0
        /// Usable ones that would take a request now.
        package var ready = 0
        /// Streams of the usable ones whose width is known.
        package var streams = 0
        /// Requests on the usable ones.
        package var inFlight = 0
        /// Connections that take nothing new, and whose last streams have not ended.
        package var ending = 0
        /// Requests on them.
        package var inFlightOnRetired = 0

        package init(
            usable: Int = 0, full: Int = 0, ready: Int = 0, streams: Int = 0, inFlight: Int = 0, ending: Int = 0,
            inFlightOnRetired: Int = 0
        ) {
            self.usable = usable
            self.full = full
            self.ready = ready
            self.ending = ending
            self.streams = streams
            self.inFlight = inFlight
            self.inFlightOnRetired = inFlightOnRetired
        }
    }

    package enum DialDecision: Sendable, Hashable {
        case nothing
        /// Dial this many connections now; `dialled` or `dialFailed` must follow for each.
        case dial(Int)
        /// A connection is needed, but none may be dialled before then.
        case wait(until: MonotonicTime)
    }

    /// How a request left its stream without an answer.
    package enum RequestEnd: Sendable, Hashable {
        /// The server promised not to have looked at it, or it never left.
        case notProcessed
        /// The outcome is unknown.
        case unknown
    }

    package enum RequestFate: Sendable, Hashable {
        /// It goes to the head of the queue. `isSecond`: its outcome was unknown once; if it is unknown again, the request is lost.
        case sendAgain(isSecond: Bool)
        case lost
        case unsent
    }

    /// How often a request is put on a connection at most, however often it is refused.
    package static let sendLimit = 64
    /// A good connection should live at least this long, unless it delivers more than it loses.
    package static let shortLife: Duration = .seconds(10)
    /// The most connections in a row that do not go beyond the expected number of requests.
    package static let longestCaution = 64
    /// While this many connections are ending (or the most that may be in use, if that is more), no other is dialled: what they
    /// deliver is not known yet.
    package static let mostEnding = 4
    /// Short-lived connections in a row that are forgiven before redialling slows down.
    package static let shortLivesForgiven = 3
    /// A good connection that lived this long has made up for every ENHANCE_YOUR_CALM before it.
    package static let calmForgotten: Duration = .seconds(600)

    private var search: ConnectionSearch
    private var surplusRule = SurplusRule()
    private var isStopped = false
    /// Dials on their way.
    private var dialling = 0
    private var shortLives = 0
    /// GOAWAYs with ENHANCE_YOUR_CALM. Not reset by a good answer: else a server that takes one push and then asks for calm
    /// again would be dialled every second for ever.
    private var calms = 0
    private var notBefore: MonotonicTime?
    /// The number of requests that a connection answers before the server ends it, learned from one that had been given more;
    /// nil: unknown.
    package private(set) var expectedRequests: Int?
    /// Streams of the connection from which `expectedRequests` was learned.
    private var expectedWidth = 0
    /// How many of the next connections do not go beyond the expected number of requests (`cautious`), and how many were
    /// planned not to (`caution`): the server's limit is tested again from time to time, but not by each connection.
    private var cautious = 0
    private var caution = 0
    private let maximumConnections: Int
    /// Failures in a row, of dials and of connections that came to nothing.
    package private(set) var failures = 0

    package init(maximumConnections: Int) {
        self.maximumConnections = max(1, maximumConnections)
        search = ConnectionSearch(limit: maximumConnections)
    }

    /// Setbacks in a row, of any kind: for status and logs.
    package var setbacks: Int { max(failures, calms, shortLives) }

    /// For how long nothing is dialled from now on; nil where nothing stands in the way.
    package func dialPause(at now: MonotonicTime) -> Duration? {
        notBefore.flatMap { now < $0 ? $0 - now : nil }
    }

    // MARK: Dialling

    /// Whether every connection is full and requests wait: the condition for `consider`.
    package static func isShort(queued: Int, _ connections: Connections) -> Bool {
        queued > 0 && connections.usable > 0 && connections.full == connections.usable
    }

    /// Takes a reading that was made while the pool was short of streams.
    package mutating func consider(
        _ reading: ConnectionSearch.Reading, _ connections: Connections, at now: MonotonicTime
    ) {
        // A missing connection is replaced first; without it the reading shows nothing about the last step.
        if dialling == 0, connections.usable >= search.wanted { search.consider(reading, at: now) }
    }

    /// Takes the reading of a connection's only stream, before the connection was widened.
    package mutating func considerFirst(_ reading: ConnectionSearch.Reading) {
        search.considerFirst(reading)
    }

    /// - Parameter queued: requests that wait for a stream.
    package mutating func decide(queued: Int, _ connections: Connections, at now: MonotonicTime) -> DialDecision {
        guard !isStopped, dialling == 0 else { return .nothing }
        let missing =
            if connections.usable == 0 {
                // A replacement is dialled before the last streams have ended: their requests may come back to be sent again.
                // One connection finds out whether the service is there.
                queued > 0 || connections.inFlightOnRetired > 0 ? 1 : 0
            } else if Self.isShort(queued: queued, connections) {
                search.wanted - connections.usable
            } else {
                queued > 0 && connections.ready == 0 && connections.usable < wantedOfShortLived ? 1 : 0
            }
        guard missing > 0, connections.ending < max(Self.mostEnding, maximumConnections) else { return .nothing }
        if let notBefore, now < notBefore { return .wait(until: notBefore) }
        dialling = missing
        return .dial(missing)
    }

    /// How many connections may be retired as `.surplus`, because they have been unneeded for a long time or brought nothing.
    package mutating func surplus(_ connections: Connections, at now: MonotonicTime) -> Int {
        let unused = surplusRule.surplus(
            usable: connections.usable, streams: connections.streams, inFlight: connections.inFlight, at: now)
        return max(unused, search.most.map { connections.usable - max($0, wantedOfShortLived) } ?? 0)
    }

    /// The number of connections that, with the expected number of requests each, carry as much as `search.wanted` full ones;
    /// 0 where a connection can fill its streams.
    private var wantedOfShortLived: Int {
        guard let expectedRequests, expectedRequests < expectedWidth else { return 0 }
        return min(maximumConnections, search.wanted * ((expectedWidth + expectedRequests - 1) / expectedRequests))
    }

    package mutating func dialled() {
        dialling = max(0, dialling - 1)
    }

    /// - Parameters:
    ///   - usable: the other usable connections.
    ///   - random: a number from 0 up to, not including, 1.
    package mutating func dialFailed(usable: Int = 0, at now: MonotonicTime, random: Double) {
        dialling = max(0, dialling - 1)
        if usable > 0 { search.refused(beyond: usable, at: now) }
        fail(at: now, random: random)
    }

    /// A request was answered with 2xx: the origin is well.
    package mutating func proved() {
        failures = 0
    }

    /// Whether the connection that is made now goes beyond the expected number of requests. Must be called once for each.
    package mutating func goesBeyond() -> Bool {
        guard expectedRequests != nil, cautious > 0 else { return true }
        cautious -= 1
        return false
    }

    /// A connection goes on long after the expected number of requests.
    package mutating func outlived() {
        expectedRequests = nil
    }

    /// A connection has ended. Must be reported once for each that was dialled, when its last stream has ended; at once where
    /// the server asks for calm.
    ///
    /// - Parameter usable: the other usable connections.
    package mutating func retired(
        _ reason: ConnectionMachine.Retirement, _ record: ConnectionMachine.Record, livedFor life: Duration,
        usable: Int = 0, at now: MonotonicTime, random: Double
    ) {
        if reason == .stopped || reason == .surplus || reason == .spent { return }
        let wasProven = record.delivered > 0
        expect(record)
        if wasProven, life >= Self.calmForgotten { calms = 0 }
        if reason == .goAway(isCalm: true) {
            calms += 1
            search.refused(beyond: search.wanted / 2, at: now)
            if !wasProven { failures += 1 }
            notBefore = now + Self.backOff(after: max(calms, failures), random: random)
        } else if !wasProven {
            if usable > 0 { search.refused(beyond: usable, at: now) }
            fail(at: now, random: random)
        } else if life < Self.shortLife, record.delivered <= record.lost + record.refused {
            guard dialPause(at: now) == nil else { return }
            shortLives += 1
            guard shortLives > Self.shortLivesForgiven else { return }
            notBefore = now + Self.backOff(after: shortLives - Self.shortLivesForgiven, random: random)
        } else {
            shortLives = 0
        }
    }

    /// Learns from a connection whose end left requests unanswered: the server would end the next one as early, so that one
    /// begins with as many requests as this one answered.
    private mutating func expect(_ record: ConnectionMachine.Record) {
        if record.cutOff > 0 {
            // Cut off earlier than expected: the server has no rule, or another one. As late as expected, or hardly later:
            // the expectation is its rule.
            let isRule = expectedRequests.map { record.answered >= $0 && record.answered <= $0 + $0 / 8 } ?? false
            caution = isRule ? min(max(1, caution * 2), Self.longestCaution) : 0
            cautious = caution
        }
        if record.givenBack + record.cutOff > 0 {
            expectedRequests = max(1, record.answered)
            expectedWidth = record.width
        } else if let expected = expectedRequests, record.taken > expected {
            expectedRequests = nil
        }
    }

    /// Nothing is dialled and nothing is sent again from now on.
    package mutating func stop() {
        isStopped = true
    }

    private mutating func fail(at now: MonotonicTime, random: Double) {
        guard dialPause(at: now) == nil else { return }
        failures += 1
        notBefore = now + Self.backOff(after: failures, random: random)
    }

    /// 1 s, 2 s, 4 s ... 60 s, and up to a quarter more.
    package static func backOff(after failures: Int, random: Double) -> Duration {
        let seconds = min(60, 1 << min(max(failures - 1, 0), 6))
        return .milliseconds(Int64(Double(seconds) * 1000 * (1 + 0.25 * random)))
    }

    // MARK: Requests

    /// - Parameters:
    ///   - isSecond: whether the request's outcome was unknown once before.
    ///   - sends: how often the request was put on a connection.
    ///   - isWithdrawn: whether the request was called back in the meantime.
    package func fate(
        after end: RequestEnd, isSecond: Bool, sends: Int, isWithdrawn: Bool = false
    ) -> RequestFate {
        switch end {
        case .notProcessed where isStopped || isWithdrawn || sends >= Self.sendLimit:
            // A request that was sent once with an unknown outcome may have arrived, however often it was refused since.
            isSecond ? .lost : .unsent
        case .notProcessed:
            .sendAgain(isSecond: isSecond)
        case .unknown where isSecond || isStopped || isWithdrawn:
            .lost
        case .unknown:
            .sendAgain(isSecond: true)
        }
    }

    /// The longest that a request waits for a connection, or for its turn on one: its text and its token were read from the
    /// store before, and grow stale.
    package static let longestWait = Duration.seconds(5)

    package static func canWait(since start: MonotonicTime, until end: MonotonicTime) -> Bool {
        end - start <= longestWait
    }

    /// The fate of a queued request that will not be sent.
    package static func fateWhenWithdrawn(isSecond: Bool) -> RequestFate {
        isSecond ? .lost : .unsent
    }
}
