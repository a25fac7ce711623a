// SPDX-License-Identifier: Apache-2.0

/// The answers to a push that are not 200: Apple's by its table of status codes and reasons (PROTOCOLS 1.6), Google's by
/// the error code of FCM (PROTOCOLS 2.3), or by its API front's own word where FCM has none.
package enum RejectionReason: String, CaseIterable, Codable, Sendable, Hashable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    /// The spelling of Apple's page.
    case badEnvironmentKeyID = "BadEnvironmentKeyIdInToken"
    /// The spelling seen on the wire (PROTOCOLS 1.6).
    case badEnvironmentKey = "BadEnvironmentKeyInToken"
    case forbidden = "Forbidden"
    case expiredProviderToken = "ExpiredProviderToken"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyID = "UnrelatedKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case unregistered = "Unregistered"
    case expiredToken = "ExpiredToken"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"
    case fcmUnregistered = "UNREGISTERED"
    /// The token is not one of FCM's: INVALID_ARGUMENT with the detail FcmError.
    case fcmInvalidToken = "INVALID_ARGUMENT"
    /// The request is malformed: INVALID_ARGUMENT with the detail BadRequest, and without FcmError.
    case fcmBadRequest = "BadRequest"
    case fcmSenderMismatch = "SENDER_ID_MISMATCH"
    /// The account has no right to send in this project.
    case fcmPermissionDenied = "PERMISSION_DENIED"
    /// The project has not enabled FCM's API.
    case fcmServiceDisabled = "SERVICE_DISABLED"
    /// The access token is for something else.
    case fcmScopeInsufficient = "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
    /// There is no access token, or an invalid one.
    case fcmUnauthenticated = "UNAUTHENTICATED"
    case fcmThirdPartyAuth = "THIRD_PARTY_AUTH_ERROR"
    case fcmQuotaExceeded = "QUOTA_EXCEEDED"
    case fcmInternal = "INTERNAL"
    case fcmUnavailable = "UNAVAILABLE"
    /// Google's page for a URL that does not exist; not JSON.
    case fcmNoSuchPage = "NotFoundPage"
    /// Google's page for a front end that does not reach its back end; not JSON.
    case fcmBadGateway = "BadGatewayPage"

    /// The service that uses it.
    package var service: SimulatedService.Name {
        switch self {
        case .fcmUnregistered, .fcmInvalidToken, .fcmBadRequest, .fcmSenderMismatch, .fcmPermissionDenied,
            .fcmServiceDisabled, .fcmScopeInsufficient, .fcmUnauthenticated, .fcmThirdPartyAuth, .fcmQuotaExceeded,
            .fcmInternal, .fcmUnavailable, .fcmNoSuchPage, .fcmBadGateway:
            .fcm
        default: .apns
        }
    }

    package static func all(of service: SimulatedService.Name) -> [RejectionReason] {
        allCases.filter { $0.service == service }
    }

    /// The HTTP status that goes with it.
    package var status: UInt16 {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .fcmInvalidToken, .fcmBadRequest:
            400
        case .fcmUnauthenticated, .fcmThirdPartyAuth: 401
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKey, .badEnvironmentKeyID,
            .expiredProviderToken,
            .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyID, .fcmSenderMismatch,
            .fcmPermissionDenied, .fcmServiceDisabled, .fcmScopeInsufficient:
            403
        case .badPath, .fcmUnregistered, .fcmNoSuchPage: 404
        case .methodNotAllowed: 405
        case .unregistered, .expiredToken: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests, .fcmQuotaExceeded: 429
        case .internalServerError, .fcmInternal: 500
        case .fcmBadGateway: 502
        case .serviceUnavailable, .shutdown, .fcmUnavailable: 503
        }
    }
}

/// The simulator's decision about one push.
package enum Verdict: Sendable, Hashable {
    /// 200.
    case accepted
    /// 200, and no device gets a push: FCM's dry run.
    case validated
    case rejected(RejectionReason)
}
