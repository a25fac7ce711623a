// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine
import Testing

@testable import PushProviders

/// Every status and reason of PROTOCOLS 1.6, and what is not in it.
@Suite struct APNsReactionTests {
    enum Expected: Sendable {
        case accepted, rejected, badToken, unregistered, service, tooMany, transport, renew, pause, suspend, reconnect
    }

    static let table: [(status: UInt16, reason: String?, push: Expected, connection: AnswerVerdict)] = [
        (200, nil, .accepted, .keep),
        (400, "BadCollapseId", .suspend, .halt),
        (400, "BadDeviceToken", .badToken, .keep),
        (400, "BadExpirationDate", .suspend, .halt),
        (400, "BadMessageId", .suspend, .halt),
        (400, "BadPriority", .suspend, .halt),
        (400, "BadTopic", .suspend, .halt),
        (400, "DeviceTokenNotForTopic", .rejected, .keep),
        (400, "DuplicateHeaders", .suspend, .halt),
        (400, "IdleTimeout", .transport, .recycle),
        (400, "InvalidPushType", .suspend, .halt),
        (400, "MissingDeviceToken", .suspend, .halt),
        (400, "MissingTopic", .suspend, .halt),
        (400, "PayloadEmpty", .suspend, .halt),
        (400, "TopicDisallowed", .suspend, .halt),
        (403, "BadCertificate", .suspend, .halt),
        (403, "BadCertificateEnvironment", .suspend, .halt),
        (403, "BadEnvironmentKeyIdInToken", .suspend, .halt),
        (403, "BadEnvironmentKeyInToken", .suspend, .halt),
        (403, "ExpiredProviderToken", .renew, .halt),
        (403, "Forbidden", .suspend, .halt),
        (403, "InvalidProviderToken", .suspend, .halt),
        (403, "MissingProviderToken", .suspend, .halt),
        (403, "UnrelatedKeyIdInToken", .reconnect, .halt),
        (404, "BadPath", .suspend, .halt),
        (405, "MethodNotAllowed", .suspend, .halt),
        (410, "ExpiredToken", .unregistered, .keep),
        (410, "Unregistered", .unregistered, .keep),
        (413, "PayloadTooLarge", .suspend, .halt),
        (429, "TooManyProviderTokenUpdates", .pause, .halt),
        (429, "TooManyRequests", .tooMany, .keep),
        (500, "InternalServerError", .service, .keep),
        (503, "ServiceUnavailable", .service, .keep),
        (503, "Shutdown", .service, .recycle),
        // What Apple may add, and what is no answer of Apple's: by status class.
        (400, "SomethingNew", .rejected, .keep),
        (400, nil, .rejected, .keep),
        (403, "SomethingNew", .suspend, .halt),
        (410, "SomethingNew", .unregistered, .keep),
        (418, nil, .rejected, .keep),
        (429, nil, .tooMany, .keep),
        (502, nil, .service, .keep),
        (599, "SomethingNew", .service, .keep),
        (301, nil, .suspend, .halt),
        (204, nil, .suspend, .halt),
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
        case (.tooMany, .retry(.tooManyRequests, name)): break
        case (.transport, .retry(.transport, name)): break
        case (.renew, .renewCredential(name)): break
        case (.pause, .pauseCredential(.seconds(7), name)): break
        case (.reconnect, .reconnect(name)): break
        case (.suspend, .suspend(name, _)): break
        default: Issue.record("\(status) \(name) came to \(outcome)")
        }
        #expect(APNsReaction.to(status: status, reason: reason).connection == connection)
        let body = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        #expect(APNsJudge().judge(status: status, body: body) == connection)
    }
}
