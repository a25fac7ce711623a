// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine

/// The one table of what each status and reason of APNs means: for the push, and for the connection that it came on.
///
/// Authority: Apple, "Handling notification responses from APNs"; the reactions follow PROTOCOLS 1.6. A reason that is
/// not in the table is decided by its status class and never touches a token.
struct APNsReaction: Sendable {
    enum Push: Sendable, Hashable {
        case accepted
        case rejected
        case badToken
        case unregistered
        case retry(RetrySchedule.Cause)
        /// 5xx: as `Retry-After` says, else by schedule.
        case retryService
        case renewCredential
        case pauseCredential
        /// With the hint for the operator.
        case suspend(String)
    }

    var push: Push
    var connection: AnswerVerdict

    init(_ push: Push, _ connection: AnswerVerdict = .keep) {
        self.push = push
        self.connection = connection
    }

    static func to(status: UInt16, reason: String?) -> APNsReaction {
        if status == 200 { return APNsReaction(.accepted) }
        if let reason, let known = table[Key(status: status, reason: reason)] { return known }
        switch status {
        case 403:
            return suspend("APNs refuses the credential; see Apple's table of reasons")
        case 410:
            return APNsReaction(.unregistered)
        case 429:
            return APNsReaction(.retry(.tooManyRequests))
        case 400..<500:
            return APNsReaction(.rejected)
        case 500..<600:
            return APNsReaction(.retryService)
        default:
            return suspend("this is no answer of APNs: check `apns.server` and a proxy in between")
        }
    }

    private struct Key: Hashable {
        var status: UInt16
        var reason: String
    }

    private static func suspend(_ hint: String) -> APNsReaction {
        APNsReaction(.suspend(hint), .halt)
    }

    /// A request that APNs finds malformed: the fault is ours or the configuration's, and every push would fail alike.
    private static let malformed = suspend("the push itself is malformed: check `push` and `apns` of this app")
    private static let wrongTopic = suspend("check `apns.topic`: it must be the bundle id that the key may push to")
    private static let wrongEnvironment = suspend(
        "the key belongs to the other environment: check `apns.keyId` and the devices' environment")
    private static let badCredential = suspend("check `apns.teamId`, `apns.keyId` and the .p8 key; it may be revoked")

    private static let table: [Key: APNsReaction] = [
        Key(status: 400, reason: "BadCollapseId"): malformed,
        Key(status: 400, reason: "BadDeviceToken"): APNsReaction(.badToken),
        Key(status: 400, reason: "BadExpirationDate"): malformed,
        Key(status: 400, reason: "BadMessageId"): malformed,
        Key(status: 400, reason: "BadPriority"): malformed,
        Key(status: 400, reason: "BadTopic"): wrongTopic,
        Key(status: 400, reason: "DeviceTokenNotForTopic"): APNsReaction(.rejected),
        Key(status: 400, reason: "DuplicateHeaders"): malformed,
        Key(status: 400, reason: "IdleTimeout"): APNsReaction(.retry(.transport), .recycle),
        Key(status: 400, reason: "InvalidPushType"): malformed,
        Key(status: 400, reason: "MissingDeviceToken"): malformed,
        Key(status: 400, reason: "MissingTopic"): wrongTopic,
        Key(status: 400, reason: "PayloadEmpty"): malformed,
        Key(status: 400, reason: "TopicDisallowed"): wrongTopic,
        Key(status: 403, reason: "BadCertificate"): badCredential,
        Key(status: 403, reason: "BadCertificateEnvironment"): wrongEnvironment,
        // Apple's page and the wire spell it differently (PROTOCOLS 1.6).
        Key(status: 403, reason: "BadEnvironmentKeyIdInToken"): wrongEnvironment,
        Key(status: 403, reason: "BadEnvironmentKeyInToken"): wrongEnvironment,
        // The server keeps refusing on that connection afterwards (pushy: "wedged").
        Key(status: 403, reason: "ExpiredProviderToken"): APNsReaction(.renewCredential, .halt),
        Key(status: 403, reason: "Forbidden"): badCredential,
        Key(status: 403, reason: "InvalidProviderToken"): badCredential,
        Key(status: 403, reason: "MissingProviderToken"): badCredential,
        // The connection is bound to another key family (PROTOCOLS 1.4): a new one is not.
        Key(status: 403, reason: "UnrelatedKeyIdInToken"): APNsReaction(.retry(.transport), .recycle),
        Key(status: 404, reason: "BadPath"): malformed,
        Key(status: 405, reason: "MethodNotAllowed"): malformed,
        Key(status: 410, reason: "ExpiredToken"): APNsReaction(.unregistered),
        Key(status: 410, reason: "Unregistered"): APNsReaction(.unregistered),
        Key(status: 413, reason: "PayloadTooLarge"): malformed,
        Key(status: 429, reason: "TooManyProviderTokenUpdates"): APNsReaction(.pauseCredential, .halt),
        Key(status: 429, reason: "TooManyRequests"): APNsReaction(.retry(.tooManyRequests)),
        Key(status: 500, reason: "InternalServerError"): APNsReaction(.retryService),
        Key(status: 503, reason: "ServiceUnavailable"): APNsReaction(.retryService),
        Key(status: 503, reason: "Shutdown"): APNsReaction(.retryService, .recycle),
    ]
}
