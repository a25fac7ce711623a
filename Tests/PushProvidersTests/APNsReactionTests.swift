// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine
import Testing

@testable import PushProviders

/// Every status and reason of PROTOCOLS 1.6, and some that it does not have.
@Suite struct APNsReactionTests {
    enum Expected: Sendable {
        case accepted, rejected, badToken, unregistered, service, tooMany, transport, renew, pause, fault, reconnect
    }

    static let table: [(status: UInt16, reason: String?, push: Expected, connection: AnswerVerdict)] = [
        (200, nil, .accepted, .keep),
        (400, "BadCollapseId", .fault, .doubt),
        (400, "BadDeviceToken", .badToken, .keep),
        (400, "BadExpirationDate", .fault, .doubt),
        (400, "BadMessageId", .fault, .doubt),
        (400, "BadPriority", .fault, .doubt),
        (400, "BadTopic", .fault, .doubt),
        (400, "DeviceTokenNotForTopic", .rejected, .keep),
        (400, "DuplicateHeaders", .fault, .doubt),
        (400, "IdleTimeout", .transport, .recycle),
        (400, "InvalidPushType", .fault, .doubt),
        (400, "MissingDeviceToken", .fault, .doubt),
        (400, "MissingTopic", .fault, .doubt),
        (400, "PayloadEmpty", .fault, .doubt),
        (400, "TopicDisallowed", .fault, .doubt),
        (403, "BadCertificate", .fault, .doubt),
        (403, "BadCertificateEnvironment", .fault, .doubt),
        (403, "BadEnvironmentKeyIdInToken", .fault, .doubt),
        (403, "BadEnvironmentKeyInToken", .fault, .doubt),
        (403, "ExpiredProviderToken", .renew, .halt),
        (403, "Forbidden", .fault, .doubt),
        (403, "InvalidProviderToken", .fault, .doubt),
        (403, "MissingProviderToken", .fault, .doubt),
        (403, "UnrelatedKeyIdInToken", .reconnect, .halt),
        (404, "BadPath", .fault, .doubt),
        (405, "MethodNotAllowed", .fault, .doubt),
        (410, "ExpiredToken", .unregistered, .keep),
        (410, "Unregistered", .unregistered, .keep),
        (413, "PayloadTooLarge", .rejected, .keep),
        (429, "TooManyProviderTokenUpdates", .pause, .halt),
        (429, "TooManyRequests", .tooMany, .keep),
        (500, "InternalServerError", .service, .keep),
        (503, "ServiceUnavailable", .service, .keep),
        (503, "Shutdown", .service, .recycle),
        // Reasons that Apple may add, and answers that are not Apple's: by status class.
        (400, "SomethingNew", .rejected, .keep),
        (400, nil, .rejected, .keep),
        (403, "SomethingNew", .fault, .doubt),
        (410, "SomethingNew", .unregistered, .keep),
        (418, nil, .rejected, .keep),
        (429, nil, .tooMany, .keep),
        (502, nil, .service, .keep),
        (599, "SomethingNew", .service, .keep),
        (301, nil, .fault, .doubt),
        (204, nil, .fault, .doubt),
    ]

    @Test(arguments: table)
    func everyAnswerHasOneMeaning(
        status: UInt16, reason: String?, push: Expected, connection: AnswerVerdict
    ) {
        let since = Timestamp(milliseconds: 1_700_000_000_123)
        let outcome = APNsProvider.outcome(
            status: status, reason: reason, timestamp: since, retryAfter: .seconds(7))
        let name = reason ?? "HTTP \(status)"
        switch (push, outcome) {
        case (.accepted, .accepted): break
        case (.rejected, .rejected(name)): break
        case (.badToken, .badToken(name)): break
        case (.unregistered, .unregistered(name, since)): break
        case (.service, .retry(.service(retryAfter: .seconds(7)), name)): break
        case (.tooMany, .retry(.tooManyRequests(retryAfter: .seconds(7)), name)): break
        case (.transport, .retry(.transport, name)): break
        case (.renew, .renewCredential(name)): break
        case (.pause, .pauseCredential(.seconds(7), name)): break
        case (.reconnect, .reconnect(name)): break
        case (.fault, .fault(name, _)): break
        default: Issue.record("\(status) \(name) came to \(outcome)")
        }
        #expect(APNsReaction.to(status: status, reason: reason).connection == connection)
        let body = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        let (verdict, reading) = APNsJudge().judge(status: status, body: body)
        #expect(verdict == connection)
        // The lane's reading matches the bytes.
        if reading.entry > 0 {
            let entry = APNsReaction.entries[Int(reading.entry) - 1]
            #expect(entry.key.reason == reason && entry.key.status == status)
        }
    }
}
