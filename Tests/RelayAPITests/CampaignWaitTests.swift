// SPDX-License-Identifier: Apache-2.0
import OwnThread
import Testing

/// The reason that a campaign does not move, and its rollout steps, for programs.
@Suite(.serialized, .ownThread) struct CampaignWaitTests {
    @Test func aCampaignSaysWhatItWaitsForAndWhichWayItGoes() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0")
        let running = try bench.ask("GET", "/v1/campaigns/\(id)")
        let way = #""rollout":{"steps":["everybody"],"begun":1,"next":null}"#
        #expect(running.body.contains(#""wait":null,"# + way), "\(running.body)")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/pause").status == 200)
        let paused = try bench.ask("GET", "/v1/campaigns/\(id)")
        #expect(paused.body.contains(#""wait":{"reason":"pause","standing":"person","until":null},"#), "\(paused.body)")
    }
}
