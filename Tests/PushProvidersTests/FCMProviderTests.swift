// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import SeedApps
import Signing
import Testing
import UpgradeRules
import WireFormat

@testable import HTTP2
@testable import PushProviders

/// An Android push before it is framed.
@Suite struct FCMProviderTests {
    private let start = Timestamp(seconds: 1_800_000_000)
    private let payload = UpgradePayload(
        type: "mddy_needUpgrade", alert: "升级 \"now\"", downloadURL: "https://example.com/a?b=\"c\"\\&d=é",
        sound: "ping",
        required: .zero, build: 200)

    private func provider(_ change: (inout FCMProvider.Settings) -> Void = { _ in }) throws -> FCMProvider {
        var settings = FCMProvider.Settings(project: "example-project")
        change(&settings)
        let tokens = try FCMTokenBench().source
        tokens.fill(at: start)
        return FCMProvider(settings: settings, tokens: tokens)
    }

    /// The bodies that a lane would send.
    private func bodies(
        _ provider: FCMProvider, _ devices: [(token: String, telephone: String)], _ payload: UpgradePayload? = nil
    ) throws -> [Data] {
        let payload = payload ?? self.payload
        let template = try provider.template(
            for: payload, of: "000000000000", authority: "fcm.googleapis.com", expiresAt: start + .seconds(600),
            at: start
        ).request
        let batch = RequestBatch(
            template: template, tag: 0, capacity: devices.count, bytesPerRequest: provider.bytesPerPush)
        var arena = Array("…".utf8)
        let targets = devices.enumerated().map { number, device in
            let token = ByteSlice(offset: UInt32(arena.count), length: UInt32(device.token.utf8.count))
            arena += Array(device.token.utf8)
            let telephone = ByteSlice(offset: UInt32(arena.count), length: UInt32(device.telephone.utf8.count))
            arena += Array(device.telephone.utf8)
            return PushTarget(token: token, telephone: telephone, device: Int64(number + 1))
        }
        #expect(provider.refusals(of: targets, in: arena, payload).isEmpty)
        provider.append(targets, of: arena, campaign: Array("0123456789ab".utf8), to: batch)
        return devices.indices.map { number in
            var body: [UInt8] = []
            for piece in template.body {
                switch piece {
                case .constant(let bytes): body += bytes
                case .slot(let slot):
                    body += batch.bytes.arena[batch.bytes.slots[number * template.slotCount + slot].range]
                }
            }
            return Data(body)
        }
    }

    private func titled(_ title: String?) -> UpgradePayload {
        var words = payload.words
        words.title = title
        return UpgradePayload(
            type: payload.type, words: words, downloadURL: payload.downloadURL, required: payload.required,
            build: payload.build)
    }

    private func message(_ body: Data) throws -> [String: Any] {
        let root = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(root.count == 1)
        // The relay's own reader takes it too.
        #expect(throws: Never.self) { try JSONReader.read(Array(body)) }
        return try #require(root["message"] as? [String: Any])
    }

