// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The bodies with which Google refuses a push (PROTOCOLS 2.3; google.rpc.Status over HTTP, https://google.aip.dev/193).
enum FCMErrorBody {
    /// The content of a refusal: FCM's own code in `FcmError`, the field that is wrong in `BadRequest`, the reason of another
    /// Google service in `ErrorInfo`; each where there is one.
    private struct Text {
        var status: String
        var message: String
        var errorCode: String?
        /// A google.rpc.BadRequest.FieldViolation.
        var violation: FieldFault?
        var info: (reason: String, domain: String)?
    }

    /// - Parameters:
    ///   - fault: what is wrong with the request; nil where a script decided.
    ///   - isAnonymous: whether the request had no access token at all.
    static func bytes(
        _ reason: RejectionReason, fault: FCMMessage.Fault? = nil, project: String, isAnonymous: Bool = false
    ) -> [UInt8] {
        guard let text = text(reason, fault, project: project, isAnonymous: isAnonymous) else { return page(reason) }
        var details: [JSONValue] = []
        if let code = text.errorCode {
            details.append([
                "@type": .string("type.googleapis.com/google.firebase.fcm.v1.FcmError"), "errorCode": .string(code),
            ])
        }
        if let violation = text.violation {
            let field = violation.field.isEmpty ? nil : JSONValue.string(violation.field)
            details.append([
                "@type": .string("type.googleapis.com/google.rpc.BadRequest"),
                "fieldViolations": .array([["field": field, "description": .string(violation.reason)]]),
            ])
        }
        if let info = text.info {
            details.append([
                "@type": .string("type.googleapis.com/google.rpc.ErrorInfo"), "reason": .string(info.reason),
                "domain": .string(info.domain), "metadata": ["service": .string("fcm.googleapis.com")],
            ])
        }
        let error: JSONValue = [
            "error": [
                "code": .integer(reason.status), "message": .string(text.message), "status": .string(text.status),
                "details": .array(details),
            ]
        ]
        return error.bytes(isPretty: true) + [UInt8(ascii: "\n")]
    }

    /// nil: the answer is not JSON.
    private static func text(
        _ reason: RejectionReason, _ fault: FCMMessage.Fault?, project: String, isAnonymous: Bool
    ) -> Text? {
        let invalid = "Request contains an invalid argument."
        switch reason {
        case .fcmUnregistered:
            return Text(status: "NOT_FOUND", message: "Requested entity was not found.", errorCode: reason.rawValue)
        case .fcmInvalidToken:
            // The second example of Google's page error-codes: FcmError alone.
            return Text(
                status: "INVALID_ARGUMENT", message: "The registration token is not a valid FCM registration token",
                errorCode: "INVALID_ARGUMENT")
        case .fcmBadRequest:
            switch fault {
            case .unreadable(let violation)?:
                // The first example of the same page: BadRequest alone, and the text twice.
                return Text(status: "INVALID_ARGUMENT", message: violation.reason, violation: violation)
            case .refused(let violation)?:
                // Both, as seen on the wire (firebase-admin-dotnet#45).
                return Text(
                    status: "INVALID_ARGUMENT", message: violation.reason, errorCode: "INVALID_ARGUMENT",
                    violation: violation)
            case .badToken?, nil:
                return Text(
                    status: "INVALID_ARGUMENT", message: invalid,
                    violation: FieldFault("message", invalid))
            }
        case .fcmSenderMismatch:
            return Text(status: "PERMISSION_DENIED", message: "SenderId mismatch", errorCode: reason.rawValue)
        case .fcmPermissionDenied:
            return Text(
                status: "PERMISSION_DENIED",
                message: "Permission 'cloudmessaging.messages.create' denied on resource "
                    + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).",
                info: ("IAM_PERMISSION_DENIED", "cloudresourcemanager.googleapis.com"))
        case .fcmServiceDisabled:
            return Text(
                status: "PERMISSION_DENIED",
                message:
                    "Firebase Cloud Messaging API has not been used in project \(project) before or it is disabled.",
                info: ("SERVICE_DISABLED", "googleapis.com"))
        case .fcmScopeInsufficient:
            return Text(
                status: "PERMISSION_DENIED", message: "Request had insufficient authentication scopes.",
                info: ("ACCESS_TOKEN_SCOPE_INSUFFICIENT", "googleapis.com"))
        case .fcmUnauthenticated:
            let expected = "Expected OAuth 2 access token, login cookie or other valid authentication credential."
            return Text(
                status: "UNAUTHENTICATED",
                message: isAnonymous
                    ? "Request is missing required authentication credential. \(expected)"
                    : "Request had invalid authentication credentials. \(expected)",
                info: (isAnonymous ? "CREDENTIALS_MISSING" : "ACCESS_TOKEN_EXPIRED", "googleapis.com"))
        case .fcmThirdPartyAuth:
            return Text(
                status: "UNAUTHENTICATED", message: "Auth error from APNS or Web Push Service",
                errorCode: reason.rawValue)
        case .fcmQuotaExceeded:
            return Text(
                status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted (e.g. check quota).",
                errorCode: reason.rawValue)
        case .fcmInternal:
            return Text(status: "INTERNAL", message: "Internal error encountered.", errorCode: reason.rawValue)
        case .fcmUnavailable:
            return Text(
                status: "UNAVAILABLE", message: "The service is currently unavailable.", errorCode: reason.rawValue)
        default: return nil
        }
    }

    private static func page(_ reason: RejectionReason) -> [UInt8] { page(status: reason.status) }

    /// The page of Google's front ends for requests that do not reach a service.
    static func page(status: UInt16) -> [UInt8] {
        let title = status == 404 ? "Error 404 (Not Found)!!1" : "Error \(status) (Server Error)!!1"
        return Array(
            """
            <!DOCTYPE html>
            <html lang=en>
            <meta charset=utf-8>
            <title>\(title)</title>
            <p><b>\(status).</b> <ins>That’s an error.</ins>

            """.utf8)
    }
}
