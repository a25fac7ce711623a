// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayAPI

/// A user in one line: the state that is chosen, and its sentence.
@Suite struct UserSummaryTests {
    typealias Row = VerdictTableTests.Row

    struct Device: Sendable {
        var version: String?
        var system: String?
        var isDead = false
        /// Seconds after the first registration.
        var age = 0
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rows: [Row] = []
        var devices = [Device(version: "1.9.0")]
        var telephone = VerdictTableTests.late
        var platform = Platform.android
        /// The end of the highest requirement's wait, in seconds from now.
        var waitEnds: Int?
        var offer = StoreOffer.Answer.yes
        var hasURL = true
        var endsOlderSystems = false
        var isConfigured = true
        /// When the waves of the first requirement have begun, in seconds before now.
        var waves: [Int?] = []
        var sentence: String
    }

    private static let now = Bench.now
    /// 11:02 on the day of `now`.
    private static let inForceAt = Bench.now - .seconds(40_260)

    static let floor = Row(version: "2.1.0")

    static let cases: [Case] = [
        Case(
            testDescription: "locked out", rows: [floor],
            sentence: "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "on iOS, and the store has it not yet", rows: [floor], platform: .ios, offer: .notYet,
            sentence: "Locked out on iOS since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: not yet."),
        Case(
            testDescription: "no store is asked", rows: [floor], offer: .unknown,
            sentence:
                "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: unknown."),
        Case(
            testDescription: "a blocked version", rows: [Row(version: "1.9.0", kind: .blocked)],
            sentence: "Locked out on Android since 11:02 UTC: has 1.9.0, which is blocked. No push. Can get it: yes."),
        Case(
            testDescription: "the service ends for the phone", rows: [Row(version: "2.1.0", minimumOS: "29")],
            devices: [Device(version: "1.9.0", system: "28")], endsOlderSystems: true,
            sentence: "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: no."),
        Case(
            testDescription: "named by the canary",
            rows: [Row(version: "2.1.0", reach: 0, canary: [VerdictTableTests.late])],
            sentence: "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "named by a canary that is over: its time is not kept",
            rows: [Row(version: "2.1.0", canary: [VerdictTableTests.late])],
            sentence: "Locked out on Android: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "in the second wave", rows: [floor], waves: [40_000, 3600],
            sentence: "Locked out on Android since 21:13 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "in the first wave", rows: [Row(version: "2.1.0", reach: 5000)],
            telephone: VerdictTableTests.early, waves: [90_000, nil],
            sentence:
                "Locked out on Android since 2023-11-13 21:13 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."
        ),
        Case(
            testDescription: "the wave has not come", rows: [Row(version: "2.1.0", reach: 5000)], waves: [3600, nil],
            sentence:
                "Will be asked to upgrade on Android: 2.1.0 will be required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "not named by the canary", rows: [Row(version: "2.1.0", reach: 0, canary: ["138"])],
            sentence:
                "Will be asked to upgrade on Android: 2.1.0 will be required, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "the store does not offer it", rows: [Row(version: "2.1.0", state: .waiting)],
            offer: .notYet,
            sentence:
                "Will be asked to upgrade on Android: 2.1.0 will be required, has 1.9.0. No push. Can get it: not yet."),
        Case(
            testDescription: "its moment lies ahead",
            rows: [Row(version: "2.1.0", state: .announced, requiredFrom: now + .seconds(3600))], waitEnds: 3600,
            sentence:
                "Will be asked to upgrade on Android from 23:13 UTC: 2.1.0 will be required, has 1.9.0. No push. Can get it: yes."
        ),
        Case(
            testDescription: "its moment is on another day",
            rows: [Row(version: "2.1.0", state: .announced, requiredFrom: now + .seconds(7200))], waitEnds: 7200,
            sentence:
                "Will be asked to upgrade on Android from 2023-11-15 00:13 UTC: 2.1.0 will be required, has 1.9.0. No push. Can get it: yes."
        ),
        Case(
            testDescription: "a version that will be blocked",
            rows: [Row(version: "1.9.0", kind: .blocked, state: .waiting)],
            sentence:
                "Will be asked to upgrade on Android: has 1.9.0, which will be blocked. No push. Can get it: yes."),
        Case(
            testDescription: "a withdrawn requirement is none", rows: [Row(version: "2.1.0", state: .withdrawn)],
            sentence: "Not locked out on Android: nothing is required, has 1.9.0. No push."),
        Case(
            testDescription: "another program's requirement that is not taken up",
            rows: [Row(version: "2.1.0", state: .asked)],
            sentence: "Not locked out on Android: nothing is required, has 1.9.0. No push."),
        Case(
            testDescription: "current", rows: [floor], devices: [Device(version: "2.1.0")],
            sentence: "Not locked out on Android: 2.1.0 is required, has 2.1.0. No push."),
        Case(
            testDescription: "an announced version",
            rows: [Row(version: "2.1.0", kind: .latest, state: .announced)],
            sentence: "Not locked out on Android: 2.1.0 is announced, has 1.9.0. No push. Can get it: yes."),
        Case(
            testDescription: "the system is too old", rows: [Row(version: "2.1.0", minimumOS: "29")],
            devices: [Device(version: "1.9.0", system: "28")],
            sentence: "Not locked out on Android: 2.1.0 needs a newer system, has 1.9.0. No push. Can get it: no."),
        Case(
            testDescription: "no download URL", rows: [floor], hasURL: false,
            sentence:
                "Not locked out on Android: 2.1.0 is required, has 1.9.0, and there is no download URL. No push. Can get it: yes."
        ),
        Case(
            testDescription: "an unknown version", rows: [floor], devices: [Device()],
            sentence: "Version unknown on Android: 2.1.0 is required since 11:02 UTC. No push. Can get it: yes."),
        Case(
            testDescription: "an unknown version, and a requirement that waits",
            rows: [Row(version: "2.1.0", state: .waiting)], devices: [Device()], offer: .notYet,
            sentence: "Version unknown on Android: 2.1.0 will be required. No push. Can get it: not yet."),
        Case(
            testDescription: "an unknown version, and nothing is required", devices: [Device()],
            sentence: "Not locked out on Android: nothing is required. No push."),
        Case(
            testDescription: "no device", rows: [floor], devices: [],
            sentence: "No device on Android: 2.1.0 is required. No push."),
        Case(
            testDescription: "not configured", rows: [floor], isConfigured: false,
            sentence: "Not configured on Android: the app gets no answer here. No push."),
        // Several devices.
        Case(
            testDescription: "the device that is locked out", rows: [floor],
            devices: [Device(version: "2.1.0"), Device(version: "1.9.0"), Device(version: "2.2.0", age: 9)],
            sentence:
                "Locked out on Android (1 of 3 devices) since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."
        ),
        Case(
            testDescription: "two in one state: the one that was registered later", rows: [floor],
            devices: [Device(version: "1.8.0"), Device(version: "1.9.0", age: 9)],
            sentence:
                "Locked out on Android (2 of 2 devices) since 11:02 UTC: 2.1.0 is required, has 1.9.0. No push. Can get it: yes."
        ),
        Case(
            testDescription: "a dead token comes last", rows: [floor],
            devices: [Device(version: "1.9.0", isDead: true, age: 9), Device(version: "2.1.0")],
            sentence: "Not locked out on Android (1 of 2 devices): 2.1.0 is required, has 2.1.0. No push."),
    ]

