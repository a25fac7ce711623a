// SPDX-License-Identifier: Apache-2.0
package import Signing
import WireFormat

/// The push service that a simulator stands in for, with all that the service knows of its customer.
package enum SimulatedService: Sendable {
    case apns(APNsTeam)
    case fcm(FCMProject)

    package enum Name: String, Sendable, Hashable, CaseIterable {
        case apns = "APNs"
        case fcm = "FCM"
    }

    /// Whether clients may use HTTP/1.1 instead of HTTP/2. "APNs requires the use of HTTP/2" (Apple); Google's own libraries
    /// use HTTP/1.1 for FCM and its token endpoint.
    var takesHTTP1: Bool { name == .fcm }

    package var name: Name {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        }
    }
}

/// An Apple developer team that may push.
package struct APNsTeam: Sendable {
    /// The bundle ids it may push to.
    package var topics: Set<String>
    /// `iss` of the provider tokens.
    package var teamID: String
    /// `kid` to public key.
    package var keys: [String: ES256PublicKey]
    /// Apple's environment for which the client's certificate must be valid. Default nil: any.
    package var world: APNsWorld?

    package init(topics: Set<String>, teamID: String, keys: [String: ES256PublicKey]) {
        self.topics = topics
        self.teamID = teamID
        self.keys = keys
    }
}

/// The rules by which one push service judges and answers requests: the only part of a simulator that differs from service to
/// service. A request is begun, judged and answered before the next one is begun. Belongs to the loop's thread.
protocol ServiceRules: AnyObject {
    /// The most streams of a connection that has not shown a credential yet; nil: as many as any other connection has.
    var firstStreams: Int? { get }
    /// The number of different credentials that were good.
    var credentials: Int { get }

    /// Called before anything else, so that all notes about a push have the id that its answer gives.
    func begin(_ slot: StreamSlot)
    /// The answer to a request that is not a push, such as one for an access token, with its body in the slot. nil: it is a push.
    /// - Parameter now: seconds since 1970, by the script's clock.
    func answerToOther(_ slot: StreamSlot, now: Int64, under judge: RequestJudge) -> PushAnswer?
    func verdict(
        on slot: StreamSlot, credential: inout ConnectionCredential, now: Int64, under judge: RequestJudge
    ) -> Verdict
    /// The hash of the push's target: `ShortHash`.
    func target(of slot: StreamSlot) -> UInt64
    /// Fills the slot's body.
    func writeBody(of answer: PushAnswer, into slot: StreamSlot)
    /// The header field that the service sends with this answer, besides status and `retry-after`.
    func field(of answer: PushAnswer) -> AnswerHeader
    /// The push's own members of a line in the record.
    func record(_ slot: StreamSlot, into line: inout JSONWriter)
    /// The debug data of a GOAWAY.
    func goAwayText(_ reason: String) -> [UInt8]
    /// Called when another script begins.
    func scriptChanged()
}

enum AnswerHeader {
    /// `apns-id` with the slot's id.
    case id
    /// `content-type` of JSON.
    case json
    /// `content-type` of a page for people.
    case page
}

/// A service's own words for scripted faults.
struct ServiceWords {
    var deadToken: RejectionReason
    var badToken: RejectionReason
    /// The token belongs to another developer's app.
    var foreignToken: RejectionReason
    var tooMany: RejectionReason
    var internalError: RejectionReason
    var unavailable: RejectionReason
}

extension ServiceWords {
    init(_ service: SimulatedService.Name) {
        self =
            switch service {
            case .apns:
                ServiceWords(
                    deadToken: .unregistered, badToken: .badDeviceToken, foreignToken: .deviceTokenNotForTopic,
                    tooMany: .tooManyRequests, internalError: .internalServerError, unavailable: .serviceUnavailable)
            case .fcm:
                ServiceWords(
                    deadToken: .fcmUnregistered, badToken: .fcmInvalidToken, foreignToken: .fcmSenderMismatch,
                    tooMany: .fcmQuotaExceeded, internalError: .fcmInternal, unavailable: .fcmUnavailable)
            }
    }
}
