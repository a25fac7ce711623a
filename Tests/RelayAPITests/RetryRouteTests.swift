// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

/// `POST /v1/campaigns/{id}/retry`.
@Suite(.serialized, .ownThread) struct RetryRouteTests {
    private func cancelled(_ bench: Bench) throws -> String {
        try bench.store.register(
            [DeviceRegistration(app: Bench.app, token: "ab", telephone: "138", version: nil)], at: Bench.now)
        let id = try bench.campaign(required: "2.0")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/cancel").status == 200)
        return id
    }

    @Test func whatWasCancelledIsOpenAgainAndTheAnswerSaysForWhom() throws {
        let bench = try Bench()
        let id = try cancelled(bench)
        let answer = try bench.ask("POST", "/v1/campaigns/\(id)/retry", #"{"states":["cancelled"]}"#)
        #expect(answer.status == 200 && answer.text("state") == "running", "\(answer.body)")
        #expect(
            answer.body.contains(#""rounds":[{"type":"retry","states":["cancelled"],"dueAt":null,"begunAt":""#),
            "\(answer.body)")
        #expect(answer.body.contains(#""nextReminderAt":null"#) && answer.body.contains(#""finishedAt":null"#))
    }

    @Test func withoutABodyItIsAllThatDidNotArrive() throws {
        let bench = try Bench()
        let id = try cancelled(bench)
        let answer = try bench.ask("POST", "/v1/campaigns/\(id)/retry")
        #expect(answer.body.contains(#""states":["rejected","expired","cancelled"]"#), "\(answer.body)")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/retry").status == 409, "it runs")
    }

    @Test(arguments: [
        #"{"states":[]}"#, #"{"states":["accepted"]}"#, #"{"states":["rejected",7]}"#, #"{"states":"rejected"}"#,
    ])
    func aWrongStateIsRefusedWithWhatItHeldAndWhatWouldBeRight(body: String) throws {
        let bench = try Bench()
        let id = try cancelled(bench)
        let answer = try bench.ask("POST", "/v1/campaigns/\(id)/retry", body)
        #expect(answer.status == 422 && answer.body.contains("one or more of rejected, cancelled, expired"))
        #expect(try bench.store.campaign(id: id)?.state == .cancelled)
    }

    @Test func anUnknownFieldAndAnUnknownCampaignAreRefused() throws {
        let bench = try Bench()
        let id = try cancelled(bench)
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/retry", #"{"state":["rejected"]}"#).status == 422)
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/retry", "[").status == 400)
        #expect(try bench.ask("POST", "/v1/campaigns/0123456789ab/retry").status == 404)
    }

    @Test func aSupersededCampaignIsAConflict() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0")
        _ = try bench.campaign(required: "3.0")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/retry").status == 409)
    }
}
