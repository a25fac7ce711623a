// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import SeedApps
import Testing
import UpgradeRules

@testable import HTTP2
@testable import PushProviders

/// A push to an iPhone by FCM: the app cannot tell it from one by APNs.
@Suite struct FCMToIPhonesTests {
    private let start = Timestamp(seconds: 1_800_000_000)

    private func provider(_ change: (inout FCMProvider.Settings) -> Void = { _ in }) throws -> FCMProvider {
        var settings = FCMProvider.Settings(project: "example-project")
        settings.iPhones = .init(topic: "com.example.app", priority: 10)
        change(&settings)
        let tokens = try FCMTokenBench().source
        tokens.fill(at: start)
        return FCMProvider(settings: settings, tokens: tokens)
    }

    private func payload(_ words: PushWords) throws -> UpgradePayload {
        UpgradePayload(
            type: "mddy_needUpgrade", words: words, downloadURL: "https://example.com/a?b=\"c\"\\&d=é",
            required: try Version("2.0"), build: 200)
    }

    /// The messages that a lane would send.
    private func messages(
        _ provider: FCMProvider, _ payload: UpgradePayload, to telephones: [String]
    ) throws -> [[String: Any]] {
        let template = try provider.template(
            for: payload, of: "0123456789ab", authority: "fcm.googleapis.com", expiresAt: start + .seconds(600),
            at: start
        ).request
        let batch = RequestBatch(
            template: template, tag: 0, capacity: telephones.count, bytesPerRequest: provider.bytesPerPush)
        var arena = Array("fGw0:APA91b-_".utf8)
        let token = ByteSlice(offset: 0, length: UInt32(arena.count))
        let targets = telephones.enumerated().map { number, telephone in
            let slice = ByteSlice(offset: UInt32(arena.count), length: UInt32(telephone.utf8.count))
            arena += Array(telephone.utf8)
            return PushTarget(token: token, telephone: slice, device: Int64(number + 1))
        }
        #expect(provider.refusals(of: targets, in: arena, payload).isEmpty)
        provider.append(targets, of: arena, campaign: Array("0123456789ab".utf8), to: batch)
        return try telephones.indices.map { number in
            let body = template.body.flatMap { piece in
                switch piece {
                case .constant(let bytes): bytes
                case .slot(let slot):
                    Array(batch.bytes.arena[batch.bytes.slots[number * template.slotCount + slot].range])
                }
            }
            let root = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
            #expect(root.count == 1)
            return try #require(root["message"] as? [String: Any])
        }
    }

    private static let words: [PushWords] = {
        var titled = PushWords("升级 \"now\"", sound: "ping")
        titled.title = "Example"
        titled.interruptionLevel = .timeSensitive
        return [PushWords("升级 \"now\""), titled]
    }()

    @Test(arguments: words)
    func theAppSeesWhatAPNsWouldBring(_ words: PushWords) throws {
        let payload = try payload(words)
        let telephones = ["13800138000", "a\"b\\c\u{1}", "+86 138 😀"]
        let messages = try messages(try provider(), payload, to: telephones)
        for (number, (message, telephone)) in zip(messages, telephones).enumerated() {
            #expect(
                Set(message.keys) == ["token", "apns", "data"], "nothing for Android, and no notification of FCM's")
            #expect(message["token"] as? String == "fGw0:APA91b-_")
            #expect(
                message["data"] as? [String: String]
                    == ["pushId": PushID.text(campaign: "0123456789ab", device: Int64(number + 1))])
            let apns = try #require(message["apns"] as? [String: Any])
            #expect(Set(apns.keys) == ["headers", "payload"])
            #expect(
                apns["headers"] as? [String: String] == [
                    "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1800000600",
                    "apns-collapse-id": "upgrade-com.example.app",
                ])
            // As FCM hands it to APNs: with the members of "data" and its own beside it.
            var there = try #require(apns["payload"] as? [String: Any])
            let direct = try #require(
                try JSONSerialization.jsonObject(with: Data(payload.render(userTelephone: telephone)))
                    as? [String: Any])
            #expect(NSDictionary(dictionary: there) == NSDictionary(dictionary: direct))
            for (name, value) in try #require(message["data"] as? [String: String]) { there[name] = value }
            there["gcm.message_id"] = "1"
            var client = SeedClient(userTelephone: telephone)
            let reaction = client.receive(try JSONSerialization.data(withJSONObject: there))
            var apnsClient = SeedClient(userTelephone: telephone)
            #expect(reaction == apnsClient.receive(payload.render(userTelephone: telephone)))
            // The app of 2015 reads the alert as a text alone, from either service.
            guard words.isPlain else { continue }
            #expect(client.needUpgrade && client.downloadURL == payload.downloadURL)
            var other = SeedClient(userTelephone: "1")
            #expect(other.receive(try JSONSerialization.data(withJSONObject: there)) == .dropped(.otherUser))
        }
    }

    @Test func anAnalyticsLabelIsTheMessages() throws {
        let provider = try provider { $0.analyticsLabel = AnalyticsLabel("up") }
        let message = try messages(provider, try payload(PushWords("a")), to: ["1"])[0]
        #expect(message["fcm_options"] as? [String: String] == ["analytics_label": "up"])
    }

    @Test func roomIsLeftForWhatFCMAdds() throws {
        let provider = try provider()
        var words = PushWords("")
        let empty = try payload(words).sharedSize
        let room = UpgradePayload.maximumSize - FCMMessageToIPhone.roomForFCM - "pushId".utf8.count - PushID.length
        words.body = String(repeating: "a", count: room - empty - 11)
        try provider.check(try payload(words), longestTelephone: 11)
        #expect(throws: PayloadError.self) { try provider.check(try payload(words), longestTelephone: 12) }
        let sample = provider.sample(try payload(words), telephone: "13800138000", timeToLive: .seconds(60))
        #expect(sample.size == 4096)
        #expect(try JSONSerialization.jsonObject(with: Data(sample.body)) is [String: Any])
    }

    /// FCM's own key for APNs is refused: no token of an iPhone is at fault, and no push to one can succeed.
    @Test(arguments: ["THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR"])
    func aWrongKeyOfFCMSpeaksAgainstTheService(_ word: String) throws {
        for isToIPhones in [true, false] {
            let provider = try provider { if !isToIPhones { $0.iPhones = nil } }
            let template = try provider.template(
                for: try payload(PushWords("a")), of: "0123456789ab", authority: "f", expiresAt: start, at: start)
            let batch = RequestBatch(template: template.request, tag: 0, capacity: 1, bytesPerRequest: 1)
            batch.bodies = [Array(FCMAnswer.body("UNAUTHENTICATED", code: word).utf8)]
            var answer = Answer()
            (answer.kind, answer.status, answer.body) = (.answered, 401, 0)
            batch.answers = [answer]
            let outcome = provider.outcome(of: answer, in: batch, at: start)
            #expect(outcome == (isToIPhones ? .fault(reason: word, .keyOfService) : .rejected(reason: word)))
        }
        let place = SendingPlace(
            app: "com.example.app", section: "apps[\"com.example.app\"].ios", server: "https://fcm.googleapis.com",
            campaign: "c", now: start)
        let text = try provider().explain(.keyOfService, reason: word, refused: nil, place)
        #expect(text.hasPrefix("\(word): APNs refuses the key that FCM has for the iPhones of com.example.app"))
        #expect(text.contains("Firebase console of example-project"))
    }
}
