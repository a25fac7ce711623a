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
        case reconnect
        case suspend(SendingFault)
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
            return suspend(.unknown)
        case 410:
            return APNsReaction(.unregistered)
        case 429:
            return APNsReaction(.retry(.tooManyRequests))
        case 400..<500:
            return APNsReaction(.rejected)
        case 500..<600:
            return APNsReaction(.retryService)
        default:
            return suspend(.answer)
        }
    }

    /// Every reason that is known.
    static let reasons = Set(table.keys.map(\.reason))

    private struct Key: Hashable {
        var status: UInt16
        var reason: String
    }

    private static func suspend(_ fault: SendingFault) -> APNsReaction {
        APNsReaction(.suspend(fault), .halt)
    }

    /// A request that APNs finds malformed: the fault is ours or the configuration's, and every push would fail alike.
    private static let malformed = suspend(.request)
    private static let wrongTopic = suspend(.topic)

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
        Key(status: 403, reason: "BadCertificate"): suspend(.certificate),
        Key(status: 403, reason: "BadCertificateEnvironment"): suspend(.certificate),
        // Apple's page and the wire spell it differently (PROTOCOLS 1.6).
        Key(status: 403, reason: "BadEnvironmentKeyIdInToken"): suspend(.keyEnvironment),
        Key(status: 403, reason: "BadEnvironmentKeyInToken"): suspend(.keyEnvironment),
        // The server keeps refusing on that connection afterwards (pushy: "wedged").
        Key(status: 403, reason: "ExpiredProviderToken"): APNsReaction(.renewCredential, .halt),
        Key(status: 403, reason: "Forbidden"): suspend(.forbidden),
        Key(status: 403, reason: "InvalidProviderToken"): suspend(.credential),
        Key(status: 403, reason: "MissingProviderToken"): suspend(.noCredential),
        // The connection is bound to another key family (PROTOCOLS 1.4): a new one is not. What waits goes back, so that
        // a key that no connection takes is noticed after a few pushes.
        Key(status: 403, reason: "UnrelatedKeyIdInToken"): APNsReaction(.reconnect, .halt),
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
