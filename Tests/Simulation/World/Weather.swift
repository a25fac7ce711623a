// SPDX-License-Identifier: Apache-2.0

/// How a push service of one app and environment does at the moment.
enum Weather: String, CaseIterable {
    case good
    /// Now and then a 5xx, a lost connection, a 429.
    case flaky
    case serverErrors
    /// A part of the devices always gets a 5xx, all others are well.
    case someFail
    /// The same with Retry-After.
    case closed
    case unreachable
    /// Every token is dead, it says.
    case allGone
    case allBad
    /// The key, or the account, is refused.
    case badKey
    /// Some devices get too many.
    case busyDevices
    /// The key's tokens are renewed too often, it says; of FCM: the project's quota is reached.
    case keyPause
    /// The provider token is called expired.
    case expiredKey
    /// Answers take a minute or never come.
    case late
    /// Connections end in the middle, orderly and not.
    case goAway

    /// What the plan's number stands for: good weather comes back often.
    static func of(_ number: Int) -> Weather {
        number % 3 == 0 ? .good : allCases[1 + number / 3 % (allCases.count - 1)]
    }

    /// The lowest number that stands for it.
    var number: Int { 1 + 3 * ((Self.allCases.firstIndex(of: self) ?? 1) - 1) }
}

/// What a push service says to one push.
struct ServiceAnswer {
    enum Kind {
        case answered
        /// The connection died before the answer came.
        case lost
        /// The connection went away before the push was looked at: it goes out again at once.
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
    /// Of its id: the campaign's public id, and all of it.
    var campaign: String
    var id: String

    /// Which row of the store it was for.
    var device: Int64? { Int64(id.suffix(12), radix: 16) }
}
