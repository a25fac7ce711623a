// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// The steps of a rollout with their states, their figures and the conditions of those to come.
@Suite struct RolloutStagesTests {
    private static let rules = WaveRules(pause: .seconds(3600), failedShare: 0.05)

    private static func states(_ campaign: CampaignRecord) -> [Rollout.Stage.State] {
        Rollout.stages(of: campaign, rules).map(\.state)
    }

    @Test func `A canary is sent to first, is done when its devices have an outcome, and a person begins what follows`()
        throws
    {
        var campaign = try RolloutTests.campaign(canary: .alone, stages: [500, 10_000])
        (campaign.figures.counts.pending, campaign.figures.counts.accepted) = (97, 2)
        campaign.figures.counts.rejected = 1
        #expect(Self.states(campaign) == [.current, .next, .later])
        campaign.figures.canaryEndedAt = RolloutTests.time + .seconds(60)
        let stages = Rollout.stages(of: campaign, Self.rules)
        #expect(stages.map(\.state) == [.done, .next, .later])
        #expect(stages.map(\.step) == [.canary(numbers: 2), .share(parts: 500), .everybody])
        #expect(
            stages.map(\.start) == [.requirement, .person, .itself(pause: .seconds(3600), failedShare: 0.05)])
        #expect(stages[0].figures?.devices == 3 && stages[0].figures?.accepted == 2 && stages[1].figures == nil)
        #expect(stages[0].figures?.pending == 0, "the other users are no devices of the canary")
        #expect(stages[0].begunAt == RolloutTests.time && stages[0].endedAt == RolloutTests.time + .seconds(60))
    }

    @Test func `Each wave has its own figures`() throws {
        var campaign = try RolloutTests.campaign(stages: [500, 3000, 10_000], begun: 2)
        var list = campaign.figures.waves.list
        (list[0].pending, list[0].accepted, list[0].failed) = (0, 9, 1)
        list[0].endedAt = RolloutTests.time
        campaign.figures.waves = CampaignWaves(list)
        let stages = Rollout.stages(of: campaign, Self.rules)
        #expect(stages.map(\.state) == [.done, .current, .next])
        #expect(stages[0].figures?.accepted == 9 && stages[0].figures?.failed == 1)
        #expect(stages[1].figures?.pending == 10 && stages[2].figures == nil)
    }

    @Test func `A person begins each wave where the configuration says so`() throws {
        let campaign = try RolloutTests.campaign(stages: [500, 10_000], begun: 1)
        let stages = Rollout.stages(of: campaign, WaveRules(pause: .zero, needsApproval: true))
        #expect(stages[1].start == .person)
        #expect(Rollout.stages(of: campaign, nil)[1].start == .unknown, "there are no rules any more")
    }

    @Test func `Without canary and waves there is one step with all figures`() throws {
        var campaign = try RolloutTests.campaign()
        (campaign.figures.counts.pending, campaign.figures.counts.accepted) = (58, 40)
        campaign.figures.counts.rejected = 2
        let stages = Rollout.stages(of: campaign, nil)
        #expect(stages.map(\.step) == [.everybody] && stages[0].state == .current)
        #expect(stages[0].figures?.devices == 100 && stages[0].figures?.failed == 2)
        campaign.facts.finishedAt = RolloutTests.time
        campaign.facts.state = .completed
        #expect(Self.states(campaign) == [.done])
    }

    @Test func `Steps that a cancelled campaign had not begun are left out`() throws {
        var campaign = try RolloutTests.campaign(stages: [500, 3000, 10_000], begun: 1)
        campaign.facts.state = .cancelled
        #expect(Self.states(campaign) == [.done, .leftOut, .leftOut])
        var waiting = try RolloutTests.campaign(stages: [500, 10_000], isStarted: false)
        waiting.facts.state = .waiting
        #expect(Self.states(waiting) == [.next, .later])
    }
}
