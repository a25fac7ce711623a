// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import OwnThread
import Signing
import StorePeers
import TestPeers
import Testing
import WireFormat

@testable import PushSimulator

/// `check-config --online` with the real binary, and a stand-in for each service that a configuration can name.
@Suite(.serialized, .ownThread) struct OnlineCheckTests {
    private final class Stand {
        let bench: Workbench
        let fcm: PushSimulator
        let lookup: LookupStand
        let connect: ConnectStandIn
        let play: PlayStandIn
        let receiver: HookReceiver

        init(receiver answer: String = "204 No Content") throws {
            bench = try Workbench { $0.recordPath = nil }
            let folder = bench.folder
            var configuration = SimulatorConfiguration(try FCMProject())
            configuration.certificate = .generated(directory: folder.appending(path: "fcm").path)
            try FileManager.default.createDirectory(
                at: folder.appending(path: "fcm"), withIntermediateDirectories: true)
            fcm = try PushSimulator(configuration)
            try fcm.start()
            lookup = try LookupStand()
            lookup.list("2.1.0")
            connect = try ConnectStandIn(keys: ["2X9R4HXF34": bench.key.publicKey]) { _ in .init(body: "") }
            let page = ConnectSample.page([.init(version: "2.0.0")], server: connect.address)
            connect.set { _ in .init(body: page) }
            play = try PlayStandIn()
            play.change { $0.list.body = PlaySample.list(PlaySample.summary("2.0.0", [200])) }
            receiver = try HookReceiver { _, _ in HookReceiver.response(answer) }
            for (name, bytes) in [
                ("account.json", fcm.accountFile ?? []), ("play.json", try play.accountFile()),
                ("hook-secret", Array(HookReceiver.secret.utf8)), ("other.p8", try ES256PrivateKey.generate().pem),
                ("gate.json", Array(#"{"ios":{"requiredUpdate":{"minimumVersion":"2.0","message":"m"}}}"#.utf8)),
            ] {
                try Data(bytes).write(to: folder.appending(path: name))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.path(name))
            }
            try bench.edit { _ in self.configuration }
        }

        func stop() {
            fcm.stop()
            lookup.stop()
            connect.stop()
            play.stop()
            receiver.stop()
        }

        private var configuration: String {
            """
            {
              store: { sqlite: { path: "\(bench.path("relay.db"))" } },
              listen: { address: "127.0.0.1:0", controlSocket: "\(bench.path("control.sock"))" },
              notify: [{ url: "\(receiver.url)", secret: { file: "\(bench.path("hook-secret"))" } }],
              apps: {
                "\(Workbench.app)": {
                  ios: {
                    apns: {
                      teamId: "\(Workbench.teamID)", keyId: "\(Workbench.keyID)",
                      key: { file: "\(bench.path("key.p8"))" }, server: "https://127.0.0.1:\(bench.simulator.port)",
                      trustedCertificates: "\(bench.path("push-simulator-ca.pem"))",
                    },
                    sources: [
                      { launchGate: { file: "\(bench.path("gate.json"))" } },
                      { appStore: { id: 1173193999, lookupServer: "http://127.0.0.1:\(lookup.port)" } },
                      { appStoreConnect: { appId: \(ConnectSample.appID), issuerId: "\(ConnectSample.issuer)",
                        keyId: "2X9R4HXF34", key: { file: "\(bench.path("key.p8"))" }, server: "\(connect.address)",
                        trustedCertificates: "\(connect.authority)" } },
                    ],
                  },
                  android: {
                    fcm: {
                      serviceAccount: { file: "\(bench.path("account.json"))" },
                      server: "https://127.0.0.1:\(fcm.port)",
                      trustedCertificates: "\(bench.path("fcm/push-simulator-ca.pem"))",
                    },
                    sources: [{ googlePlay: { key: { file: "\(bench.path("play.json"))" },
                      server: "https://127.0.0.1:\(play.port)",
                      trustedCertificates: "\(play.identity.authorityPath)" } }],
                  },
                },
              },
            }
            """
        }

        func check(_ more: String...) throws -> CommandResult {
            try CommandResult.of(["check-config", bench.path("config.json5")] + more)
        }

        /// The findings in the JSON answer, by field.
        func online() throws -> (status: Int32, findings: [String: JSONValue]) {
            let result = try check("--online", "--json")
            let json = try JSONReader.read(Array(result.output.utf8))
            let list = json["online"]?.array ?? []
            #expect(json["valid"]?.bool == true, "\(result)")
            return (
                result.status,
                Dictionary(
                    uniqueKeysWithValues: list.map { finding in
                        let detail = finding["detail"]?.string.map { ", \($0)" } ?? ""
                        return ((finding["field"]?.string ?? "") + detail, finding)
                    })
            )
        }
    }

