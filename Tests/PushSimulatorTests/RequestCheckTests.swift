// SPDX-License-Identifier: Apache-2.0
import PushSimulator
import Signing
import Testing

@Suite struct RequestCheckTests {
    private let fixture: Fixture
    private let now: Int64 = 1_800_000_000

    init() throws {
        fixture = try Fixture()
    }

    private func check() -> RequestCheck {
        RequestCheck(
            topics: [Fixture.topic], teamID: Fixture.teamID, keys: [Fixture.keyID: fixture.key.publicKey])
    }

    private func judge(_ headers: [(String, String)], payload: String = Fixture.payload) -> Verdict {
        var check = check()
        var credential = ConnectionCredential()
        let payload = Array(payload.utf8)
        return check.judge(
            RequestHeaders(headers), payload: payload, payloadSize: payload.count, credential: &credential, now: now)
    }

    private func headers(_ changes: [String: String?] = [:]) throws -> [(String, String)] {
        var headers = fixture.headers(jwt: try fixture.jwt(issuedAt: now))
        for (name, value) in changes {
            headers.removeAll { $0.0 == name }
            if let value { headers.append((name, value)) }
        }
        return headers
    }

    @Test func aRightRequestIsAccepted() throws {
        #expect(judge(try headers()) == .accepted)
    }

    @Test(arguments: ["apns-id", "apns-push-type", "apns-expiration", "apns-priority", "apns-collapse-id"])
    func optionalHeadersMayBeAbsent(name: String) throws {
        #expect(judge(try headers([name: nil])) == .accepted)
    }

    @Test(arguments: [
        (":method", "GET", RejectionReason.methodNotAllowed), (":path", "/3/devices/00", .badPath),
        (":path", "/", .badPath), (":path", "/3/device/00/1", .badPath), (":path", "/3/device/", .missingDeviceToken),
        (":path", "/3/device/0", .badDeviceToken), (":path", "/3/device/0g", .badDeviceToken),
        (":path", "/3/device/" + String(repeating: "00", count: 101), .badDeviceToken), ("apns-id", "1", .badMessageID),
        ("apns-id", Fixture.id.uppercased(), .badMessageID),
        ("apns-id", "123e4567-e89b-12d3-a456_426614174000", .badMessageID), ("apns-expiration", "", .badExpirationDate),
        ("apns-expiration", "-1", .badExpirationDate), ("apns-expiration", "soon", .badExpirationDate),
        ("apns-priority", "2", .badPriority), ("apns-priority", "", .badPriority),
        ("apns-collapse-id", "", .badCollapseID),
        ("apns-collapse-id", String(repeating: "é", count: 32) + "x", .badCollapseID),
        ("apns-push-type", "Alert", .invalidPushType), ("apns-push-type", "", .invalidPushType),
        ("apns-topic", "", .missingTopic), ("apns-topic", "com example", .badTopic),
        ("apns-topic", "com.example.other", .topicDisallowed),
        ("apns-topic", "com.example.app.voip", .topicDisallowed),
    ])
    func oneWrongHeader(name: String, value: String, reason: RejectionReason) throws {
        #expect(judge(try headers([name: value])) == .rejected(reason))
    }

    @Test(arguments: [
        ("apns-priority", "1"), ("apns-priority", "10"), ("apns-expiration", "1900000000"),
        ("apns-collapse-id", String(repeating: "é", count: 32)), (":path", "/3/device/00"),
        (":path", "/3/device/" + Fixture.token.uppercased()), ("apns-push-type", "background"),
    ])
    func oneUnusualHeader(name: String, value: String) throws {
        #expect(judge(try headers([name: value])) == .accepted)
    }

    @Test func backgroundWithPriorityTenIsAnError() throws {
        let headers = try headers(["apns-push-type": "background", "apns-priority": "10"])
        #expect(judge(headers) == .rejected(.badPriority))
    }

    @Test func topicSuffixesBelongToTheirPushType() throws {
        #expect(judge(try headers(["apns-push-type": "voip", "apns-topic": "com.example.app.voip"])) == .accepted)
        #expect(
            judge(try headers(["apns-push-type": "location", "apns-topic": "com.example.app.voip"]))
                == .rejected(.topicDisallowed))
    }

    @Test func absentHeaders() throws {
        #expect(judge(try headers(["apns-topic": nil])) == .rejected(.missingTopic))
        #expect(judge(try headers(["authorization": nil])) == .rejected(.missingProviderToken))
        #expect(judge(try headers(["authorization": ""])) == .rejected(.missingProviderToken))
    }

    @Test func aHeaderSentTwice() throws {
        #expect(judge(try headers() + [("apns-priority", "5")]) == .rejected(.duplicateHeaders))
    }

    static let notPayloads: [String] = [
        "", "[]", "{}", #"{"aps":1}"#, #"{"aps":{}"#, #"{"aps":{}}x"#, #"{"aps":{},}"#, #"{"aps":{"badge":01}}"#,
        #"{"aps":{"alert":"a\x"}}"#, "{\"aps\":{\"alert\":\"a\nb\"}}", #"{"data":{"aps":{}}}"#,
        #"{"aps":{"alert":nul}}"#, #"{"aps":{"alert":"\u12g4"}}"#, #"{"aps":{"alert":"x}}"#,
        #"{"aps":{"a":"# + nested(70) + "}}",
    ]

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func alert(ofCount count: Int) -> String {
        #"{"aps":{"alert":""# + String(repeating: "a", count: count) + #""}}"#
    }

    @Test(arguments: notPayloads)
    func wrongPayloads(payload: String) throws {
        #expect(judge(try headers(), payload: payload) == .rejected(.payloadEmpty))
    }

    @Test func thePayloadMayHave4096Bytes() throws {
        let largest = Self.alert(ofCount: 4076)
        #expect(largest.utf8.count == 4096)
        #expect(judge(try headers(), payload: largest) == .accepted)
        #expect(judge(try headers(), payload: Self.alert(ofCount: 4077)) == .rejected(.payloadTooLarge))
        let voip = try headers(["apns-push-type": "voip", "apns-topic": "com.example.app.voip"])
        #expect(judge(voip, payload: Self.alert(ofCount: 5100)) == .accepted)
        #expect(judge(voip, payload: Self.alert(ofCount: 5101)) == .rejected(.payloadTooLarge))
    }

    @Test(arguments: [
        #"{"aps":{}}"#, " {\n\t\"aps\" : { } , \"x\" : [ 1 , -0.5e+3, true, false, null, \"\\u00e9\\n\" ] }\r\n",
        #"{"aps":{"alert":"é 👍 \" \\ \/"}}"#,
    ])
    func rightPayloads(payload: String) throws {
        #expect(judge(try headers(), payload: payload) == .accepted)
    }

    @Test func aPayloadThatIsNotUTF8() throws {
        var check = check()
        var credential = ConnectionCredential()
        let payload = Array(#"{"aps":{"alert":""#.utf8) + [0xc3, 0x28] + Array(#""}}"#.utf8)
        let verdict = check.judge(
            RequestHeaders(try headers()), payload: payload, payloadSize: payload.count, credential: &credential,
            now: now)
        #expect(verdict == .rejected(.payloadEmpty))
    }
}
