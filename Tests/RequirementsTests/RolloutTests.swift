// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

@Suite("The way on which a campaign reaches its users")
struct RolloutTests {
    static let time = Timestamp(seconds: 1_800_000_000)

    static func campaign(
        canary: CampaignCanary.Phase? = nil, stages: [Int]? = nil, begun: Int = 0, isStarted: Bool = true
    ) throws -> CampaignRecord {
        var requirement = Requirement(
            id: 1, kind: .required, version: try Version("2.0.0"), state: .inForce,
            reach: canary == .alone ? 0 : Requirement.everybody, isGated: false,
            changed: Signature(by: "alice", via: "cli", at: time))
        requirement.canary = canary.map { _ in ["1", "2"] }
        requirement.stages = stages.flatMap { WavePlan(ends: $0) }
        var facts = CampaignFacts(
            key: CampaignKey(row: 1), requirement: 1, state: .running, createdAt: time, expiresAt: time,
            timeToLive: .seconds(60),
            downloadURL: "https://example.com")
        facts.startedAt = isStarted ? time : nil
        var record = CampaignRecord(
            id: "1f0c2ab93d44", app: AppKey(app: "com.example.app", platform: .ios), facts: facts,
            requirement: requirement)
        if begun > 0, let stages {
            record.figures.waves = CampaignWaves(
                stages.enumerated().map { number, end in
                    var wave = CampaignWave(number: number, end: end, devices: 10, pending: 10)
                    if number < begun { wave.begunAt = time }
                    return wave
                })
        }
        return record
    }

    @Test("A campaign without canary and waves goes to everybody at once")
    func atOnce() throws {
        let rollout = Rollout(try Self.campaign())
        #expect(rollout.steps == [.everybody] && rollout.next == nil && rollout.words == "everybody")
        #expect(Rollout(try Self.campaign(isStarted: false)).next == .everybody)
    }

    @Test("A release of a canary begins its first wave, where there are waves, and does not send to everybody")
    func canary() throws {
        let alone = Rollout(try Self.campaign(canary: .alone, stages: [500, 3000, 10_000]))
        #expect(alone.next == .share(parts: 500) && alone.release == "sends to 5 % of the users")
        #expect(
            alone.words
                == "the canary of 2 phone numbers, then 5 % of the users, then 30 % of the users, then everybody")
        let plain = Rollout(try Self.campaign(canary: .alone))
        #expect(plain.next == .everybody && plain.release == "sends to everybody")
        #expect(Rollout(try Self.campaign(canary: .released)).next == nil)
    }

    @Test("The next step is that of the waves that have not begun", arguments: 1...3)
    func waves(_ begun: Int) throws {
        let rollout = Rollout(try Self.campaign(stages: [500, 3000, 10_000], begun: begun))
        #expect(rollout.next == [.share(parts: 3000), .everybody, nil][begun - 1])
        #expect(rollout.begun == begun)
    }

    @Test("A moment or a store is waited for before the first step")
    func notBegun() throws {
        let rollout = Rollout(try Self.campaign(stages: [500, 10_000], isStarted: false))
        #expect(rollout.begun == 0 && rollout.next == .share(parts: 500))
    }
}
