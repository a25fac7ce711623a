// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import SeedApps
import Signing
import Testing
import UpgradeRules

/// A push before it is framed.
@Suite struct APNsProviderTests {
    private let start = Timestamp(seconds: 1_800_000_000)
    private let payload = UpgradePayload(
        type: "mddy_needUpgrade", alert: "Upgrade", downloadURL: "https://example.com/a")

    private func provider(topic: String = "com.example.app") throws -> APNsProvider {
        let key = try ES256PrivateKey.generate()
        return APNsProvider(
            settings: .init(topic: topic, priority: 10),
            tokens: APNsTokenSource(teamID: "TEAM123456", keyID: "KEY1234567", key: key))
    }

    private func constant(_ name: String, in template: RequestTemplate) -> (value: String, isIndexed: Bool)? {
        template.fields.lazy.compactMap { field in
            guard field.name == Array(name.utf8), case .constant(let value) = field.value else { return nil }
            return (String(decoding: value, as: UTF8.self), field.isIndexed)
        }.first
    }

    @Test func headersAreAppleS() throws {
        let template = try provider().template(
            for: payload, of: "000000000000", authority: "api.push.apple.com", expiresAt: start + .seconds(60),
            at: start
        ).request
        let expected: [(String, String, Bool)] = [
            (":method", "POST", true), (":scheme", "https", true), (":authority", "api.push.apple.com", true),
            ("apns-topic", "com.example.app", true), ("apns-push-type", "alert", true),
            ("apns-expiration", "1800000060", true), ("apns-priority", "10", true),
            ("apns-collapse-id", "upgrade-com.example.app", true),
        ]
        for (name, value, isIndexed) in expected {
            let field = try #require(constant(name, in: template), "\(name) is missing")
            #expect(field.value == value)
            #expect(field.isIndexed == isIndexed)
        }
        let authorization = try #require(constant("authorization", in: template))
        #expect(authorization.value.hasPrefix("bearer ey"))
        #expect(!authorization.isIndexed)
        let names = template.fields.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(Array(names.prefix(4)) == [":method", ":scheme", ":authority", ":path"])
        #expect(names.contains("apns-id"))
    }

    @Test func aLongBundleIdKeepsItsEndInTheCollapseID() throws {
        let topic = "com." + String(repeating: "a", count: 100) + ".one"
        let template = try provider(topic: topic).template(
            for: payload, of: "000000000000", authority: "a", expiresAt: start, at: start
        ).request
        let collapse = try #require(constant("apns-collapse-id", in: template)).value
        #expect(collapse.utf8.count == 64)
        #expect(collapse.hasSuffix(".one"))
    }

    @Test func aPushFillsPathIdAndEscapedTelephone() throws {
        let template = try provider().template(
            for: payload, of: "000000000000", authority: "a", expiresAt: start, at: start)
        let batch = RequestBatch(template: template.request, tag: 1, capacity: 1, bytesPerRequest: 100)
        let arena = Array("00ff138\"00".utf8)
        let target = PushTarget(
            token: ByteSlice(offset: 0, length: 4), telephone: ByteSlice(offset: 4, length: UInt32(arena.count - 4)),
            device: 7)
        try provider().append([target], of: arena, campaign: Array("3f9c2ab81d04".utf8), to: batch)
        let slots = batch.bytes.slots.map { String(decoding: batch.bytes.arena[$0.range], as: UTF8.self) }
        #expect(slots == ["/3/device/00ff", "3f9c2ab8-1d04-8000-8000-000000000007", #"138\"00"#])
        // The body, put together as the connection does it, is one that only that user's phone takes.
        let body = template.request.body.flatMap { piece in
            switch piece {
            case .constant(let bytes): bytes
            case .slot(let slot): Array(slots[slot].utf8)
            }
        }
        #expect(PushJury(pushType: "mddy_needUpgrade").fault(of: body, users: ["138\"00"]) == nil)
    }

    @Test func whatWasNotSentIsHeldAndWhatWasLostIsTriedAgain() throws {
        let provider = try provider()
        let template = try provider.template(
            for: payload, of: "000000000000", authority: "a", expiresAt: start, at: start)
        let batch = RequestBatch(template: template.request, tag: 1, capacity: 1, bytesPerRequest: 100)
        var answer = Answer()
        answer.kind = .unsent
        #expect(provider.outcome(of: answer, in: batch, at: start) == .retry(.notSent, reason: "NotSent"))
        answer.kind = .unreachable
        answer.retryAfter = 60
        #expect(
            provider.outcome(of: answer, in: batch, at: start)
                == .retry(.unreachable(rest: .seconds(60)), reason: "NoConnection"))
        answer.kind = .lost
        #expect(provider.outcome(of: answer, in: batch, at: start) == .retry(.transport, reason: "ConnectionLost"))
        answer.kind = .answered
        answer.status = 503
        answer.retryAfter = 9
        answer.body = 0
        batch.bodies = [Array(#"{"reason":"ServiceUnavailable"}"#.utf8)]
        #expect(
            provider.outcome(of: answer, in: batch, at: start)
                == .retry(.service(retryAfter: .seconds(9)), reason: "ServiceUnavailable"))
    }
}
