// SPDX-License-Identifier: Apache-2.0
import Foundation
import SeedApps
import Testing

/// The replica judges our payloads, so it is itself checked against SEEDS S2's description of the app.
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

    @Test func theJuryFindsAPushThatItsUserWouldDropOrAnotherWouldTake() throws {
        var jury = PushJury(pushType: "t")
        jury.telephones = ["aa": ["1"], "bb": ["2", "1"]]
        func record(_ token: String, user: String, type: String = "t") -> String {
            #"{"at":"x","token":"\#(token)","payload":{"aps":{"alert":"a"},"page":{"type":"\#(type)","#
                + #""userTel":"\#(user)","downloadUrl":"u"}}}"# + "\n"
        }
        func faults(_ lines: String...) throws -> Int {
            let verdict = try jury.verdict(onRecord: Data(lines.joined().utf8))
            #expect(verdict.judged == lines.count)
            return verdict.faults.count
        }
        #expect(try faults(record("aa", user: "1"), record("bb", user: "1"), record("bb", user: "2")) == 0)
        #expect(try faults(record("aa", user: "2")) == 1)
        #expect(try faults(record("aa", user: "1", type: "T")) == 1)
        #expect(try faults(record("cc", user: "1")) == 1)
        #expect(try faults(#"{"token":"aa"}"# + "\n", record("aa", user: "1")) == 1)
    }
}