    private static func record(_ rows: [Row], _ platform: Platform, hasWaves: Bool) throws -> VersionRecord {
        let requirements = try rows.enumerated().map { index, row in
            var requirement = Requirement(
                id: Int64(index + 1), kind: row.kind, version: try Version(row.version), state: row.state,
                reach: row.reach, isGated: false, changed: .relay(at: now))
            requirement.canary = row.canary
            requirement.requiredFrom = row.requiredFrom
            requirement.minimumOS = try row.minimumOS.map { try Version($0) }
            if hasWaves || row.reach == 5000 { requirement.stages = WavePlan(ends: [5000, 10_000]) }
            if row.state == .inForce { requirement.inForceAt = inForceAt }
            return requirement
        }
        return VersionRecord(AppKey(app: "com.example.app", platform: platform), Requirements(requirements))
    }

    private static func campaigns(_ record: VersionRecord, waves: [Int?]) throws -> [CampaignRecord] {
        guard let row = record.requirements.rows.first, !waves.isEmpty else { return [] }
        var campaign = CampaignRecord(
            id: "1f0c2ab93d44", app: record.app,
            facts: CampaignFacts(
                key: CampaignKey(row: 1), requirement: row.id, state: .running, createdAt: now, expiresAt: now,
                timeToLive: .seconds(60), downloadURL: "https://example.com/app"), requirement: row)
        campaign.figures.waves = CampaignWaves(
            waves.enumerated().map { number, ago in
                CampaignWave(
                    number: number, end: (number + 1) * 5000, devices: 1, pending: 1,
                    begunAt: ago.map { now - .seconds($0) })
            })
        return [campaign]
    }

