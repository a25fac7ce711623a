// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Signing
import Testing
import WireFormat

/// The service as a package outside this one uses it.
@Suite(.ownThread) struct SimulatedPushServiceTests {
    @Test func APNsInATestsOwnProcess() throws {
        let apns = try SimulatedPushService.apns(topics: ["com.example.app"], teamID: "ABCDE12345", keyID: "FGHIJ67890")
        defer { apns.stop() }
        #expect(apns.url.hasPrefix("https://127.0.0.1:"))
        #expect(apns.authority.contains("BEGIN CERTIFICATE") && apns.credential.contains("BEGIN PRIVATE KEY"))
        #expect(try apns.pushes() == [])
        #expect(throws: (any Error).self) { try apns.play(script: #"{"noSuchField": 1}"#) }
        try apns.play(script: #"{"deadTokens": ["00"]}"#)
        #expect(!apns.waitForPushes(1, seconds: 0))
        let folder = try TestFolder()
        try Data(apns.authority.utf8).write(to: folder.url.appending(path: "ca.pem"))
        let key = try ES256PrivateKey(pem: Array(apns.credential.utf8))
        let jwt = try Fixture().jwt(
            header: #"{"alg":"ES256","kid":"FGHIJ67890"}"#, claims: #"{"iss":"ABCDE12345","iat":\#(Fixture.now)}"#,
            signer: key)
        for token in [Fixture.token, "00" + Fixture.token.dropFirst(2)] {
            let answer = try run(
                "/usr/bin/curl",
                [
                    "-sS", "--http2", "--cacert", folder.url.appending(path: "ca.pem").path, "-H",
                    "authorization: bearer \(jwt)",
                    "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert", "--data-binary",
                    Fixture.payload,
                    "\(apns.url)/3/device/\(token)",
                ])
            #expect(answer.status == 0, "\(answer)")
        }
        #expect(apns.waitForPushes(2, seconds: 10))
        #expect(try apns.pushes().map(\.token).first == Fixture.token && apns.pushes().allSatisfy { $0.id != nil })
        #expect(apns.refusals == [:])
    }

    /// The folder is removed with the test.
    private final class TestFolder {
        let url = FileManager.default.temporaryDirectory.appending(path: "stand-in-\(UUID().uuidString)")
        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    @Test func FCMInATestsOwnProcess() throws {
        let fcm = try SimulatedPushService.fcm(project: "test-project")
        let account = try JSONReader.read(Array(fcm.credential.utf8))
        #expect(account["project_id"]?.string == "test-project")
        #expect(account["token_uri"]?.string == fcm.url + "/token")
        fcm.stop()
        fcm.stop()
    }
}
