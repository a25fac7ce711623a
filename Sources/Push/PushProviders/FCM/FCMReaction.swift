// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine

/// The one table of the meaning of each answer of FCM: for the push, and for the connection that it came on.
///
/// Authority: Google, "FCM error codes" and "Best practices when sending FCM messages at scale"; PROTOCOLS 2.3. Decided by the
/// `errorCode` of the detail FcmError, then by `error.status`, then by the HTTP status. Only UNREGISTERED concerns a token;
/// INVALID_ARGUMENT may, where the same payload was taken for another device.
struct FCMReaction: Sendable, Hashable {
    enum Push: Sendable, Hashable {
        case accepted
        case rejected
        /// The token is not one of FCM's, as far as one answer can prove.
        case badToken
        case unregistered
        /// The same, from a server that may not be FCM: the token stays.
        case perhapsUnregistered
        case quota
        case unavailable
        case renewCredential
        case fault(SendingFault)
    }

    var push: Push
    var connection: AnswerVerdict
    /// The reason in the ledger.
    var reason: String

    /// - Parameter body: nil where the answer has none.
    static func to(status: UInt16, _ body: FCMErrorBody?) -> FCMReaction {
        guard status != 200 || body?.isGood == false else { return accepted }
        let reaction = reaction(to: status, body)
        guard status == 200 else { return reaction }
        // Status and body disagree: the push counts as not taken, and the token stays.
        return switch reaction.push {
        case .unregistered: made(.perhapsUnregistered, reaction.reason)
        case .badToken: made(.rejected, reaction.reason)
        default: reaction
        }
    }

    private static let accepted = FCMReaction(push: .accepted, connection: .keep, reason: "")

    private static func reaction(to status: UInt16, _ body: FCMErrorBody?) -> FCMReaction {
        if let body {
            if let code = body.errorCode, let push = push(code, body) { return made(push, code) }
            if let code = body.reason, let push = infos[code] { return made(push, code) }
            if let code = body.status, let push = statuses[code] ?? push(code, body) { return made(push, code) }
        }
        return made(push(status), "HTTP \(status)")
    }

    /// The meaning that the lane's judge found in an answer's body; nil where it has not read the body.
    static func to(status: UInt16, entry: UInt16) -> FCMReaction? {
        switch entry {
        case 0: nil
        case statusAlone: made(push(status), "HTTP \(status)")
        default: entries[Int(entry) - 1]
        }
    }

    /// The number by which a lane's reading names a reaction.
    static func entry(of reaction: FCMReaction) -> UInt16 {
        places[reaction].map { UInt16($0 + 1) } ?? statusAlone
    }

    private static let statusAlone = UInt16.max

    /// Every meaning of a word, in an order that stays the same in this process.
    private static let entries: [FCMReaction] =
        [codes, statuses, infos].flatMap { $0.map { made($1, $0) } }
        + [.fault(.request), .badToken, .rejected].map { made($0, invalidArgument) }
        + [made(.perhapsUnregistered, "UNREGISTERED"), accepted]
    private static let places = Dictionary(entries.enumerated().map { ($1, $0) }) { first, _ in first }

    /// Every word that is known.
    static let reasons = Set(codes.keys).union(statuses.keys).union(infos.keys).union([invalidArgument])

    private static func made(_ push: Push, _ reason: String) -> FCMReaction {
        let connection: AnswerVerdict =
            switch push {
            // Unlike those to APNs, a connection is bound to no token: the renewal of a token calls waiting pushes back.
            case .fault: .doubt
            default: .keep
            }
        return FCMReaction(push: push, connection: connection, reason: reason)
    }

    /// The answers where APNs, or a browser's push service, refuses FCM's key; the second is the older word.
    static let aboutAPNs: Set<String> = ["THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR"]

    private static let invalidArgument = "INVALID_ARGUMENT"

    private static func push(_ code: String, _ body: FCMErrorBody) -> Push? {
        guard code == invalidArgument else { return codes[code] }
        // "Ambiguous" (PROTOCOLS 2.3): a violation of a field means our payload; FcmError with the text about the token means the
        // token.
        if body.violatesPayload { return .fault(.request) }
        if body.violatesTarget { return .badToken }
        guard body.errorCode != nil else { return .fault(.request) }
        return body.namesToken ? .badToken : .rejected
    }

    /// `errorCode` of FcmError.
    private static let codes: [String: Push] = [
        "UNREGISTERED": .unregistered,
        // The token belongs to another project and stays; if most do, the project is wrong.
        "SENDER_ID_MISMATCH": .rejected,
        // FCM's own key for APNs or web push.
        "THIRD_PARTY_AUTH_ERROR": .rejected,
        "APNS_AUTH_ERROR": .rejected,
        "QUOTA_EXCEEDED": .quota,
        "UNAVAILABLE": .unavailable,
        "INTERNAL": .unavailable,
    ]

    /// `error.status`, where no FcmError gives more.
    private static let statuses: [String: Push] = [
        // A wrong project, or another server, answers this too.
        "NOT_FOUND": .perhapsUnregistered,
        "PERMISSION_DENIED": .fault(.forbidden),
        "UNAUTHENTICATED": .renewCredential,
        "RESOURCE_EXHAUSTED": .quota,
        "DEADLINE_EXCEEDED": .unavailable,
        "ABORTED": .unavailable,
        "CANCELLED": .unavailable,
        "UNKNOWN": .unavailable,
        "FAILED_PRECONDITION": .fault(.request),
        "OUT_OF_RANGE": .fault(.request),
        "UNIMPLEMENTED": .fault(.request),
    ]

    /// `reason` of ErrorInfo (https://cloud.google.com/apis/design/errors), beside PERMISSION_DENIED.
    private static let infos: [String: Push] = [
        "SERVICE_DISABLED": .fault(.forbidden),
        "IAM_PERMISSION_DENIED": .fault(.forbidden),
        "ACCESS_TOKEN_SCOPE_INSUFFICIENT": .fault(.forbidden),
        "SECURITY_POLICY_VIOLATED": .fault(.forbidden),
        "CONSUMER_INVALID": .fault(.topic),
        "CONSUMER_SUSPENDED": .fault(.forbidden),
        "USER_PROJECT_DENIED": .fault(.topic),
    ]

    private static func push(_ status: UInt16) -> Push {
        switch status {
        case 401: .renewCredential
        case 403: .fault(.unknown)
        // FCM's own 404 has a body: this is another server, or a path that it does not know.
        case 404: .fault(.answer)
        case 408, 499: .unavailable
        case 429: .quota
        case 400..<500: .rejected
        case 500..<600: .unavailable
        default: .fault(.answer)
        }
    }
}
