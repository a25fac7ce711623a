// SPDX-License-Identifier: Apache-2.0

extension RejectionReason {
    package static let badCollapseID = RejectionReason("BadCollapseId", 400)
    package static let badDeviceToken = RejectionReason("BadDeviceToken", 400)
    package static let badExpirationDate = RejectionReason("BadExpirationDate", 400)
    package static let badMessageID = RejectionReason("BadMessageId", 400)
    package static let badPriority = RejectionReason("BadPriority", 400)
    package static let badTopic = RejectionReason("BadTopic", 400)
    package static let deviceTokenNotForTopic = RejectionReason("DeviceTokenNotForTopic", 400)
    package static let duplicateHeaders = RejectionReason("DuplicateHeaders", 400)
    package static let idleTimeout = RejectionReason("IdleTimeout", 400)
    package static let invalidPushType = RejectionReason("InvalidPushType", 400)
    package static let missingDeviceToken = RejectionReason("MissingDeviceToken", 400)
    package static let missingTopic = RejectionReason("MissingTopic", 400)
    package static let payloadEmpty = RejectionReason("PayloadEmpty", 400)
    package static let topicDisallowed = RejectionReason("TopicDisallowed", 400)
    package static let badCertificate = RejectionReason("BadCertificate", 403)
    package static let badCertificateEnvironment = RejectionReason("BadCertificateEnvironment", 403)
    /// The spelling of Apple's page.
    package static let badEnvironmentKeyID = RejectionReason("BadEnvironmentKeyIdInToken", 403)
    /// The spelling seen on the wire (PROTOCOLS 1.6).
    package static let badEnvironmentKey = RejectionReason("BadEnvironmentKeyInToken", 403)
    package static let forbidden = RejectionReason("Forbidden", 403)
    package static let expiredProviderToken = RejectionReason("ExpiredProviderToken", 403)
    package static let invalidProviderToken = RejectionReason("InvalidProviderToken", 403)
    package static let missingProviderToken = RejectionReason("MissingProviderToken", 403)
    package static let unrelatedKeyID = RejectionReason("UnrelatedKeyIdInToken", 403)
    package static let badPath = RejectionReason("BadPath", 404)
    package static let methodNotAllowed = RejectionReason("MethodNotAllowed", 405)
    package static let unregistered = RejectionReason("Unregistered", 410)
    package static let expiredToken = RejectionReason("ExpiredToken", 410)
    package static let payloadTooLarge = RejectionReason("PayloadTooLarge", 413)
    package static let tooManyProviderTokenUpdates = RejectionReason(
        "TooManyProviderTokenUpdates", 429, takesRetryAfter: true)
    package static let tooManyRequests = RejectionReason("TooManyRequests", 429)
    package static let internalServerError = RejectionReason("InternalServerError", 500)
    package static let serviceUnavailable = RejectionReason("ServiceUnavailable", 503)
    package static let shutdown = RejectionReason("Shutdown", 503)

    /// Apple's table of status codes and reasons (PROTOCOLS 1.6).
    static let ofAPNs: [RejectionReason] = [
        .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
        .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
        .payloadEmpty, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyID,
        .badEnvironmentKey, .forbidden, .expiredProviderToken, .invalidProviderToken, .missingProviderToken,
        .unrelatedKeyID, .badPath, .methodNotAllowed, .unregistered, .expiredToken, .payloadTooLarge,
        .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown,
    ]
}
