// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@Suite("Blocked versions, live", .ownThread) struct BlockLiveTests {
    private static let version = ResourceLiveTests.version
    private static let withdraw = "/v1/apps/com.example.app/ios/withdraw"

    private static func check(_ version: String, _ bench: Bench) throws -> Answer {
        try bench.askNetwork("GET", "/v1/check?app=com.example.app&platform=ios&version=\(version)")
    }

    private static func enforce(_ version: String, _ bench: Bench) throws -> Answer {
        try bench.askNetwork("GET", "/v1/enforce?app=com.example.app&platform=ios&version=\(version)")
    }

    @Test("a block is said by every channel that can say it, and taken back")
    func channels() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", Self.version, #"{"required":"2.0","latest":"2.2"}"#)
        // From then on there are warnings about the document.
        _ = try bench.askNetwork("GET", LaunchGateLiveTests.document)
        bench.clock.advance(by: .seconds(1))
        let answer = try bench.ask("PUT", Self.version, #"{"blocked":["2.1.5"],"message":"Leave it."}"#)
        #expect(answer.status == 202)
        #expect(answer.text("version", "required") == "2.0" && answer.text("version", "blocked", "0") == "2.1.5")
        #expect(answer.text("version", "message") == nil, "the words are the block's")
        #expect(answer.text("version", "blocks", "0", "state") == "inForce")
        #expect(
            answer.text("version", "blocks", "0", "inForceSince") == Bench.now.internetTime,
            "\(answer.body)")
        #expect(answer.text("version", "blocks", "0", "message") == "Leave it.")
        #expect(answer.text("blockCampaigns", "0", "blocked") == "2.1.5")
        #expect(answer.value("blockCampaigns", "0", "required") == .null && answer.value("campaign") == .null)
        #expect(answer.text("warnings", "0") == "no device was seen with 2.1.5")
        #expect(answer.text("warnings", "1")?.contains("the launch document has no word") == true)

        let told = try Self.check("2.1.5", bench)
        #expect(told.text("body", "hasNewVersion") == "1" && told.text("body", "needUpgrade") == "1")
        #expect(told.text("body", "blocked") == "2.1.5" && told.text("body", "message") == "Leave it.")
        #expect(told.text("body", "latest") == "2.2" && told.text("body", "required") == "2.0")
        #expect(try Self.check("2.1.4", bench).text("body", "needUpgrade") == "0")
        #expect(try Self.check("1.9", bench).value("body", "blocked") == nil, "the floor's answer")
        let refused = try Self.enforce("2.1.5", bench)
        #expect(refused.status == 426 && refused.text("type") == "urn:upgrade-relay:version-blocked")
        #expect(refused.text("blocked") == "2.1.5" && refused.value("required") == nil)
        #expect(refused.text("downloadUrl") != nil)
        for version in ["2.1.4", "2.1.6"] { #expect(try Self.enforce(version, bench).status == 204) }
        #expect(try Self.enforce("1.9", bench).text("required") == "2.0")
        #expect(
            try bench.askNetwork("GET", LaunchGateLiveTests.document).text("ios", "requiredUpdate", "minimumVersion")
                == "2.0")

        #expect(try bench.ask("PUT", Self.version, #"{"required":"2.1.5"}"#).status == 409)
        #expect(try bench.ask("PUT", Self.version, #"{"blocked":["2.1.5"]}"#).status == 200, "blocked already")
        let history = try bench.ask("GET", Self.version)
        #expect(history.text("history", "0", "blocked", "0") == "2.1.5")

        let unblocked = try bench.ask("POST", Self.withdraw, #"{"blocked":["2.1.5"],"reason":"mended"}"#)
        #expect(unblocked.status == 200 && unblocked.text("unblocked", "0") == "2.1.5")
        #expect(unblocked.count("version", "blocks") == 0)
        #expect(try Self.enforce("2.1.5", bench).status == 204)
        #expect(try Self.check("2.1.5", bench).text("body", "needUpgrade") == "0")
        #expect(try bench.ask("POST", Self.withdraw, #"{"blocked":["2.1.5"]}"#).status == 409)
        #expect(try bench.store.campaigns(before: nil, limit: 9).map(\.state) == [.cancelled, .running])
    }

    @Test(
        "what no list of versions is, is refused",
        arguments: [
            (#"{"blocked":[]}"#, "blocked"), (#"{"blocked":"2.1.5"}"#, "blocked"), (#"{"blocked":[2]}"#, "blocked[0]"),
            (#"{"blocked":["2.1.5","x"]}"#, "blocked[1]"),
        ])
    func refused(body: String, field: String) throws {
        let bench = try Bench()
        for (method, path) in [("PUT", Self.version), ("POST", Self.withdraw)] {
            let answer = try bench.ask(method, path, body)
            #expect(answer.status == 422 && answer.text("errors", "0", "field") == field)
        }
        #expect(
            try bench.ask("POST", Self.withdraw, #"{"blocked":["1"],"required":"2"}"#).text("errors", "0", "field")
                == "required")
    }
}
