// SPDX-License-Identifier: Apache-2.0

/// Decides for one HTTP/2 connection how many streams it may carry, whether it still lives, and when it is retired.
///
/// Pure: events come in as calls with the time, decisions go out as values. The socket and the frames are the caller's.
package struct ConnectionMachine: Sendable {
    package struct Settings: Sendable, Equatable {
        /// Streams at most, whatever the server allows.
        package var maximumStreams = 1000
        /// Silence, with requests in flight, after which a PING asks whether the peer lives.
        package var pingAfterSilence: Duration = .seconds(10)
        /// How long the PING's answer may take.
        package var pingTimeout: Duration = .seconds(5)
        /// Silence, with nothing in flight, after which a PING keeps the path open: Apple suggests an hour.
        package var idlePing: Duration = .seconds(3600)
        /// How long the server may allow no stream at all. RFC 9113, 6.5.2: "Servers SHOULD only set a zero value for short
        /// durations; if a server does not wish to accept requests, closing the connection is more appropriate."
        package var zeroStreamsTimeout: Duration = .seconds(30)
        /// How many requests the previous connection answered until the server ended it; nil: unknown.
        package var expectedRequests: Int?
        /// Whether the connection goes on after `expectedRequests`; else it is retired then, before the server cuts off requests.
        package var goesBeyond = true

        package init() {}
    }

    /// Why nothing new goes onto the connection any more.
    package enum Retirement: Sendable, Hashable {
        /// The server sent GOAWAY; `isCalm`: with ENHANCE_YOUR_CALM (RFC 9113, 7: "exhibiting a behavior that might be
        /// generating excessive load").
        case goAway(isCalm: Bool)
        /// An answer asked for another connection (403 ExpiredProviderToken, 503 Shutdown).
        case judged
        /// It refuses streams again and again.
        case refuses
        /// A request got no answer in time.
        case timedOut
        /// A stream was reset with an unknown outcome: what it carried goes out again, on another connection.
        case streamReset
        /// RFC 9113, 5.1.1: "Stream identifiers cannot be reused. [...] a client that is unable to establish a new stream
        /// identifier can establish a new connection".
        case outOfStreams
        /// We stop, or the pool is being removed.
        case stopped
        /// It has been unneeded for a long time.
        case surplus
        /// It has answered the expected number of requests: more would be cut off.
        case spent
        /// The socket or the session failed.
        case died
    }

    /// The fate of a connection's requests over its life.
    package struct Record: Sendable, Hashable {
        /// Requests that were answered with 2xx.
        package var delivered = 0
        /// Requests that were answered, whatever the answer.
        package var answered = 0
        /// Requests that it took and did not answer as it should have, or that were on it when it ended.
        package var lost = 0
        /// The lost requests that were on it when it ended.
        package var cutOff = 0
        /// Requests that it refused while it took others.
        package var refused = 0
        /// Requests that went onto it, without those that came back unprocessed.
        package var taken = 0
        /// Requests that a GOAWAY gave back: they "can be safely retried on a new connection" (RFC 9113, 6.8).
        package var givenBack = 0
        /// Streams that it could carry when it was retired.
        package var width = 0
    }

    package enum Phase: Sendable, Hashable {
        /// One stream only: until a request has been answered with 2xx it is unknown whether the server accepts us (APNs:
        /// "one stream only until a request with a valid token has been posted"). To `.open`, `.retired`.
        case unproven
        /// As many streams as SETTINGS and our own limit allow. To `.retired`.
        case open
        /// Nothing new; what is in flight may end. Final: a retired connection closes when its last stream has ended.
        case retired(Retirement)
    }

    package enum StreamEnd: Sendable, Hashable {
        /// The server answered.
        case answered(isSuccess: Bool)
        /// RST_STREAM with REFUSED_STREAM, or above GOAWAY's last stream id: not looked at (RFC 9113, 8.7).
        case refused
        /// It was never sent.
        case unsent
        /// Reset with another code: the outcome is unknown.
        case reset
        /// No answer in time; its RST_STREAM has gone out.
        case timedOut
        /// The connection ended before the answer: the outcome is unknown.
        case cut
    }

    package enum TickAction: Sendable, Hashable {
        case nothing
        case sendPing
        /// The peer is gone; the text is the evidence.
        case giveUp(String)
    }

    /// Answers in a row that blame the credential before it counts as bad: one alone may be about one device.
    package static let doubtLimit = 3
    /// Refusals in a row, each of the only request in flight, that make a connection useless. With other requests in flight a
    /// refusal does not count: the server has taken those, and answers them later than it refuses.
    package static let refusalLimit = 8
    /// The most bytes in a row with no answer among them. Only a peer that floods us sends more: PING, SETTINGS, empty DATA,
    /// RST_STREAM, unknown frames (RFC 9113, 10.5: "An endpoint that doesn't monitor use of these features exposes itself to
    /// a risk of denial of service"). A thousand streams' longest answers are well below.
    package static let floodLimit = 8 << 20
    /// The number of these bytes that are forgiven each second: an idle server's PINGs never add up.
    package static let floodForgivenPerSecond = 64 << 10
    /// How long after its first good answer a connection may still be waiting for the SETTINGS that widen it.
    package static let settlingTime: Duration = .milliseconds(500)

    package let settings: Settings
    package let openedAt: MonotonicTime
    package private(set) var phase: Phase = .unproven
    package private(set) var inFlight = 0
    private var provenAt: MonotonicTime?
    private var peerLimit = Int.max
    package private(set) var record = Record()
    /// How many requests it may take for now; nil: any number.
    private var allowance: Int?
    /// How much the allowance grows next.
    private var step = 0
    /// Streams that the server takes, as far as its refusals show: one less with each refusal, one more with each answer.
    private var taken = Int.max
    private var refusals = 0
    /// Answers in a row that blame the credential.
    private var doubts = 0
    /// Streams that were on their way when the server lowered its limit: it must refuse those that exceed it.
    private var mayBeRefused = 0
    /// When the peer was last heard, or when we began to wait for it.
    private var silentSince: MonotonicTime
    private var pingSentAt: MonotonicTime?
    private var zeroStreamsSince: MonotonicTime?
    private var bytesSinceAnswer = 0

    package init(settings: Settings, at now: MonotonicTime) {
        self.settings = settings
        openedAt = now
        silentSince = now
        if let expected = settings.expectedRequests {
            allowance = max(1, expected)
            step = max(1, expected / 8)
        }
    }

    // MARK: What may be asked

    /// How many more streams may be opened at this moment.
    package var room: Int { min(freeStreams, allowance.map { $0 - record.taken } ?? .max) }

    private var freeStreams: Int {
        switch phase {
        case .unproven: max(0, min(1, limit) - inFlight)
        case .open: max(0, min(limit, taken) - inFlight)
        case .retired: 0
        }
    }

    /// `room`, but 0 where only few streams are free: requests wait until a handful is free, since each record, each system call
    /// and each turn of the loop on either side costs the same for one request as for many, and over many connections answers
    /// come a few at a time. Only a connection that is nearly full waits, and its answers are on their way.
    package var worthwhileRoom: Int { freeStreams >= handful ? room : 0 }

    /// A twentieth of the streams that it carries: of a thousand, about as many requests as fill a TLS record.
    private var handful: Int { phase == .open ? max(1, min(limit, taken) / 20) : 1 }

    /// Whether it takes new requests, now or once earlier ones have ended.
    package var isUsable: Bool {
        if case .retired = phase { false } else { true }
    }

    /// Whether it carries all it can at present, to within a handful, so that another connection would help. An unproven connection
    /// does not count as full, or a hundred connections would be opened while the first waits for its first answer. Neither
    /// does one whose width is unknown, nor one that may carry nothing: a server that asks for a rest must not get more
    /// connections.
    package func isFull(at now: MonotonicTime) -> Bool {
        guard let width = width(at: now), width > 0, allowance == nil else { return false }
        return inFlight > min(width, taken) - handful
    }

    /// How many streams it carries at most; nil while that is unknown: the SETTINGS that lift a limit of one follow the first
    /// answer.
    package func width(at now: MonotonicTime) -> Int? {
        guard phase == .open, let provenAt, limit > 1 || now - provenAt >= Self.settlingTime else { return nil }
        return allowance == nil ? limit : min(limit, settings.expectedRequests ?? limit)
    }

    /// Whether it has answered so many more requests than expected that no end is expected any more.
    package var hasOutlived: Bool { settings.expectedRequests != nil && allowance == nil }

    /// Whether a request was ever answered with 2xx.
    package var isProven: Bool { provenAt != nil }

    /// Whether it is retired and empty, and can be closed.
    package var isDone: Bool { !isUsable && inFlight == 0 }

    /// Whether a PING waits for its answer.
    package var isPinging: Bool { pingSentAt != nil }

    private var limit: Int { min(peerLimit, settings.maximumStreams) }

    // MARK: What happens

    /// SETTINGS came, with or without SETTINGS_MAX_CONCURRENT_STREAMS (nil: no limit). Streams above a lowered limit may end,
    /// or be refused without counting against the connection (RFC 9113, 5.1.2: "either a stream error of type PROTOCOL_ERROR
    /// or REFUSED_STREAM"); nothing is opened before there is room.
    package mutating func settingsReceived(maximumStreams: Int?, at now: MonotonicTime) {
        peerLimit = maximumStreams ?? .max
        if peerLimit < inFlight { mayBeRefused = inFlight }
        zeroStreamsSince = peerLimit > 0 ? nil : zeroStreamsSince ?? now
    }

    package mutating func requestsOpened(_ count: Int = 1, at now: MonotonicTime) {
        // Silence before the first request was not the peer's fault.
        if inFlight == 0, count > 0 { silentSince = now }
        inFlight += count
        record.taken += count
    }

    package mutating func requestEnded(_ end: StreamEnd) {
        precondition(inFlight > 0, "a stream ended that was not opened")
        inFlight -= 1
        switch end {
        case .answered(let isSuccess):
            refusals = 0
            bytesSinceAnswer = 0
            record.answered += 1
            if taken < .max { taken = taken + 1 < limit ? taken + 1 : .max }
            if let limit = allowance, record.taken >= limit, inFlight == 0 { goOn() }
            guard isSuccess else { return }
            record.delivered += 1
            doubts = 0
            // The bytes of the answer were the last that were heard.
            if provenAt == nil { provenAt = silentSince }
            if phase == .unproven { phase = .open }
        case .refused:
            record.taken -= 1
            refused()
        case .unsent:
            record.taken -= 1
        case .reset:
            record.lost += 1
            retire(.streamReset)
        case .timedOut:
            record.lost += 1
            retire(.timedOut)
        case .cut:
            record.lost += 1
            record.cutOff += 1
        }
    }

    /// It has answered as many requests as expected, and it lives: it may take an eighth more, then twice that and so on. If
    /// the server's limit has changed, this shows soon; if not, the server cuts off or gives back few requests.
    private mutating func goOn() {
        guard settings.goesBeyond else { return retire(.spent) }
        allowance = step > limit ? nil : record.taken + step
        step *= 2
    }

    /// Notes an answer that blames the credential; returns whether the credential counts as bad now.
    package mutating func isDoubted() -> Bool {
        doubts += 1
        return doubts >= Self.doubtLimit
    }

    private mutating func refused() {
        if case .retired(.goAway) = phase {
            record.givenBack += 1
            return
        }
        guard mayBeRefused == 0 else {
            mayBeRefused -= 1
            return
        }
        record.refused += 1
        taken = max(1, min(taken, limit) - 1)
        guard inFlight == 0 else { return }
        refusals += 1
        if refusals >= Self.refusalLimit { retire(.refuses) }
    }

    /// The first reason is kept.
    package mutating func retire(_ reason: Retirement) {
        guard isUsable else { return }
        phase = .retired(reason)
        record.width = limit
        // The answer that caused this was not the one that its request needed.
        if reason == .judged { record.lost += 1 }
    }

    /// Bytes came: the peer lives.
    /// - Returns: false when they are a flood (`floodLimit`), and the connection should end.
    package mutating func heard(bytes: Int, at now: MonotonicTime) -> Bool {
        let forgiven = (now - silentSince).milliseconds * Int64(Self.floodForgivenPerSecond) / 1000
        bytesSinceAnswer = max(0, bytesSinceAnswer - Int(clamping: max(0, forgiven))) + bytes
        silentSince = now
        return bytesSinceAnswer <= Self.floodLimit
    }

    package mutating func pingAcknowledged(at now: MonotonicTime) {
        pingSentAt = nil
        silentSince = now
    }

    /// Must be called every now and then.
    package mutating func tick(at now: MonotonicTime) -> TickAction {
        if let zeroStreamsSince, inFlight == 0, now - zeroStreamsSince >= settings.zeroStreamsTimeout {
            return .giveUp("the server has allowed no streams for \(settings.zeroStreamsTimeout)")
        }
        if let sent = pingSentAt {
            // RFC 9113, 6.7: "PING responses SHOULD be given higher priority than any other frame". A peer that goes on
            // sending without answering is odd, not dead.
            guard now - max(sent, silentSince) >= settings.pingTimeout else { return .nothing }
            return .giveUp("no answer to PING within \(settings.pingTimeout)")
        }
        let patience = inFlight > 0 ? settings.pingAfterSilence : settings.idlePing
        guard now - silentSince >= patience else { return .nothing }
        pingSentAt = now
        return .sendPing
    }
}
