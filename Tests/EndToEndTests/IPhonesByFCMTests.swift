// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import SeedApps
import Testing
import WireFormat

@testable import PushSimulator

/// One iOS app, phones by APNs and phones by FCM in one registry: the real binary, and a stand-in for each service.
@Suite(.ownThread) struct IPhonesByFCMTests {
    private final class Stand {
        let bench: Workbench
        private let fcm: PushSimulator
        private let folder: URL

        /// - Parameter reason: the answer of FCM to every push; nil: it takes them.
        init(refusing reason: String? = nil) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "fcm-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var configuration = SimulatorConfiguration(try FCMProject())
            configuration.certificate = .generated(directory: folder.path)
            configuration.recordPath = folder.appending(path: "record.ndjson").path
            if let reason { configuration.faults.refusals = .init(reason: reason) }
            fcm = try PushSimulator(configuration)
            try fcm.start()
            let account = folder.appending(path: "account.json")
            try Data(fcm.accountFile ?? []).write(to: account)
            bench = try Workbench(
                iosKeys: """
                    fcm: {
                      serviceAccount: { file: "\(account.path)" }, server: "https://127.0.0.1:\(fcm.port)",
                      trustedCertificates: "\(folder.appending(path: "push-simulator-ca.pem").path)",
                      avoidQuarterHours: false, quotaPerMinute: 600000000,
                    },
                    """)
        }

        deinit {
            fcm.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        /// The payloads that FCM would hand to APNs, by token.
        func handedOn() throws -> [String: JSONValue] {
            let lines = try Data(contentsOf: folder.appending(path: "record.ndjson")).split(
                separator: UInt8(ascii: "\n"))
            return Dictionary(
                try lines.map { line in
                    let push = try JSONReader.read(Array(line))
                    let payload = push.find(["payload", "message", "apns", "payload"])
                    return (push["token"]?.string ?? "", payload ?? .null)
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    private static func token(_ number: Int) -> String { "cX\(number)_-AbcDEF:APA91bH\(number)" }

    @Test func oneCampaignReachesTheRegistryOfBoth() throws {
        let stand = try Stand()
        let bench = stand.bench
        try bench.start()
        try bench.register(Fleet(count: 20))
        let lines = (1...15).map { #"{"token":"\#(Self.token($0))","telephone":"139\#($0)","version":"1.9.0"}"# }
        let imported = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/devices", body: Array(lines.joined(separator: "\n").utf8))
        #expect(imported.json["stored"] as? Int == 15, "\(imported)")
        // One device by itself, and one that is said to be the other service's.
        let device = "/v1/apps/\(Workbench.app)/ios/devices/"
        let put = try bench.api(
            "PUT", device + Self.token(16),
            body: Array(#"{"telephone":"13916","version":"1.9.0","provider":"fcm"}"#.utf8))
        #expect(put.status < 300 && put.json["provider"] as? String == "fcm", "\(put)")
        let wrong = try bench.api("PATCH", device + Self.token(16), body: Array(#"{"provider":"apns"}"#.utf8))
        #expect(wrong.status == 422 || wrong.status == 400, "\(wrong)")

        // The plan has each service by itself; those that are up to date count for none.
        let plan = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/plan", body: Array(#"{"required":"2.0.0"}"#.utf8)
        ).json
        #expect(plan["toPush"] as? Int == 36, "\(plan)")
        #expect(
            plan["channels"] as? NSArray == [
                ["channel": "production", "toPush": 20], ["channel": "fcm", "toPush": 16],
            ] as NSArray, "\(plan)")
        let planned = try bench.command("plan", Workbench.app, "ios", "--required", "2.0.0").output
        #expect(
            planned.contains(/of these, by FCM +16\s/) && planned.contains(/of these, by APNs +20\s/),
            "\(planned)")

        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 36, "\(end)")
        // Each service by itself, for programs and for people.
        let shown = try bench.api("GET", "/v1/campaigns/\(id)").json
        #expect(
            shown["channels"] as? NSArray == [
                ["channel": "production", "accepted": 20, "rejected": 0, "unregistered": 0],
                ["channel": "fcm", "accepted": 16, "rejected": 0, "unregistered": 0],
            ] as NSArray, "\(shown)")
        let text = try bench.command("campaigns", "show", id).output
        #expect(text.contains("answers of FCM: accepted 16, rejected 0, unregistered 0\n"), "\(text)")
        #expect(try bench.record().count == 20)
        let pushes = try stand.handedOn()
        #expect(Set(pushes.keys) == Set((1...16).map(Self.token)))
        for number in 1...16 {
            let payload = try #require(pushes[Self.token(number)]).bytes()
            var (own, other) = (SeedClient(userTelephone: "139\(number)"), SeedClient(userTelephone: "1"))
            #expect(
                own.receive(payload)
                    == .accepted(
                        alert: "Upgrade, please.", downloadURL: "https://apps.apple.com/app/id1173193999"))
            #expect(other.receive(payload) == .dropped(.otherUser))
        }
        // The payload that APNs got has the same.
        let direct = try #require(try bench.record().first?["payload"] as? [String: Any])
        #expect(direct["aps"] as? NSDictionary == ["alert": "Upgrade, please."] as NSDictionary)
    }

    @Test func aWrongKeyOfFCMLeavesAPNsAloneAndSaysWhatToDo() throws {
        let stand = try Stand(refusing: "THIRD_PARTY_AUTH_ERROR")
        let bench = stand.bench
        try bench.start()
        try bench.register(Fleet(count: 20))
        let line = #"{"token":"\#(Self.token(1))","telephone":"1391","version":"1.9.0"}"#
        _ = try bench.api("POST", "/v1/apps/\(Workbench.app)/ios/devices", body: Array(line.utf8))
        let end = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.state == "suspended" }
        #expect(end.counts["accepted"] == 20 && end.counts["rejected"] == 0, "\(end)")
        #expect(end.reason?.contains("APNs refuses the key that FCM has for the iPhones") == true, "\(end)")
    }

    @Test func bothAreProvedOnline() throws {
        let stand = try Stand()
        let bench = stand.bench
        let result = try CommandResult.of(["check-config", bench.path("config.json5"), "--online", "--json"])
        #expect(result.status == 0, "\(result)")
        let findings = try JSONReader.read(Array(result.output.utf8))["online"]?.array ?? []
        let section = #"apps["\#(Workbench.app)"].ios"#
        #expect(
            Set(findings.compactMap { $0["field"]?.string }) == ["\(section).apns", "\(section).fcm"], "\(findings)")
        #expect(findings.allSatisfy { $0["result"]?.string == "good" }, "\(findings)")
        withExtendedLifetime(stand) {}
    }
}
