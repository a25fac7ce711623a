// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A script of faults and their times. The default has no faults. In JSON every field may be left out; an unknown field is an
/// error, because a script with a typing error proves nothing.
package struct FaultScript: Sendable, Hashable, Codable {
    /// Share of device tokens, 0 to 1, that are dead: 410 Unregistered with a timestamp, or 404 UNREGISTERED.
    package var deadShare = 0.0
    /// Share of device tokens that are bad: 400 BadDeviceToken, or INVALID_ARGUMENT.
    package var badShare = 0.0
    /// Share of device tokens whose first `busyTries` pushes get 429 TooManyRequests, or QUOTA_EXCEEDED, the later ones 200.
    package var busyShare = 0.0
    package var busyTries = 2
    /// The seconds of `retry-after` in these 429s; nil: none is sent.
    package var busyRetryAfter: Int?
    /// Device tokens that are dead, bad, busy or of another topic (or sender), whatever the shares are.
    package var deadTokens: Set<String> = []
    package var badTokens: Set<String> = []
    package var busyTokens: Set<String> = []
    package var otherTopicTokens: Set<String> = []
    /// Device tokens, each with the reason for which every push to it is refused.
    package var tokenReasons: [String: RejectionReason] = [:]
    /// The timestamp of every 410, in milliseconds since 1970; nil: the moment of the answer.
    package var deadSince: Int64?
    /// Whether a 410 has no timestamp.
    package var deadWithoutTimestamp = false
    /// A run of refusals for one reason, whatever the requests hold.
    package var refusals: Refusals?
    /// A key that its owner revokes while pushes come in: 403 InvalidProviderToken from then on. Where the service has a token
    /// endpoint, the key's assertions get no more access tokens, but tokens that were given before stay valid.
    package var revokedKey: RevokedKey?
    /// After this many requests all access tokens given before are void: 401 UNAUTHENTICATED. nil: never.
    package var accessRevokedAfter: Int?
    /// A fault of the service's token endpoint, for every request to it.
    package var tokenEndpoint: TokenEndpointFault?
    /// A quota; requests beyond it are refused: 429.
    package var quota: Quota?
    /// Whether every `retry-after` is a date instead of a number of seconds.
    package var retryAfterDate = false
    /// Seconds by which the simulator's clock is ahead of this machine's when it judges provider and access tokens; below 0:
    /// behind.
    package var clockAhead: Int64 = 0
    /// A run of 5xx answers.
    package var serviceErrors: ServiceErrorBurst?
    /// After this many requests a connection gets a GOAWAY with JSON debug data; those requests are still answered, later ones
    /// are not looked at. nil: never.
    package var goAwayAfter: Int?
    /// The number of connections that get a GOAWAY; nil: every one.
    package var goAwayTimes: Int?
    package var goAwayReason = "Shutdown"
    /// After this many requests a connection is cut: requests that were taken but not answered stay unanswered.
    package var cutAfter: Int?
    package var cutTimes: Int?
    package var cutBy = Cut.close
    /// After this many requests a connection stays open but sends nothing more, not even to a PING.
    package var silentAfter: Int?
    package var silentTimes: Int?
    /// After this many requests on a connection, a new SETTINGS_MAX_CONCURRENT_STREAMS.
    package var shrinkSettings: SettingsChange?
    /// Every n-th request of all connections is refused with RST_STREAM REFUSED_STREAM and counts for nothing else.
    package var refuseEvery: Int?
    /// Milliseconds from request to answer, on top of `SimulatorConfiguration.latency`.
    package var latencyMs = 0
    /// Faults, each with the share of all requests, 0 to 1, that gets it, whatever the device token; a `FaultWitness` follows
    /// them.
    package var shares: [RequestFault: Double] = [:]
    /// The seed of the random numbers that mix the shares; not 0.
    package var sharesSeed: UInt64 = 1
    /// The seconds of `retry-after` where `shares` or `tokenReasons` refuse a push with a 5xx, TooManyProviderTokenUpdates or
    /// QUOTA_EXCEEDED; nil: none is sent.
    package var sharedRetryAfter: Int?
    /// The milliseconds that `delay` adds to an answer's time.
    package var delayMs = 500
    /// The number of streams that `settings` sets.
    package var sharedStreams = 10

    package init() {}

    /// How a connection is cut.
    package enum Cut: String, Sendable, Hashable, Codable {
        /// close(2), which sends RST where the client's bytes have not all been read, else FIN; answers that were about to be
        /// written are dropped.
        case close
        /// RST, even if all of the client's bytes have been read.
        case reset
        /// FIN after the answers to requests that were taken.
        case end
    }

    package struct ServiceErrorBurst: Sendable, Hashable, Codable {
        /// The number of requests, on all connections, before the run begins.
        package var afterN: Int
        /// The number of requests in the run.
        package var count: Int
        /// 500 or 503.
        package var status = 503
        /// Seconds, sent as `retry-after`.
        package var retryAfter: Int?
    }

    package struct Refusals: Sendable, Hashable, Codable {
        /// The number of requests, on all connections, before the run begins.
        package var afterN = 0
        /// The number of requests in the run.
        package var count = Int.max
        /// The service's own word for the reason, such as "Forbidden".
        package var reason: String
        /// Seconds, sent as `retry-after`.
        package var retryAfter: Int?
    }

    package struct RevokedKey: Sendable, Hashable, Codable {
        package var keyID: String
        /// The number of requests, on all connections, before the key is revoked.
        package var afterN: Int
    }

    package struct TokenEndpointFault: Sendable, Hashable, Codable {
        /// The number of requests for a token before the fault begins; nil: none.
        package var afterN: Int?
        /// The number of requests that get the fault; nil: all later ones.
        package var count: Int?
        /// 400 to 599; nil: no answer ever comes.
        package var status: Int?
        /// The error code (RFC 6749, 5.2), such as "invalid_grant"; nil: the answer is not JSON.
        package var error: String?
        package var description: String?
    }

    package struct Quota: Sendable, Hashable, Codable {
        package var requests: Int
        /// The seconds of the window in which requests are counted. It begins with a request; after it the quota is full
        /// again. nil: a minute.
        package var seconds: Int?
        /// Seconds, sent as `retry-after`.
        package var retryAfter: Int?

        package init(requests: Int, seconds: Int? = nil, retryAfter: Int? = nil) {
            self.requests = requests
            self.seconds = seconds
            self.retryAfter = retryAfter
        }
    }

    package struct SettingsChange: Sendable, Hashable, Codable {
        package var afterN: Int
        /// The new number of streams.
        package var to: Int
    }
}

