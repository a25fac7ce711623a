// SPDX-License-Identifier: Apache-2.0

extension RejectionReason {
    package static let fcmUnregistered = RejectionReason("UNREGISTERED", 404)
    /// The token is not one of FCM's: INVALID_ARGUMENT with the detail FcmError.
    package static let fcmInvalidToken = RejectionReason("INVALID_ARGUMENT", 400)
    /// The request is malformed: INVALID_ARGUMENT with the detail BadRequest, and without FcmError.
    package static let fcmBadRequest = RejectionReason("BadRequest", 400)
    package static let fcmSenderMismatch = RejectionReason("SENDER_ID_MISMATCH", 403)
    /// The account has no right to send in this project.
    package static let fcmPermissionDenied = RejectionReason("PERMISSION_DENIED", 403)
    /// The project has not enabled FCM's API.
    package static let fcmServiceDisabled = RejectionReason("SERVICE_DISABLED", 403)
    /// The access token is for something else.
    package static let fcmScopeInsufficient = RejectionReason("ACCESS_TOKEN_SCOPE_INSUFFICIENT", 403)
    /// There is no access token, or an invalid one.
    package static let fcmUnauthenticated = RejectionReason("UNAUTHENTICATED", 401)
    package static let fcmThirdPartyAuth = RejectionReason("THIRD_PARTY_AUTH_ERROR", 401)
    package static let fcmQuotaExceeded = RejectionReason("QUOTA_EXCEEDED", 429, takesRetryAfter: true)
    package static let fcmInternal = RejectionReason("INTERNAL", 500)
    package static let fcmUnavailable = RejectionReason("UNAVAILABLE", 503)
    /// Google's page for a URL that does not exist; not JSON.
    package static let fcmNoSuchPage = RejectionReason("NotFoundPage", 404)
    /// Google's page for a front end that does not reach its back end; not JSON.
    package static let fcmBadGateway = RejectionReason("BadGatewayPage", 502)

    /// Google's reasons by the error code of FCM (PROTOCOLS 2.3), or by its API front's own word where FCM has none.
    static let ofFCM: [RejectionReason] = [
        .fcmUnregistered, .fcmInvalidToken, .fcmBadRequest, .fcmSenderMismatch, .fcmPermissionDenied,
        .fcmServiceDisabled, .fcmScopeInsufficient, .fcmUnauthenticated, .fcmThirdPartyAuth, .fcmQuotaExceeded,
        .fcmInternal, .fcmUnavailable, .fcmNoSuchPage, .fcmBadGateway,
    ]
}
