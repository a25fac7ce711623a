// SPDX-License-Identifier: Apache-2.0

/// APNs or FCM as far as a relay notices. The answer to a push depends on the weather, on which tokens live, and on a hash of the push, not
/// on a stream of chance: so leaving out one step changes no other answer.
struct PushServiceTruth {
    let isAndroid: Bool
    let chance: UInt64
    /// How many seconds its answers may take in any weather.
    let slowness: Int
    var weather = Weather.good
    /// How often each token was seen: the answer to a second try may differ.
    private var tries: [String: Int] = [:]

    init(isAndroid: Bool, chance: UInt64, slowness: Int) {
        self.isAndroid = isAndroid
        self.chance = chance
        self.slowness = slowness
    }

    /// - Parameters:
    ///   - phone: the phone that has the token; nil: it was never given out.
    ///   - isOwn: whether the token belongs to the environment that is asked.
    ///   - now: the right time, in milliseconds: a mad service calls a token dead since just now.
    mutating func answer(_ push: SeenPush, phone: Phone?, isOwn: Bool, now: Int64) -> ServiceAnswer {
        tries[push.token, default: 0] += 1
        var hash = Self.hash(push.token + "#\(tries[push.token] ?? 0)", chance)
        func below(_ limit: UInt64) -> UInt64 {
            defer { hash = hash &* 0x5851_F42D_4C95_7F2D &+ 1 }
            return (hash >> 33) % limit
        }
        var answer = truth(of: phone, isOwn: isOwn)
        let usual = 10 + Int64(below(200 + 1000 * UInt64(slowness)))
        answer.milliseconds = usual
        switch weather {
        case .good: break
        case .flaky:
            switch below(10) {
            case 0: answer = unavailable()
            case 1: answer.kind = .lost
            case 2: answer = tooMany()
            default: break
            }
        case .serverErrors: answer = unavailable()
        case .someFail: if Self.hash(push.token, chance) % 4 == 0 { answer = unavailable() }
        case .closed: answer = unavailable(retryAfter: 300)
        case .unreachable: answer.kind = .lost
        case .allGone: answer = gone(since: now)
        case .allBad: answer = bad()
        case .badKey:
            answer = isAndroid ? .fcm(403, "PERMISSION_DENIED") : .apns(403, "InvalidProviderToken")
        case .busyDevices: if below(3) == 0 { answer = tooMany(retryAfter: below(2) == 0 ? 60 : -1) }
        case .keyPause:
            answer =
                isAndroid ? tooMany(retryAfter: 120) : .apns(429, "TooManyProviderTokenUpdates", retryAfter: 1800)
        case .expiredKey: answer = isAndroid ? .fcm(401, "UNAUTHENTICATED") : .apns(403, "ExpiredProviderToken")
        case .late:
            if below(2) == 0 { answer.milliseconds = 5_000 + Int64(below(50_000)) }
            if answer.milliseconds > 30_000 { (answer.kind, answer.milliseconds) = (.lost, 30_000) }
        case .goAway:
            switch below(6) {
            case 0: answer.kind = .refused
            case 1: answer.kind = .lost
            default: break
            }
        }
        // A refusal is slow, too, where every answer is.
        if slowness > 0, weather != .late { answer.milliseconds = usual }
        return answer
    }

    private func truth(of phone: Phone?, isOwn: Bool) -> ServiceAnswer {
        guard let phone, isOwn else { return bad() }
        return phone.isInstalled ? ServiceAnswer() : gone(since: phone.goneAt)
    }

    private func gone(since: Int64) -> ServiceAnswer {
        isAndroid
            ? .fcm(404, "NOT_FOUND", code: "UNREGISTERED") : .apns(410, "Unregistered", since: since)
    }

    private func bad() -> ServiceAnswer {
        isAndroid
            ? .fcm(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH") : .apns(400, "BadDeviceToken")
    }

    private func unavailable(retryAfter: Int32 = -1) -> ServiceAnswer {
        isAndroid
            ? .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE", retryAfter: retryAfter)
            : .apns(503, "ServiceUnavailable", retryAfter: retryAfter)
    }

    private func tooMany(retryAfter: Int32 = -1) -> ServiceAnswer {
        isAndroid
            ? .fcm(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", retryAfter: retryAfter)
            : .apns(429, "TooManyRequests", retryAfter: retryAfter)
    }

    /// FNV-1a, 64 bits (Fowler, Noll, Vo), with a last mixing.
    static func hash(_ text: String, _ salt: UInt64) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ salt
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 31)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 29)
    }
}