extension FaultScript {
    /// The fate of pushes to one device token.
    package enum Fate: Sendable, Hashable {
        case healthy
        /// 410 Unregistered, 404 UNREGISTERED.
        case dead
        /// 400 BadDeviceToken, INVALID_ARGUMENT.
        case bad
        /// 429 for the first `busyTries` pushes.
        case busy
        /// 400 DeviceTokenNotForTopic, 403 SENDER_ID_MISMATCH.
        case otherTopic
        /// One of `tokenReasons`.
        case refused(RejectionReason)
    }

    /// The fate of `token` (letter case does not matter) under `script`: decided by a hash, so that a test can predict it.
    package static func fate(ofToken token: String, script: FaultScript) -> Fate {
        script.fate(hash: ShortHash.ofToken(Array(token.utf8)), lists: script.hashedLists())
    }

    /// The script with the service's own reasons for its words.
    func inWords(of service: ServiceKind) -> FaultScript {
        var script = self
        script.tokenReasons = tokenReasons.mapValues(service.own)
        for case (.rejection(let reason), let share) in shares {
            script.shares[.rejection(reason)] = nil
            script.shares[.rejection(service.own(reason))] = share
        }
        return script
    }

    /// The listed tokens by hash.
    func hashedLists() -> [UInt64: Fate] {
        var lists: [UInt64: Fate] = [:]
        for (tokens, fate) in [
            (busyTokens, Fate.busy), (badTokens, .bad), (deadTokens, .dead), (otherTopicTokens, .otherTopic),
        ] {
            for token in tokens { lists[ShortHash.ofToken(Array(token.utf8))] = fate }
        }
        for (token, reason) in tokenReasons { lists[ShortHash.ofToken(Array(token.utf8))] = .refused(reason) }
        return lists
    }

    func fate(hash: UInt64, lists: [UInt64: Fate]) -> Fate {
        if !lists.isEmpty, let listed = lists[hash] { return listed }
        // 53 bits, which a Double holds exactly.
        let place = Double(hash >> 11) / Double(1 << 53 as UInt64)
        if place < deadShare { return .dead }
        if place < deadShare + badShare { return .bad }
        if place < deadShare + badShare + busyShare { return .busy }
        return .healthy
    }
}

