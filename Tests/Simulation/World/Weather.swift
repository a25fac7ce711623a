// SPDX-License-Identifier: Apache-2.0

/// The present state of a push service, for one app and environment.
enum Weather: String, CaseIterable {
    case good
    /// Now and then a 5xx, a lost connection, a 429.
    case flaky
    case serverErrors
    /// Some of the devices always get a 5xx, all others are well.
    case someFail
    /// Every push gets a 503 with Retry-After.
    case closed
    case unreachable
    /// Every token is called dead.
    case allGone
    case allBad
    /// The key, or the account, is refused.
    case badKey
    /// Some pushes get a 429: too many for one device.
    case busyDevices
    /// The key's tokens are called renewed too often; of FCM: the project's quota is reached.
    case keyPause
    /// The provider token is called expired.
    case expiredKey
    /// Answers take a minute or never come.
    case late
    /// Connections end in the middle, orderly or not.
    case goAway

    /// The weather of a plan's number: good weather comes back often.
    static func of(_ number: Int) -> Weather {
        number % 3 == 0 ? .good : allCases[1 + number / 3 % (allCases.count - 1)]
    }

    /// The lowest number of this weather.
    var number: Int { 1 + 3 * ((Self.allCases.firstIndex(of: self) ?? 1) - 1) }
}

/// A push service's answer to one push.
struct ServiceAnswer {
    enum Kind {
        case answered
        /// The connection died before the answer came.
        case lost
        /// The connection ended before the push was looked at: it goes out again at once.
        case refused
    }

    var kind = Kind.answered
    var status: UInt16 = 200
    var body = ""
    /// Seconds; -1: none.
    var retryAfter: Int32 = -1
    var milliseconds: Int64 = 20

    static func apns(_ status: UInt16, _ reason: String, since: Int64? = nil, retryAfter: Int32 = -1) -> ServiceAnswer {
        let time = since.map { #","timestamp":\#($0)"# } ?? ""
        return ServiceAnswer(status: status, body: #"{"reason":"\#(reason)"\#(time)}"#, retryAfter: retryAfter)
    }

    static func fcm(_ status: UInt16, _ name: String, code: String? = nil, retryAfter: Int32 = -1) -> ServiceAnswer {
        let details = code.map {
            #","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}]"#
        }
        let body = #"{"error":{"code":\#(status),"message":"\#(name)","status":"\#(name)"\#(details ?? "")}}"#
        return ServiceAnswer(status: status, body: body, retryAfter: retryAfter)
    }
}

/// One push on its way, as the service sees it.
struct SeenPush {
    var app: Int
    var isSandbox: Bool
    var token: String
    var telephone: String
    /// From its id: the campaign's public id, then the whole id.
    var campaign: String
    var id: String

    /// The store's row of its device.
    var device: Int64? { Int64(id.suffix(12), radix: 16) }
}