    static func summary(of one: Case, pushes: [UserExplanation.Push] = []) throws -> UserSummary {
        let record = try record(one.rows, one.platform, hasWaves: !one.waves.isEmpty)
        var profile = AppProfile(downloadURL: one.hasURL ? "https://example.com/app" : nil, alert: "")
        profile.belowMinimumOS = one.endsOlderSystems ? .deny : .allow
        let checks = CheckAnswers(record.requirements, profile)
        let summarizer = UserSummarizer(
            record: record, telephone: one.telephone, campaigns: try campaigns(record, waves: one.waves),
            wait: one.waitEnds.map { RequirementWait(.time(now + .seconds($0)), "its moment") }, rules: checks.rules
        ) { _, _ in StoreOffer(one.offer, "the store says so", askedAt: now) }
        let devices = try one.devices.enumerated().map { index, device in
            let registration = DeviceRegistration(
                app: record.app, token: "ab0\(index)", telephone: one.telephone,
                version: try device.version.map { try Version($0) },
                osVersion: try device.system.map { try Version($0) })
            let record = DeviceRecord(
                id: Int64(index + 1), registration: registration, registeredAt: now + .seconds(device.age),
                retiredAt: device.isDead ? now : nil)
            let answer = checks.answer(to: registration.version, user: registration.user)
            return (record: record, answer: one.isConfigured ? answer : nil)
        }
        return summarizer.summary(devices, pushes)
    }

    @Test("each state in one sentence", arguments: cases)
    func sentences(one: Case) throws {
        #expect(try Self.summary(of: one).sentence(at: Self.now) == one.sentence)
    }

    // MARK: Pushes

    struct PushCase: Sendable, CustomTestStringConvertible {
        var state: DeliveryState
        var reason: String?
        var of = "2.1.0"
        var isBlock = false
        /// Seconds before now.
        var ago = 39_260
        var words: String

        var testDescription: String { words }
    }

    @Test(
        "the last push, with its outcome and its time",
        arguments: [
            PushCase(state: .accepted, words: "Push accepted 11:19 UTC."),
            PushCase(state: .accepted, ago: 90_000, words: "Push accepted 2023-11-13 21:13 UTC."),
            PushCase(state: .accepted, of: "2.0.0", words: "Push of 2.0.0 accepted 11:19 UTC."),
            PushCase(
                state: .accepted, of: "1.9.0", isBlock: true, words: "Push of the block of 1.9.0 accepted 11:19 UTC."),
            PushCase(state: .pending, words: "Push in line."), PushCase(state: .inFlight, words: "Push in line."),
            PushCase(state: .retrying, reason: "HTTP 503", words: "Push not taken 11:19 UTC, tried again (HTTP 503)."),
            PushCase(state: .retrying, words: "Push not taken 11:19 UTC, tried again."),
            PushCase(state: .rejected, reason: "BadDeviceToken", words: "Push rejected 11:19 UTC (BadDeviceToken)."),
            PushCase(state: .rejected, words: "Push rejected 11:19 UTC."),
            PushCase(state: .unregistered, reason: "Unregistered", words: "Push failed 11:19 UTC: its token is dead."),
            PushCase(state: .expired, words: "Push expired 11:19 UTC."),
            PushCase(state: .filtered, reason: "alreadyCurrent", words: "Push left out 11:19 UTC (alreadyCurrent)."),
            PushCase(state: .filtered, words: "Push left out 11:19 UTC."),
            PushCase(state: .cancelled, words: "Push cancelled 11:19 UTC."),
        ])
    func pushes(one: PushCase) throws {
        func push(_ state: DeliveryState, device: Int64) throws -> UserExplanation.Push {
            UserExplanation.Push(
                delivery: Delivery(
                    campaign: "1f0c2ab93d44", app: Bench.app, device: device, token: "ab00", telephone: "138",
                    state: state, reason: one.reason, attempts: 1, nextAttemptAt: nil,
                    updatedAt: Self.now - .seconds(one.ago)),
                target: UpgradeTarget(try Version(one.of), isBlock: one.isBlock))
        }
        let pushes = [try push(.cancelled, device: 7), try push(one.state, device: 1), try push(.expired, device: 1)]
        let locked = Case(testDescription: "", rows: [Self.floor], sentence: "")
        let summary = try Self.summary(of: locked, pushes: pushes)
        #expect(
            summary.sentence(at: Self.now)
                == "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. \(one.words) Can get it: yes.")
        let gone = try Self.summary(
            of: Case(testDescription: "", rows: [Self.floor], devices: [], sentence: ""), pushes: pushes)
        #expect(gone.push?.delivery.device == 7, "without a device, the newest push of the user is shown")
    }
}
