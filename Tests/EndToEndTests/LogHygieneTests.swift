// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Signing
import TestPeers
import Testing

@testable import PushSimulator

/// The log of the daemon at its most talkative, through a campaign with every fault, refused requests and failures of its own: no
/// telephone, no token, no secret, and no forged line.
@Suite(.serialized, .ownThread) struct LogHygieneTests {
    @Test func noTelephoneTokenOrSecretIsEverLogged() throws {
        let fleet = Fleet(count: 600, withoutTelephone: 50, current: 40)
        let bench = try Workbench {
            $0.faults.deadShare = 0.05
            $0.faults.badShare = 0.05
            $0.faults.busyShare = 0.05
            $0.faults.busyTries = 1
            $0.faults.otherTopicTokens = [fleet.behind[3].token]
            $0.faults.refuseEvery = 37
            $0.faults.serviceErrors = .init(afterN: 100, count: 5, status: 503, retryAfter: 1)
            $0.faults.goAwayAfter = 150
            $0.faults.goAwayTimes = 1
            $0.faults.goAwayReason = "x\u{1B}[2J\nforged \(fleet.behind[0].token)"
            $0.faults.cutAfter = 120
            $0.faults.cutTimes = 1
        }
        try bench.start(logLevel: "debug")
        let relay = try #require(bench.relay)
        let apiToken = try bench.command("tokens", "create", "--name", "ci", "--scope", "status", "--scope", "devices")
            .output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(apiToken.hasPrefix("urt_"))
        try bench.register(fleet)

        var secrets: [String] =
            fleet.devices.compactMap(\.telephone) + fleet.devices.map { String($0.token.prefix(16)) }
        // Tokens of the fleet begin with zeros and differ at their end.
        secrets += fleet.devices.map { String($0.token.suffix(16)) }
        secrets += [apiToken, try String(contentsOf: bench.folder.appending(path: "webhook-secret"), encoding: .utf8)]
        secrets += String(decoding: bench.key.pem, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("-----") }
        secrets += try refusedRequests(to: relay.address, bench, fleet, apiToken)

        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try importWithFaults(bench, &secrets)
        try failuresOfItsOwn(bench, fleet)
        try bench.follow(id) { $0.counts["pending"] == 0 && $0.counts["inFlight"] == 0 && $0.counts["retrying"] == 0 }
        try badReloads(bench, relay, &secrets)
        let provider = try bench.sql("SELECT token FROM provider_token").output
        secrets += provider.split(separator: "\n").flatMap { $0.split(separator: ".") }.map(String.init)
        #expect(provider.contains("."), "the provider token is not where the test looks")

        relay.send(SIGTERM)
        #expect(relay.wait().status == 0)
        let log = relay.log
        #expect(log.contains("a request failed") && log.contains("not reloaded"), "too little happened:\n\(log)")
        for secret in Set(secrets) where secret.utf8.count >= 8 {
            #expect(!log.contains(secret), "\(secret) is in the log:\n\(log)")
        }
        for line in log.split(separator: "\n") where !line.hasPrefix("(end of log)") {
            #expect(line.prefix { $0 != " " }.hasSuffix("Z"), "a line that the log did not begin: \(line)")
            #expect(
                line.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && $0.value != 0x7F && !(0x80...0x9F).contains($0.value)
                })
        }
    }

    /// Requests of all kinds that are refused, with personal data and secrets wherever they can stand.
    ///
    /// - Returns: the secrets that only these requests held.
    private func refusedRequests(
        to address: String, _ bench: Workbench, _ fleet: Fleet, _ apiToken: String
    ) throws -> [String] {
        let device = fleet.behind[1]
        let telephone = device.telephone ?? ""
        let wrong = "urt_wrong-token-that-nobody-made-0123456789"
        let path = "/v1/apps/\(Workbench.app)/ios/devices/\(device.token)"
        let requests: [(String, String, [(String, String)], String?)] = [
            ("GET", path, [], nil), ("GET", path, [("authorization", "Bearer \(wrong)")], nil),
            ("GET", path, [("authorization", "Bearer \(apiToken) \(apiToken)")], nil),
            ("GET", path + "%00", [("authorization", "Bearer \(apiToken)")], nil),
            ("GET", path + "/\(device.token)", [("authorization", "Bearer \(apiToken)")], nil),
            ("PUT", path, [("authorization", "Bearer \(apiToken)")], "{\"telephone\":\(telephone)}"),
            ("PUT", path + "zz", [("authorization", "Bearer \(apiToken)")], "{\"telephone\":\"\(telephone)\"}"),
            ("PUT", path, [("authorization", "Bearer \(apiToken)")], "{\"telephone\":\"\(telephone)\\u0000\",\"x\":1"),
            (
                "GET", "/v1/deliveries?telephone=\(telephone)&token=\(device.token)&x=\(telephone)",
                [("authorization", "Bearer \(apiToken)")], nil
            ),
            (
                "GET",
                "/v1/check?app=\(Workbench.app)&platform=ios&version=x&telephone=\(telephone)&token=\(device.token)",
                [], nil
            ),
            (
                "POST", "/v1/webhooks/version",
                [
                    ("webhook-id", device.token), ("webhook-timestamp", telephone),
                    ("webhook-signature", "v1,\(wrong)"),
                ], "{\"telephones\":[\"\(telephone)\"]}"
            ),
            ("POST", "/v1/webhooks/gitlab/\(Workbench.app)/ios", [("x-gitlab-token", wrong)], "{}"),
            (
                "POST", "/v1/webhooks/github/\(Workbench.app)/ios", [("x-hub-signature-256", "sha256=\(device.token)")],
                telephone
            ),
            ("POST", "/v1/tokens", [("authorization", "Bearer \(apiToken)")], "{\"name\":\"\(wrong)\",\"scopes\":[]}"),
        ]
        for (method, path, headers, body) in requests {
            var request = HTTPRequest(method, "http://\(address)\(path)")
            request.headers = headers.map { (name: $0.0, value: $0.1) }
            if let body { request.body = Array(body.utf8) }
            let status = try HTTPClient().send(request).status
            #expect((400..<500).contains(status), "\(method) \(path): \(status)")
        }
        return [wrong]
    }

    private func importWithFaults(_ bench: Workbench, _ secrets: inout [String]) throws {
        secrets += ["13977770001", "13977770002", "feedfacefeedface01"]
        let lines = [
            #"{"token":"feedfacefeedface01","telephone":13977770001}"#, #"{"token":"xyz","telephone":"13977770002"}"#,
            #"{"token":"feedfacefeedface01","telephone":"13977770001""#,
        ]
        let result = try bench.command(
            "devices", "import", "-", "--app", Workbench.app, "--platform", "ios", input: lines.joined(separator: "\n"))
        #expect(result.status == 1 && result.errors.contains("line 3"), "\(result)")
    }

    /// The store refuses in the middle of requests that carry personal data: the answer is 500, and the log has the reason.
    private func failuresOfItsOwn(_ bench: Workbench, _ fleet: Fleet) throws {
        #expect(try bench.sql("ALTER TABLE former_telephone RENAME TO gone").status == 0)
        let device = fleet.behind[5]
        let path = "/v1/apps/\(Workbench.app)/ios/devices/\(device.token)"
        let answer = try bench.api("PUT", path, body: Array(#"{"telephone":"13800000007"}"#.utf8))
        #expect(answer.status == 500)
        let telephone = try bench.api("GET", "/v1/deliveries?telephone=\(device.telephone ?? "")")
        #expect(telephone.status == 500)
        #expect(try bench.sql("ALTER TABLE gone RENAME TO former_telephone").status == 0)
    }

    /// Reloads files with secrets in the wrong places.
    private func badReloads(_ bench: Workbench, _ relay: RelayProcess, _ secrets: inout [String]) throws {
        let file = bench.folder.appending(path: "config.json5")
        let good = try String(contentsOf: file, encoding: .utf8)
        let inline = "whsec_aW5saW5lc2VjcmV0aW5saW5lc2VjcmV0"
        secrets.append(inline)
        for (number, bad) in [
            good.replacing("secrets: [{", with: "secrets: [\"\(inline)\", {"),
            good.replacing(
                "{ file: \"\(bench.path("key.p8"))\" }", with: "{ file: \"\(bench.path("webhook-secret"))\" }"),
            good + "\u{1B}[2J\nforged",
        ].enumerated() {
            #expect(bad != good)
            try Data(bad.utf8).write(to: file)
            relay.send(SIGHUP)
            #expect(relay.waitForLine(" not reloaded", times: number + 1, within: .seconds(60)), "\(relay.log)")
        }
        try Data(good.utf8).write(to: file)
    }
}
