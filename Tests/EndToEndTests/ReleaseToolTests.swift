// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushSimulator
import Signing
import TestPeers
import Testing
import WireFormat

/// Events of release tools, sent to the real binary.
@Suite(.serialized, .ownThread) struct ReleaseToolTests {
    /// FAULTS 1.28: an event of GitHub names no telephones.
    @Test func aReleaseOnGitHubBeginsWithTheCanaryOfTheConfiguration() throws {
        let fleet = Fleet(count: 20)
        let first = try #require(fleet.devices[3].telephone)
        let bench = try Workbench(iosKeys: #"webhooks: { sets: "required", canary: ["\#(first)"] },"#)
        try bench.start()
        try bench.register(fleet)
        let id = try bench.campaign(of: release("v1.10", to: bench))
        try bench.follow(id) { $0.counts["accepted"] == 1 && $0.counts["inFlight"] == 0 }
        #expect(bench.simulator.figures.accepted == 1)
        // The next release begins with the same users, without an operator.
        let next = try bench.campaign(of: release("v1.11", to: bench))
        try bench.follow(next) { $0.counts["accepted"] == 1 && $0.counts["inFlight"] == 0 }
        #expect(bench.simulator.figures.accepted == 2)
        #expect(try bench.api("POST", "/v1/campaigns/\(next)/release").status == 200)
        let end = try bench.follow(next) { $0.isFinal }
        #expect(end.counts["accepted"] == 20)
    }

    private func release(_ tag: String, to bench: Workbench) throws -> (status: Int, json: [String: Any]) {
        let address = try #require(bench.relay?.address)
        let body = Array(
            #"{"action":"published","release":{"tag_name":"\#(tag)","draft":false,"prerelease":false}}"#.utf8)
        var request = HTTPRequest("POST", "http://\(address)/v1/webhooks/github/\(Workbench.app)/ios")
        let secret = try String(contentsOfFile: bench.path("webhook-secret"), encoding: .utf8)
        let code = HMACSHA256.code(body, key: Array(secret.utf8))
        request.headers = [("X-GitHub-Event", "release"), ("X-Hub-Signature-256", "sha256=\(Hex.encode(code))")]
        request.body = body
        let response = try HTTPClient().send(request)
        let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return (response.status, json ?? [:])
    }
}