/// 64 bits of a token or an id: FNV-1a, then the finaliser of MurmurHash3 so that the high bits are good too.
package enum ShortHash {
    /// Letter case does not matter: APNs' tokens are hex, and two of another service's that differ in case alone do not occur.
    package static func ofToken(_ hex: some Collection<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in hex {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            hash = (hash ^ UInt64(lower)) &* 0x0000_0100_0000_01b3
        }
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ hash >> 33
    }
}

extension FaultScript {
    /// Reads a script: its fields replace the defaults.
    package init(json: [UInt8]) throws {
        let usual = Mirror(reflecting: FaultScript()).children
        let given = (try JSONReader.read(json).object ?? []).filter { $0.value != .null }
        let known = usual.compactMap(\.label)
        if let name = Set(given.map(\.name)).subtracting(known).min() {
            throw SimulatorError("\(name): there is no fault \"\(name)\"; there are \(known.joined(separator: ", "))")
        }
        let values = usual.map { ($0.label ?? "", $0.value) }
        self = try JSONValueDecoder.read(
            FaultScript.self, .object(given), usual: Dictionary(values) { first, _ in first })
    }

    /// The first mistake in the script, as field and reason; nil if the script fits this service.
    package func problem(for service: ServiceKind) -> (field: String, reason: String)? {
        if let problem = problemOfRange { return problem }
        if deadShare + badShare + busyShare > 1 {
            return ("deadShare, badShare, busyShare", "add up to more than 1")
        }
        if let burst = serviceErrors, burst.status != 500 && burst.status != 503 {
            return ("serviceErrors.status", "is \(burst.status); it has to be 500 or 503")
        }
        func unknown(_ reason: String) -> String {
            "is \"\(reason)\"; \(service.name) has " + service.reasons.map(\.rawValue).joined(separator: ", ")
        }
        if let refusals, service.reason(refusals.reason) == nil {
            return ("refusals.reason", unknown(refusals.reason))
        }
        for (token, reason) in tokenReasons where !service.reasons.contains(reason) {
            return ("tokenReasons.\(token)", unknown(reason.rawValue))
        }
        if !service.givesAccess {
            let owners = ServiceKind.all.filter(\.givesAccess).map { "\($0.name)'s" }.joined(separator: ", ")
            if tokenEndpoint != nil { return ("tokenEndpoint", "is \(owners); \(service.name) has none") }
            if accessRevokedAfter != nil { return ("accessRevokedAfter", "is \(owners); take revokedKey") }
        }
        for case (.rejection(let reason), _) in shares where !service.reasons.contains(reason) {
            return ("shares.\(reason.rawValue)", unknown(reason.rawValue))
        }
        return shares.values.reduce(0, +) > 1 ? ("shares", "add up to more than 1") : nil
    }

    /// The first number outside its field's range.
    private var problemOfRange: (field: String, reason: String)? {
        var problem: (field: String, reason: String)?
        func check<Number: Comparable>(_ field: String, _ number: Number?, _ range: ClosedRange<Number>) {
            guard problem == nil, let number, !range.contains(number) else { return }
            problem = (field, "is \(number); it has to be from \(range.lowerBound) to \(range.upperBound)")
        }
        check("deadShare", deadShare, 0...1)
        check("badShare", badShare, 0...1)
        check("busyShare", busyShare, 0...1)
        for (fault, share) in shares { check("shares.\(fault.rawValue)", share, 0...1) }
        check("goAwayAfter", goAwayAfter, 1...Int.max)
        check("cutAfter", cutAfter, 1...Int.max)
        check("silentAfter", silentAfter, 1...Int.max)
        check("refuseEvery", refuseEvery, 1...Int.max)
        check("shrinkSettings.to", shrinkSettings?.to, 1...100_000)
        check("tokenEndpoint.status", tokenEndpoint?.status, 400...599)
        check("tokenEndpoint.afterN", tokenEndpoint?.afterN, 0...Int.max)
        check("quota.requests", quota?.requests, 0...Int.max)
        check("quota.seconds", quota?.seconds, 1...86_400)
        check("sharesSeed", sharesSeed, 1...UInt64.max)
        check("delayMs", delayMs, 0...Int.max)
        check("sharedStreams", sharedStreams, 1...100_000)
        check("latencyMs", latencyMs, 0...Int.max)
        return problem
    }
}
