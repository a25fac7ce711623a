// SPDX-License-Identifier: Apache-2.0
import Testing

/// The replica judges our payloads, so it is itself held against what SEEDS S2 says of the app.
@Suite struct SeedClientTests {
    @Test(
        arguments: [
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1","downloadUrl":"u"}}"#, nil),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":1,"downloadUrl":"u"}}"#, nil),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"2","downloadUrl":"u"}}"#, .otherUser),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1 ","downloadUrl":"u"}}"#, .otherUser),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":null,"downloadUrl":"u"}}"#, .noUserTel),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","downloadUrl":"u"}}"#, .noUserTel),
            (#"{"aps":{"alert":"a"},"page":{"type":"T","userTel":"1","downloadUrl":"u"}}"#, .otherType),
            (#"{"aps":{"alert":"a"},"page":{"userTel":"1","downloadUrl":"u"}}"#, .otherType),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1"}}"#, .noDownloadURL),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1","downloadUrl":""}}"#, .noDownloadURL),
            (#"{"aps":{"alert":"a"},"page":[]}"#, .noPage),
            (#"{"aps":{"alert":"a"}}"#, .noPage),
            (#"{"page":{"type":"t","userTel":"1","downloadUrl":"u"}}"#, .noAlert),
            (#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1","downloadUrl":"u"}"#, .notJSON),
            ("", .notJSON),
        ] as [(String, SeedClient.Drop?)])
    func handlesAPush(payload: String, drop: SeedClient.Drop?) {
        var client = SeedClient(userTelephone: "1", pushType: "t")
        let reaction = client.receive(payload.utf8)
        #expect(reaction == drop.map { .dropped($0) } ?? .accepted(alert: "a", downloadURL: "u"))
        #expect(client.needUpgrade == (drop == nil))
        #expect(client.coreAction() == (drop == nil ? .force(downloadURL: "u") : .none))
    }

    @Test func aDroppedPushChangesNothing() {
        var client = SeedClient(userTelephone: "1", pushType: "t")
        client.receive(#"{"aps":{"alert":"a"},"page":{"type":"t","userTel":"1","downloadUrl":"u"}}"#.utf8)
        client.receive(#"{"aps":{"alert":"b"},"page":{"type":"t","userTel":"2","downloadUrl":"v"}}"#.utf8)
        #expect(client.coreAction() == .force(downloadURL: "u"))
    }
}