    private static let ios = "apps[\"\(Workbench.app)\"].ios"
    private static let android = "apps[\"\(Workbench.app)\"].android"

    @Test func whereAllIsRightEachServiceProvesIt() throws {
        let stand = try Stand()
        defer { stand.stop() }
        let (status, findings) = try stand.online()
        #expect(status == 0)
        let hook = "notify[0], 127.0.0.1:\(stand.receiver.port)"
        let expected = [
            "\(Self.ios).apns": "(BadDeviceToken): key, topic and environment are right",
            "\(Self.ios).sources[0]": "the file requires 2.0",
            "\(Self.ios).sources[1]": "the App Store offers 2.1.0",
            "\(Self.ios).sources[2]": "App Store Connect has 2.0.0 as READY_FOR_DISTRIBUTION",
            "\(Self.android).fcm": "(INVALID_ARGUMENT): account and project are right",
            "\(Self.android).sources[0]": "Google Play has 1 on the track \"production\": 2.0.0",
            hook: "took the test event (HTTP 204)",
        ]
        #expect(Set(findings.keys) == Set(expected.keys))
        for (field, words) in expected {
            let finding = findings[field]
            #expect(finding?["result"]?.string == "good", "\(field): \(finding ?? .null)")
            #expect(finding?["answer"]?.string?.hasSuffix(words) == true, "\(field): \(finding ?? .null)")
            #expect(finding?["remedy"] == .null)
        }
        // One question each, no push to any phone, and nothing is kept.
        #expect(stand.bench.simulator.figures.requests == 1 && stand.bench.simulator.figures.accepted == 0)
        #expect(stand.fcm.figures.accepted == 0)
        #expect(stand.connect.questions.count == 1 && stand.play.count(.list) == 1)
        #expect(stand.play.now.openEdits.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: stand.bench.path("relay.db")))
        // The receiver sees that it is a test, and that it comes from this relay.
        let event = try #require(stand.receiver.deliveries.first)
        #expect(stand.receiver.deliveries.count == 1 && event.isVerified && event.type == "relay.test")
        #expect((event.data["reason"] as? String)?.contains("This is a test") == true)

        let text = try stand.check("--online")
        #expect(text.status == 0 && text.errors.isEmpty)
        #expect(text.output.contains("\ngood  \(Self.ios).apns: https://127.0.0.1:"))
        #expect(try stand.check().output.contains("good") == false, "without --online nobody is asked")
        #expect(stand.receiver.deliveries.count == 2)
    }

