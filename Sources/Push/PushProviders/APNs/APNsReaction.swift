// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine

/// The one table of the meaning of each status and reason of APNs: for the push, and for the connection that it came on.
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
        /// 429 or 5xx: after `Retry-After`, else by schedule.
        case tooManyRequests
        case serviceFailed
        case renewCredential
        case pauseCredential
        case reconnect
        case fault(SendingFault)
    }

    var push: Push
    var connection: AnswerVerdict

    init(_ push: Push, _ connection: AnswerVerdict = .keep) {
        self.push = push
        self.connection = connection
    }

    static func to(status: UInt16, reason: String?) -> APNsReaction {
        if status == 200 { return APNsReaction(.accepted) }
        if let known = entry(status: status, reason: reason) { return entries[known].value }
        switch status {
        case 403:
            return fault(.unknown)
        case 410:
            return APNsReaction(.unregistered)
        case 429:
            return APNsReaction(.tooManyRequests)
        case 400..<500:
            return APNsReaction(.rejected)
        case 500..<600:
            return APNsReaction(.serviceFailed)
        default:
            return fault(.answer)
        }
    }

    /// Every reason that is known.
    static let reasons = Set(entries.map(\.key.reason))

    struct Key: Hashable {
        var status: UInt16
        var reason: String
    }

    private static let places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.key, $0) })

    /// The index of the table's row; nil where the status class decides.
    static func entry(status: UInt16, reason: String?) -> Int? {
        reason.flatMap { places[Key(status: status, reason: $0)] }
    }

    private static func fault(_ fault: SendingFault) -> APNsReaction {
        APNsReaction(.fault(fault), .doubt)
    }

    /// A request that APNs finds malformed: where that is the configuration's fault, every push fails alike.
    private static let malformed = fault(.request)
    private static let wrongTopic = fault(.topic)

    /// The order matters: a lane's reading names a row by its place.
    static let entries: KeyValuePairs<Key, APNsReaction> = [
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
        Key(status: 403, reason: "BadCertificate"): fault(.certificate),
        Key(status: 403, reason: "BadCertificateEnvironment"): fault(.certificate),
        // Apple's page and the wire spell it differently (PROTOCOLS 1.6).
        Key(status: 403, reason: "BadEnvironmentKeyIdInToken"): fault(.keyEnvironment),
        Key(status: 403, reason: "BadEnvironmentKeyInToken"): fault(.keyEnvironment),
        // The server keeps refusing on that connection afterwards (pushy: "wedged").
        Key(status: 403, reason: "ExpiredProviderToken"): APNsReaction(.renewCredential, .halt),
        Key(status: 403, reason: "Forbidden"): fault(.forbidden),
        Key(status: 403, reason: "InvalidProviderToken"): fault(.credential),
        Key(status: 403, reason: "MissingProviderToken"): fault(.noCredential),
        // The connection is bound to another key family (PROTOCOLS 1.4): a new one is not. Waiting pushes go back, so that a key
        // that no connection takes is noticed after a few pushes.
        Key(status: 403, reason: "UnrelatedKeyIdInToken"): APNsReaction(.reconnect, .halt),
        Key(status: 404, reason: "BadPath"): malformed,
        Key(status: 405, reason: "MethodNotAllowed"): malformed,
        Key(status: 410, reason: "ExpiredToken"): APNsReaction(.unregistered),
        Key(status: 410, reason: "Unregistered"): APNsReaction(.unregistered),
        // Each payload's size is checked before it is sent.
        Key(status: 413, reason: "PayloadTooLarge"): APNsReaction(.rejected),
        Key(status: 429, reason: "TooManyProviderTokenUpdates"): APNsReaction(.pauseCredential, .halt),
        Key(status: 429, reason: "TooManyRequests"): APNsReaction(.tooManyRequests),
        Key(status: 500, reason: "InternalServerError"): APNsReaction(.serviceFailed),
        Key(status: 503, reason: "ServiceUnavailable"): APNsReaction(.serviceFailed),
        Key(status: 503, reason: "Shutdown"): APNsReaction(.serviceFailed, .recycle),
    ]
}