    @Test func headersAreGoogleS() throws {
        let template = try provider().template(
            for: payload, of: "000000000000", authority: "fcm.googleapis.com", expiresAt: start + .seconds(60),
            at: start
        ).request
        let fields = template.fields.map { field -> (String, String, Bool) in
            guard case .constant(let value) = field.value else { return ("", "", false) }
            return (
                String(decoding: field.name, as: UTF8.self), String(decoding: value, as: UTF8.self), field.isIndexed
            )
        }
        #expect(fields.map(\.0) == [":method", ":scheme", ":authority", ":path", "authorization", "content-type"])
        #expect(
            fields.map(\.1) == [
                "POST", "https", "fcm.googleapis.com", "/v1/projects/example-project/messages:send", "Bearer token-1",
                "application/json",
            ])
        #expect(fields.map(\.2) == [true, true, true, true, false, true], "the token is never indexed")
    }

    @Test func theMessageIsDataAlone() throws {
        let message = try message(try bodies(try provider(), [("fGw0:APA91b-_", "13800138000")])[0])
        #expect(Set(message.keys) == ["token", "data", "android"])
        #expect(message["token"] as? String == "fGw0:APA91b-_")
        let data = try #require(message["data"] as? [String: String], "every value is a text")
        #expect(Set(data.keys) == ["page", "pushId"])
        #expect(data["pushId"] == "01234567-89ab-8000-8000-000000000001")
        #expect(
            data["page"]
                == #"{"type":"mddy_needUpgrade","userTel":"13800138000","downloadUrl":"https://example.com/a?b=\"c\"\\&d=é","required":"0","build":200}"#
        )
        let android = try #require(message["android"] as? [String: String])
        #expect(android == ["priority": "high", "ttl": "600s", "collapse_key": "upgrade"])
    }

    @Test func whatTheConfigurationAddsIsThere() throws {
        let provider = try provider {
            $0.isHighPriority = false
            $0.packageName = "com.example.app"
            $0.showsNotification = true
        }
        let message = try message(try bodies(provider, [("t", "1")], titled("Example \"App\""))[0])
        #expect(message["notification"] as? [String: String] == ["title": "Example \"App\"", "body": payload.alert])
        let android = try #require(message["android"] as? [String: Any])
        #expect(android["priority"] as? String == "normal")
        #expect(android["restricted_package_name"] as? String == "com.example.app")
        #expect(android["notification"] as? [String: String] == ["sound": "ping"])
    }

    /// Byte for byte as before the configuration had labels, networks and keys of texts: apps in the field read it.
    @Test func withoutTheNewKeysNothingChanges() throws {
        let data =
            #"{"message":{"token":"t","data":{"page":"{\"type\":\"y\",\"userTel\":\"1\",\"downloadUrl\":\"u\"}","#
            + #""pushId":"01234567-89ab-8000-8000-000000000001"}"#
        let android = #","android":{"priority":"high","ttl":"600s","collapse_key":"upgrade""#
        let plain = UpgradePayload(type: "y", words: PushWords("a", sound: "ping"), downloadURL: "u")
        var words = plain.words
        words.title = "T"
        let shown = UpgradePayload(type: "y", words: words, downloadURL: "u")
        #expect(
            String(decoding: try bodies(provider(), [("t", "1")], plain)[0], as: UTF8.self) == data + android + "}}}")
        #expect(
            String(
                decoding: try bodies(provider { $0.showsNotification = true }, [("t", "1")], shown)[0], as: UTF8.self)
                == data + #","notification":{"title":"T","body":"a"}"# + android
                + #","notification":{"sound":"ping"}}}}"#)
    }

    @Test func theAppsOwnTextsAreAndroidS() throws {
        var words = PushWords("a", sound: "ping")
        words.appTitle = .init(key: "TITLE \"1\"")
        words.appBody = .init(key: "TEXT", arguments: ["2.0", "\"é\""])
        let payload = UpgradePayload(type: "y", words: words, downloadURL: "u")
        let provider = try provider { $0.showsNotification = true }
        let message = try message(try bodies(provider, [("t", "1")], payload)[0])
        #expect(message["notification"] == nil)
        let android = try #require(message["android"] as? [String: Any])
        let shown = try #require(android["notification"] as? [String: Any])
        #expect(
            shown as NSDictionary == [
                "title_loc_key": "TITLE \"1\"", "body_loc_key": "TEXT", "body_loc_args": ["2.0", "\"é\""],
                "sound": "ping",
            ] as NSDictionary)
        let (body, size) = provider.sample(payload, telephone: "1", timeToLive: .zero)
        let data = try #require(try self.message(Data(body))["data"] as? [String: String])
        let texts = "title_loc_keyTITLE \"1\"body_loc_keyTEXTbody_loc_args2.0\"é\"soundping"
        #expect(size == texts.utf8.count + data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
        // A message of the bump was written for this version.
        let said = UpgradePayload(type: "y", words: words.saying("Now!"), downloadURL: "u")
        let other = try self.message(try bodies(provider, [("t", "1")], said)[0])
        #expect(other["notification"] as? [String: String] == ["body": "Now!"])
    }

    @Test func labelAndNetworksAreSaidWhereTheyAreWanted() throws {
        let provider = try provider {
            $0.analyticsLabel = AnalyticsLabel("upgrade-{campaign}~%")
            $0.isForConstrainedBandwidth = true
            $0.isForRestrictedSatellite = true
        }
        let android = try #require(try message(try bodies(provider, [("t", "1")])[0])["android"] as? [String: Any])
        #expect(android["fcm_options"] as? [String: String] == ["analytics_label": "upgrade-000000000000~%"])
        #expect(
            android["bandwidth_constrained_ok"] as? Bool == true && android["restricted_satellite_ok"] as? Bool == true)
        for text in [
            "", "a b", "é", String(repeating: "a", count: 51), "{campaign}" + String(repeating: "a", count: 39),
        ] {
            #expect(AnalyticsLabel(text) == nil, "\(text)")
        }
        #expect(AnalyticsLabel("{campaign}" + String(repeating: "a", count: 38)) != nil)
    }

    /// Google, 2026: an installation id takes the token's place where the registration says so.
    @Test func anInstallationIsATargetOfItsOwn() throws {
        let all = try bodies(try provider(), [("fid:dQw4w9WgXcQ_abcdefghij", "1"), ("fid:", "1"), ("fidelity", "1")])
        let messages = try all.map(message)
        #expect(messages[0]["fid"] as? String == "dQw4w9WgXcQ_abcdefghij" && messages[0]["token"] == nil)
        #expect(messages[1]["token"] as? String == "fid:", "no id at all is left to FCM to judge")
        #expect(messages[2]["token"] as? String == "fidelity")
    }

    /// A text in a JSON text in a JSON text: read back by two parsers, one inside the other.
    @Test func everyTelephoneComesThrough() throws {
        let telephones =
            [
                "13800138000", "+86 138", "", "a\"b", "a\\b", "\\\"", "\\u0031", "\"}\",\"x\":\"", "\u{0}", "\u{1F}",
                "\n",
                "\t\r\u{8}\u{C}", "\u{7F}", "é", "e\u{301}", "📞", "\u{2028}", "\u{FEFF}1", "１３", "\u{10FFFF}", "/",
            ] + (0..<0x80).map { String(UnicodeScalar(UInt8($0))) }
        let all = try bodies(try provider(), telephones.map { ("t", $0) })
        for (telephone, body) in zip(telephones, all) {
            let data = try #require(try message(body)["data"] as? [String: String])
            let text = try #require(data["page"])
            let page = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(page.count == 5)
            let read = try #require(page["userTel"] as? String)
            #expect(Array(read.utf8) == Array(telephone.utf8), "\(telephone.debugDescription)")
            #expect(page["downloadUrl"] as? String == payload.downloadURL && page["type"] as? String == payload.type)
        }
    }

    @Test func theAppTakesItsOwnAndDropsAnotherS() throws {
        let telephones = ["1", "\"", "e\u{301}", "é", "\u{FEFF}1"]
        let all = try bodies(try provider(), telephones.map { ("t", $0) })
        for (telephone, body) in zip(telephones, all) {
            for user in telephones {
                var app = SeedAndroidClient(userTelephone: user)
                let reaction = app.receive(body)
                if Array(user.utf16) == Array(telephone.utf16) {
                    #expect(reaction == .accepted(downloadURL: payload.downloadURL))
                    #expect(app.receive(body) == .dropped(.repeated), "the same push again")
                } else {
                    #expect(reaction == .dropped(.otherUser))
                }
            }
        }
    }

    // MARK: Limits

    @Test(arguments: [
        (Duration.seconds(-1), "0s"), (.zero, "0s"), (.milliseconds(1999), "1s"),
        (.seconds(2_419_200), "2419200s"), (.seconds(9_000_000), "2419200s"),
    ])
    func theLifeIsWhatRemains(life: Duration, ttl: String) throws {
        let body = FCMBody(payload, .init(project: "p"), campaign: "", life: life)
            .render(token: "t", telephone: "1", pushID: "id")
        let android = try #require(try message(Data(body))["android"] as? [String: String])
        #expect(android["ttl"] == ttl)
    }

    @Test func theSizeIsThatOfKeysAndValues() throws {
        for title in [nil, "T"] as [String?] {
            let provider = try provider { $0.showsNotification = title != nil }
            let (body, size) = provider.sample(titled(title), telephone: "a\"b", timeToLive: .zero)
            let message = try message(Data(body))
            var parts = try #require(message["data"] as? [String: String])
            if title != nil {
                let shown = try #require(message["notification"] as? [String: String])
                parts.merge(shown) { $1 }
                parts["sound"] = payload.sound
            }
            #expect(size == parts.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
        }
        let provider = try provider()
        let long = UpgradePayload(
            type: "t", alert: "a", downloadURL: "https://example.com/" + String(repeating: "a", count: 3_800))
        let size = provider.sample(long, telephone: "", timeToLive: .zero).size
        #expect(throws: Never.self) { try provider.check(long, longestTelephone: 4_096 - size) }
        #expect(throws: PayloadError.tooLarge(size: 4_097, limit: 4_096)) {
            try provider.check(long, longestTelephone: 4_097 - size)
        }
        // A telephone that is too long alone.
        let arena = Array(("t" + String(repeating: "1", count: 4_096)).utf8)
        func refusals(_ length: Int) -> [String] {
            let target = PushTarget(
                token: ByteSlice(offset: 0, length: 1), telephone: ByteSlice(offset: 1, length: UInt32(length)),
                device: 1)
            return provider.refusals(of: [target], in: arena, long).map(\.reason)
        }
        #expect(refusals(4_096 - size) == [])
        #expect(refusals(4_097 - size) == ["PayloadTooLarge"])
    }

    @Test(arguments: ["", "a\"b", "a\\b", "a b", "a\n", "é", "\u{7F}"])
    func aTokenThatWouldBreakTheBodyIsNotSent(token: String) throws {
        let arena = Array((token + "1").utf8)
        let target = PushTarget(
            token: ByteSlice(offset: 0, length: UInt32(token.utf8.count)),
            telephone: ByteSlice(offset: UInt32(token.utf8.count), length: 1), device: 1)
        #expect(try provider().refusals(of: [target], in: arena, payload).map(\.reason) == ["MalformedDeviceToken"])
    }

    // MARK: Answers

    private func batch(_ answers: [(status: UInt16, body: String)]) throws -> RequestBatch {
        let template = try provider().template(
            for: payload, of: "000000000000", authority: "a", expiresAt: start, at: start
        ).request
        let batch = RequestBatch(template: template, tag: 0, capacity: answers.count, bytesPerRequest: 8)
        batch.answers = answers.enumerated().map { place, answer in
            var one = Answer()
            (one.kind, one.status, one.body) = (.answered, answer.status, answer.status == 200 ? -1 : Int32(place))
            return one
        }
        batch.bodies = answers.map { Array($0.body.utf8) }
        return batch
    }

    private let badToken = FCMAnswer.body(
        "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: FCMAnswer.badTokenText)

    /// "Drop the token only […] if the same payload succeeds elsewhere" (PROTOCOLS 2.3).
    @Test func anInvalidArgumentMayEndATokenOrNot() throws {
        let provider = try provider()
        let other = FCMAnswer.body("INVALID_ARGUMENT", fields: ["message.data"])
        let beside = provider.exceptions(
            in: try batch([(400, badToken), (200, ""), (400, other)]), to: [], of: [], at: start)
        #expect(beside.map(\.push) == [0, 2])
        #expect(
            beside.map(\.outcome) == [
                .invalidToken(reason: "INVALID_ARGUMENT", since: start), .fault(reason: "INVALID_ARGUMENT", .request),
            ])
    }

    @Test func aBatchThatWasTakenHasNoExceptions() throws {
        #expect(try provider().exceptions(in: batch([(200, ""), (200, "")]), to: [], of: [], at: start).isEmpty)
    }

    // MARK: The seam

    @Test func identityAndCredentialTellReloadsApart() throws {
        let tokens = try FCMTokenBench().source
        func made(_ project: String, _ tokens: FCMTokenSource) -> FCMProvider {
            FCMProvider(settings: .init(project: project), tokens: tokens)
        }
        #expect(made("a", tokens).identity == made("a", tokens).identity)
        #expect(made("a", tokens).identity != made("b", tokens).identity)
        #expect(made("a", tokens).credential == made("b", tokens).credential, "one account, two projects")
        #expect(made("a", tokens).identity != made("a", try FCMTokenBench().source).identity)
        #expect(made("a", tokens).quota?.project == made("a", try FCMTokenBench().source).quota?.project)
    }

    /// Every fault has words that name the field to look at and how to go on.
    @Test func everyFaultIsExplained() throws {
        let provider = try provider()
        let place = SendingPlace(
            app: "com.example.app", section: "apps[\"com.example.app\"].android",
            server: "https://fcm.googleapis.com:443",
            campaign: "0123456789ab", now: start)
        let faults: [SendingFault] = [
            .credential, .clock, .noCredential, .certificate, .forbidden, .keyEnvironment, .unrelatedKey, .topic,
            .request,
            .answer, .unknown, .mostlyRefused,
        ]
        for fault in faults {
            for reason in FCMProvider.reasons {
                let text = provider.explain(fault, reason: reason, refused: (18, 20), place)
                #expect(text.hasPrefix("\(reason): ") && text.hasSuffix("upgrade-relay campaigns resume 0123456789ab"))
                #expect(!text.contains("apns") || reason.contains("AUTH_ERROR"))
            }
        }
        func text(_ fault: SendingFault, _ reason: String) -> String {
            provider.explain(fault, reason: reason, refused: nil, place)
        }
        // The answers that count may have been good ones.
        for reason in ["UNREGISTERED", ""] {
            #expect(text(.mostlyUnregistered, reason).hasPrefix("UNREGISTERED: 0 of the last"))
        }
        // FAULTS 3.10: a change that a reload takes up, or that is made at Google, needs no restart.
        #expect(text(.topic, "CONSUMER_INVALID").contains("Then: systemctl reload upgrade-relay && "))
        #expect(text(.forbidden, "SERVICE_DISABLED").contains("Then: upgrade-relay campaigns resume "))
        #expect(text(.credential, "UNAUTHENTICATED").contains("Then: systemctl restart upgrade-relay && "))
        #expect(
            text(.forbidden, "SERVICE_DISABLED").contains("the FCM API is not enabled in the project example-project"))
        #expect(text(.forbidden, "PERMISSION_DENIED").contains("cloudmessaging.messages.create"))
        #expect(text(.forbidden, "SECURITY_POLICY_VIOLATED").contains("policy of the organisation"))
        #expect(text(.topic, "CONSUMER_INVALID").contains("fcm.project"))
        #expect(text(.credential, "UNAUTHENTICATED").contains("not even a new one"))
        let refused = UnusableCredential.accessTokenRefused(
            "Google refuses the key; this machine's clock is wrong: set it (timedatectl)")
        #expect(text(.credential, "\(refused)").hasPrefix("AccessTokenRefused: Google refuses the key; "))
        for word in FCMProvider.credentialReasons { #expect(SuspensionReason.isOfCredential("\(word): x")) }
        #expect(!SuspensionReason.isOfCredential("QUOTA_EXCEEDED: x"))
    }
}