    @Test func whatIsWrongIsSaidWithItsRemedy() throws {
        let stand = try Stand(receiver: "401 Unauthorized")
        let closed = try Loopback.ReservedPort()
        defer { stand.stop() }
        stand.lookup.list(nil)
        stand.connect.set(keys: [:])
        // A listener whose connections the kernel accepts, and which never answers.
        let silent = try Loopback.listen(port: 0)
        defer { close(silent.0) }
        try stand.bench.edit { text in
            let server = "server: \"https://127.0.0.1:\(stand.bench.simulator.port)\","
            return text.replacing(
                "{ file: \"\(stand.bench.path("gate.json"))\" }",
                with: "{ url: \"http://127.0.0.1:\(silent.1)/gate.json\" }"
            )
            .replacing(
                server,
                with: "server: \"https://127.0.0.1:\(silent.1)\", sandboxServer: \"https://127.0.0.1:\(closed.port)\","
            )
            .replacing(
                "https://127.0.0.1:\(stand.fcm.port)\",",
                with: "https://127.0.0.1:\(stand.fcm.port)\", project: \"other-project\","
            )
            .replacing(
                "apps: {",
                with: """
                    apps: {
                      "com.example.nobody": { ios: { apns: {
                        teamId: "\(Workbench.teamID)", keyId: "\(Workbench.keyID)",
                        key: { file: "\(stand.bench.path("key.p8"))" }, \(server)
                        trustedCertificates: "\(stand.bench.path("push-simulator-ca.pem"))" } } },
                      "com.example.key": { ios: { apns: {
                        teamId: "\(Workbench.teamID)", keyId: "\(Workbench.keyID)", topic: "\(Workbench.app)",
                        key: { file: "\(stand.bench.path("other.p8"))" }, \(server)
                        trustedCertificates: "\(stand.bench.path("push-simulator-ca.pem"))" } } },
                    """, maxReplacements: 1)
        }
        let start = ContinuousClock.now
        let (status, findings) = try stand.online()
        // The checks run side by side: silent services cost their time once.
        #expect(ContinuousClock.now - start < .seconds(18) * Patience.factor)
        #expect(status == 1)
        let hook = "notify[0], 127.0.0.1:\(stand.receiver.port)"
        let expected: [(field: String, answer: String, remedy: String)] = [
            ("\(Self.ios).apns, production", "NotSent", "the service was not reached; check "),
            ("\(Self.ios).apns, sandbox", "https://127.0.0.1:\(closed.port): ", "the service was not reached; check "),
            ("\(Self.ios).sources[0]", "no answer within 10 s", "look at the network, DNS"),
            ("\(Self.ios).sources[1]", "the App Store lists no such app in the United States", ""),
            ("\(Self.ios).sources[2]", "", ""),
            ("\(Self.android).fcm", "PERMISSION_DENIED", "FCM forbids the account of"),
            ("apps[\"com.example.nobody\"].ios.apns", "TopicDisallowed", "APNs does not accept the topic"),
            ("apps[\"com.example.key\"].ios.apns", "InvalidProviderToken", "must belong together"),
            (hook, "the test event was not taken: HTTP 401", "check notify[0].url"),
        ]
        for (field, answer, remedy) in expected {
            let finding = findings[field]
            #expect(finding?["result"]?.string == "failed", "\(field): \(finding ?? .null)")
            #expect(
                finding?["answer"]?.string?.contains(answer) == true || answer.isEmpty, "\(field): \(finding ?? .null)")
            #expect(
                finding?["remedy"]?.string?.contains(remedy) == true || remedy.isEmpty, "\(field): \(finding ?? .null)")
        }
        #expect(findings["\(Self.android).sources[0]"]?["result"]?.string == "good")
        #expect(findings.count == expected.count + 1)
        // The finding for App Store Connect has the words of /readyz.
        let connect = findings["\(Self.ios).sources[2]"]?["answer"]?.string ?? ""
        #expect(connect.contains("NOT_AUTHORIZED") || connect.contains("401"), "\(connect)")
        #expect(!FileManager.default.fileExists(atPath: stand.bench.path("relay.db")))
    }

    @Test func aConfigurationThatIsInvalidAsksNobody() throws {
        let stand = try Stand()
        defer { stand.stop() }
        try stand.bench.edit { $0.replacing("notify:", with: "notifie:") }
        let result = try stand.check("--online")
        #expect(result.status == 78)
        #expect(stand.bench.simulator.figures.requests == 0 && stand.receiver.deliveries.isEmpty)
    }
}
