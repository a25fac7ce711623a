// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

@Suite("What an act on a campaign does, as its question says it")
struct CampaignEffectTests {
    private static func words(_ campaign: CampaignRecord, _ act: ActKind) -> String {
        campaign.effects(of: act).map(\.words).joined(separator: " ")
    }

    @Test("A cancelled canary takes its requirement back; one for everybody leaves it")
    func cancel() throws {
        var canary = try RolloutTests.campaign(canary: .alone)
        (canary.figures.counts.accepted, canary.figures.counts.pending) = (4, 1)
        #expect(
            Self.words(canary, .cancel)
                == "1 device gets no push. 2.0.0 is no longer required: what was in force before it is in force again.")
        var everybody = try RolloutTests.campaign()
        (everybody.figures.counts.accepted, everybody.figures.counts.retrying) = (480, 20)
        #expect(everybody.effects(of: .cancel) == [.leavesOut(devices: 20), .stays(everybody.requirement.target)])
    }

    @Test("A campaign that has not begun has counted no device")
    func uncounted() throws {
        var campaign = try RolloutTests.campaign(isStarted: false)
        (campaign.requirement.state, campaign.facts.state) = (.waiting, .waiting)
        #expect(
            campaign.effects(of: .cancel) == [.leavesOut(devices: nil), .takesBack(campaign.requirement.target)])
        #expect(
            Self.words(campaign, .releaseCampaign)
                == "2.0.0 is required now, whatever it waits for. It goes to everybody.")
    }

    @Test("A release and a resumption between two waves name the wave")
    func wave() throws {
        let canary = try RolloutTests.campaign(canary: .alone, stages: [500, 10_000])
        for act in [ActKind.approve, .releaseCampaign] {
            #expect(Self.words(canary, act) == "It goes to 5 % of the users. The step after that: everybody.")
        }
        var waves = try RolloutTests.campaign(stages: [500, 3000, 10_000], begun: 1)
        #expect(waves.effects(of: .resume) == [.goesOn(devices: 0)], "the first wave is not over")
        var list = waves.figures.waves.list
        list[0].endedAt = RolloutTests.time
        waves.figures.waves = CampaignWaves(list)
        let next = "Wave 2 of 3 begins: it goes to 30 % of the users. The step after that: everybody."
        #expect(Self.words(waves, .resume) == next)
        #expect(Self.words(waves, .approve) == "It goes to 30 % of the users. The step after that: everybody.")
        (waves.facts.state, waves.facts.cause) = (.suspended, .approval)
        #expect(waves.acts == [.approve, .resume, .releaseCampaign, .cancel])
        #expect(Self.words(waves, .approve) == next, "a wave that was held")
    }

    @Test("A block is no requirement", arguments: [true, false])
    func block(isForEverybody: Bool) throws {
        var campaign = try RolloutTests.campaign()
        campaign.requirement.kind = .blocked
        if !isForEverybody { campaign.requirement.state = .waiting }
        #expect(
            Self.words(campaign, .cancel).contains(
                isForEverybody ? "2.0.0 stays blocked: \"version unblock\"" : "2.0.0 is no longer blocked."))
    }

    @Test("Every act that a state allows has an effect, and none that it does not", arguments: CampaignState.allCases)
    func acts(_ state: CampaignState) throws {
        var campaign = try RolloutTests.campaign(isStarted: state != .waiting)
        campaign.facts.state = state
        for act in campaign.acts { #expect(!campaign.effects(of: act).isEmpty) }
        let acts: [ActKind] =
            switch state {
            case .waiting: [.pause, .approve, .releaseCampaign, .cancel]
            case .running: [.pause, .cancel]
            case .paused, .suspended: [.resume, .cancel]
            case .completed, .cancelled: [.retry]
            case .superseded: []
            }
        #expect(campaign.acts == acts)
        #expect(campaign.effects(of: .eraseUser).isEmpty)
    }

    @Test("An act on a version says what comes into force, and what stays")
    func versions() throws {
        let version = try Version("2.0.0")
        #expect(CampaignEffect.of(.release, version).map(\.words) == ["2.0.0 is required now, whatever it waits for."])
        #expect(
            CampaignEffect.of(.withdraw, version).map(\.words) == [
                "What was in force before it is in force again, on every channel.", "Pushes that were sent stay sent.",
            ])
        #expect(CampaignEffect.of(.unblock, version) == [.usableAgain] && CampaignEffect.of(.pause, version).isEmpty)
    }
}
