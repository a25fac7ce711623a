// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// An app in one line: each state that a rollout can be in.
@Suite struct AppSummaryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var state: Requirement.State? = .inForce
        var kind = Requirement.Kind.required
        var reach = Requirement.everybody
        /// The version in force before.
        var before: String?
        var latest: String?
        var campaign: CampaignState? = .running
        var isStarted = true
        var wait: Wait?
        var canary = CampaignCanary.Phase?.none
        var waves: [Int] = []
        var begunWaves = 0
        var needsApproval = false
        /// Pending, accepted, already current.
        var counts: (pending: Int64, accepted: Int64, current: Int64) = (50, 40, 10)
        var upgraded: Int64 = 0
        /// Devices that have the version, of 1000; nil: never counted.
        var have: Int64? = 340
        var line: String
    }

    private static let now = Bench.now

    static let cases: [Case] = [
        Case(testDescription: "nothing", state: nil, line: "Nothing is required."),
        Case(
            testDescription: "only announced", state: nil, latest: "2.0.0",
            line: "Nothing is required, 2.0.0 is the latest."),
        Case(
            testDescription: "between waves, for a person", reach: 500, wait: .approval, waves: [500, 3000, 10_000],
            begunWaves: 1, counts: (95, 5, 0),
            line:
                "2.1.0 is required in steps; 34 % have it; 5 % were pushed to so far; next step: you, to 30 % of the users."
        ),
        Case(
            testDescription: "in a wave, then a person", reach: 500, waves: [500, 10_000], begunWaves: 1,
            needsApproval: true, counts: (95, 5, 0),
            line:
                "2.1.0 is required in steps; 34 % have it; 5 % were pushed to so far; next step: you, to everybody, when this wave is done."
        ),
        Case(
            testDescription: "in a wave, then by itself", reach: 500, waves: [500, 10_000], begunWaves: 1,
            counts: (95, 5, 0), have: nil,
            line: "2.1.0 is required in steps; 5 % were pushed to so far; next step: by itself, to everybody."),
        Case(
            testDescription: "between waves, at a time", reach: 500, wait: .wave(now), waves: [500, 10_000],
            begunWaves: 1, counts: (95, 5, 0), have: nil,
            line:
                "2.1.0 is required in steps; 5 % were pushed to so far; next step: by itself at 2023-11-14T22:13:20.000Z, to everybody."
        ),
        Case(
            testDescription: "the canary is sent to", reach: 0, wait: .canary, canary: .alone, have: nil,
            line:
                "2.1.0 is required in steps; only the canary was pushed to so far; next step: you, to everybody, when the canary is done."
        ),
        Case(
            testDescription: "the canary is done", reach: 0, wait: .release, canary: .alone, have: nil,
            line:
                "2.1.0 is required in steps; only the canary was pushed to so far; next step: you, to everybody."),
        Case(
            testDescription: "sent to everybody at once", have: nil,
            line: "2.1.0 is required; 40 % were pushed to so far; next step: none, the rest is being sent."),
        Case(
            testDescription: "all is sent: the campaign's own count is newer", campaign: .completed,
            counts: (0, 80, 20), upgraded: 31,
            line: "2.1.0 is required; 51 % have it; 80 % were pushed to; nothing is left to do."),
        Case(
            testDescription: "cancelled", campaign: .cancelled, have: nil,
            line: "2.1.0 is required; 40 % were pushed to; the rest was cancelled."),
        Case(
            testDescription: "paused", campaign: .paused, wait: .pause, have: nil,
            line: "2.1.0 is required; 40 % were pushed to so far; next step: you, since it is paused."),
        Case(
            testDescription: "suspended", campaign: .suspended, wait: .fault(.credential), have: nil,
            line: "2.1.0 is required; 40 % were pushed to so far; next step: you, since something is wrong."),
        Case(
            testDescription: "an outage", wait: .service, have: nil,
            line:
                "2.1.0 is required; 40 % were pushed to so far; next step: by itself, once pushes are taken again."),
        Case(
            testDescription: "outside the hours", wait: .hours(now), have: nil,
            line:
                "2.1.0 is required; 40 % were pushed to so far; next step: by itself at 2023-11-14T22:13:20.000Z."),
        Case(
            testDescription: "waits for its store, above another version", state: .waiting, before: "2.0.0",
            campaign: .waiting, isStarted: false, wait: .store, have: 20,
            line:
                "2.1.0 will be required, 2.0.0 is so far; 2 % have it; no push was sent yet; next step: by itself, when the store offers it."
        ),
        Case(
            testDescription: "comes into force in a moment", state: .waiting, campaign: .waiting, isStarted: false,
            have: nil, line: "2.1.0 will be required; no push was sent yet; next step: by itself, to everybody."),
        Case(
            testDescription: "an app without campaigns", campaign: nil,
            line: "2.1.0 is required; 34 % have it; nothing is left to do."),
        Case(
            testDescription: "its store is gone", state: .waiting, campaign: .waiting, isStarted: false,
            wait: .lostStore, have: nil,
            line: "2.1.0 will be required; no push was sent yet; next step: you, since something is wrong."),
        Case(
            testDescription: "another program's version is not taken up", state: .asked,
            line: "Nothing is required."),
        Case(
            testDescription: "a block", kind: .blocked, have: 970,
            line:
                "2.1.0 is blocked; 97 % do not run it; 40 % were pushed to so far; next step: none, the rest is being sent."
        ),
        Case(
            testDescription: "a block that waits", state: .waiting, kind: .blocked, campaign: .waiting,
            isStarted: false, wait: .store, have: nil,
            line: "2.1.0 will be blocked; no push was sent yet; next step: by itself, when the store offers it."),
    ]

    @Test(arguments: cases) func `An app says in one line where it stands and who is next`(_ one: Case) throws {
        let app = Bench.app
        let version = try Version("2.1.0")
        func row(_ id: Int64, _ kind: Requirement.Kind, _ text: String, _ state: Requirement.State) throws
            -> Requirement
        {
            Requirement(
                id: id, kind: kind, version: try Version(text), state: state, isGated: false,
                changed: Signature(by: "alice", via: "cli", at: Self.now))
        }
        var rows: [Requirement] = []
        if let before = one.before { rows.append(try row(1, .required, before, .inForce)) }
        if let latest = one.latest { rows.append(try row(2, .latest, latest, .announced)) }
        var campaigns: [CampaignStatus] = []
        if let state = one.state {
            var wanted = try row(3, one.kind, "2.1.0", state)
            wanted.reach = one.reach
            wanted.canary = one.canary.map { _ in ["138"] }
            wanted.stages = WavePlan(ends: one.waves)
            rows.append(wanted)
            if let state = one.campaign { campaigns = [Self.status(of: wanted, state, one)] }
        }
        let shares = try one.have.map { have in
            let counted =
                one.kind == .blocked
                ? [(version, 1000 - have), (try Version("2.2.0"), have)]
                : [(try Version("1.9.0"), 1000 - have), (version, have)]
            return VersionShares.counted(
                counted.map { (version: $0.0, devices: $0.1) }, unknown: 0, after: nil, by: RetirementRules(),
                at: Self.now
            ).shares
        }
        let record = VersionRecord(app, Requirements(rows))
        let summary = AppSummary(
            VersionStatus(record, wait: nil) { _ in nil }, campaigns: campaigns, shares: shares)
        #expect(Self.line(summary) == one.line)
    }

    private static func status(of row: Requirement, _ state: CampaignState, _ one: Case) -> CampaignStatus {
        var facts = CampaignFacts(
            key: CampaignKey(row: 1), requirement: row.id, state: state, createdAt: now, expiresAt: now,
            timeToLive: .seconds(60), downloadURL: "https://example.com")
        facts.startedAt = one.isStarted ? now : nil
        var record = CampaignRecord(id: "1f0c2ab93d44", app: Bench.app, facts: facts, requirement: row)
        record.figures.isPlanned = one.isStarted
        let counts = one.counts
        (record.figures.counts.pending, record.figures.counts.accepted) = (counts.pending, counts.accepted)
        record.figures.counts.filtered = counts.current
        record.figures.filteredBy = [.alreadyCurrent: counts.current]
        record.figures.upgraded = one.upgraded
        record.figures.waves = CampaignWaves(
            one.begunWaves == 0
                ? []
                : one.waves.enumerated().map { number, end in
                    var wave = CampaignWave(number: number, end: end, devices: 10, pending: 0)
                    if number < one.begunWaves { wave.begunAt = now }
                    return wave
                })
        var status = CampaignStatus(
            record: record, counts: record.figures.counts, ratePerSecond: 0, secondsLeft: nil)
        status.wait = one.wait
        status.waveRules = one.waves.isEmpty ? nil : WaveRules(pause: .zero, needsApproval: one.needsApproval)
        return status
    }

    /// The line as the page writes it in English.
    private static func line(_ summary: AppSummary) -> String {
        summary.parts.map { part in
            TextPattern.filled(
                part.pattern.description,
                part.values.map { value in
                    switch value {
                    case .text(let text): text
                    case .share(let share): "\(share.part * 100 / share.whole) %"
                    case .step(let step): step.words
                    case .time(let time): time.internetTime
                    }
                })
        }.joined(separator: "; ") + "."
    }
}
