// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayAPI

/// The matters that a person must see first, in their order, with who asked, since when, and the acts.
@Suite struct AttentionTests {
    private static let now = Bench.now

    private static func requirement(
        _ text: String, id: Int64 = 1, kind: Requirement.Kind = .required, _ state: Requirement.State = .inForce
    ) throws -> Requirement {
        Requirement(
            id: id, kind: kind, version: try Version(text), state: state, isGated: false,
            changed: Signature(by: "ci", via: "api", at: now))
    }

    private static func status(
        _ id: String, _ wait: Wait?, _ state: CampaignState = .running,
        change: (inout CampaignRecord) -> Void = { _ in }
    ) throws -> CampaignStatus {
        var facts = CampaignFacts(
            key: CampaignKey(row: Int64(id) ?? 0), requirement: 1, state: state, createdAt: now, expiresAt: now,
            timeToLive: .seconds(60), downloadURL: "https://example.com")
        facts.startedAt = now
        var record = CampaignRecord(id: id, app: Bench.app, facts: facts, requirement: try requirement("2.0.0"))
        change(&record)
        var status = CampaignStatus(
            record: record, counts: record.figures.counts, ratePerSecond: 0, secondsLeft: nil)
        status.wait = wait
        return status
    }

    private static func node(_ name: String, _ state: NodeRecord.State) -> NodeRecord {
        NodeRecord(
            lease: NodeLease(node: 1, incarnation: 1), description: NodeDescription(name: name, release: "1.0.0"),
            state: state, joinedAt: now, aliveUntil: now + .seconds(7), leads: false, campaigns: [], clockAhead: .zero)
    }

    private static func name(_ matter: Attention) -> String {
        switch matter.subject {
        case .campaign(let status): "campaign \(status.record.id)"
        case .version(_, let row, _): "version \(row.version)"
        case .relay(let node): "relay \(node.description.name)"
        case .fault(let fault): "fault \(fault.part)"
        }
    }

    @Test func `Decisions come first, the oldest of them first, then what is wrong, then warnings`() throws {
        var overview = Overview(at: Self.now)
        overview.warnings = [ReadinessFault(part: "certificate", reason: "it ends in 7 days")]
        overview.faults = [ReadinessFault(part: "store", reason: "the disk is full")]
        overview.campaigns = [
            try Self.status("1", .fault(.credential), .suspended), try Self.status("2", .hours(Self.now)),
            try Self.status("3", .pause, .paused) { $0.facts.pausedAt = Self.now + .seconds(60) },
            try Self.status("4", .release) { record in
                (record.requirement.canary, record.requirement.reach) = (["138"], 0)
                record.figures.canaryEndedAt = Self.now
            },
            try Self.status("5", nil), try Self.status("6", nil, .completed), try Self.status("7", .noRoute),
        ]
        let nodes = [Self.node("a", .alive), Self.node("b", .fenced)]
        let matters = Attention.all(in: overview, relays: nodes)
        #expect(
            matters.map(Self.name) == [
                "campaign 4", "campaign 3", "campaign 1", "campaign 7", "relay b", "fault store", "fault certificate",
            ])
        #expect(matters.map(\.rank) == [.decision, .decision, .trouble, .trouble, .trouble, .trouble, .warning])
        #expect(matters[4].since == Self.now + .seconds(7))
    }

    @Test(arguments: Wait.Kind.allCases)
    func `Every wait of a person or of trouble is shown, and none that ends by itself`(kind: Wait.Kind) throws {
        let wait: Wait =
            switch kind {
            case .past: .past
            case .store: .store
            case .time: .time(Self.now)
            case .lostStore: .lostStore
            case .pause: .pause
            case .noRoute: .noRoute
            case .hours: .hours(Self.now)
            case .service: .service
            case .wave: .wave(Self.now)
            case .canary: .canary
            case .release: .release
            case .approval: .approval
            case .secondPerson: .secondPerson(Self.now)
            case .fault: .fault(.topic)
            case .retries: .retries(Self.now)
            }
        var overview = Overview(at: Self.now)
        overview.campaigns = [try Self.status("1", wait)]
        let matters = Attention.all(in: overview, relays: [])
        let expected: Attention.Rank? =
            switch kind.standing {
            case .person: .decision
            case .trouble: .trouble
            case .planned: nil
            }
        #expect(matters.map(\.rank) == [expected].compactMap(\.self))
    }

    @Test func `The expected act comes first`() throws {
        func acts(_ status: CampaignStatus) -> [ActKind] {
            var overview = Overview(at: Self.now)
            overview.campaigns = [status]
            return Attention.all(in: overview, relays: []).first?.acts ?? []
        }
        let canary = try Self.status("1", .release) { record in
            (record.requirement.canary, record.requirement.reach) = (["138"], 0)
        }
        #expect(acts(canary) == [.approve, .pause, .cancel])
        #expect(acts(try Self.status("1", .pause, .paused)) == [.resume, .cancel])
        #expect(acts(try Self.status("1", .fault(.topic), .suspended)) == [.resume, .cancel])
        #expect(acts(try Self.status("1", .noRoute)) == [.pause, .cancel], "none is expected")
    }

    @Test func `A wave that waits names its devices, who asked, and since when`() throws {
        var overview = Overview(at: Self.now)
        let wave = try Self.status("1", .approval, .suspended) { record in
            var waves = [(100, 9), (10_000, 91)].enumerated().map { number, wave in
                CampaignWave(number: number, end: wave.0, devices: Int64(wave.1), pending: 0)
            }
            (waves[0].begunAt, waves[0].endedAt) = (Self.now, Self.now + .seconds(5))
            waves[0].heldAt = Self.now + .seconds(9)
            record.figures.waves = CampaignWaves(waves)
        }
        let canary = try Self.status("2", .release) { record in
            (record.requirement.canary, record.requirement.reach) = (["138"], 0)
            (record.figures.counts.accepted, record.figures.counts.pending) = (1, 599)
        }
        overview.campaigns = [canary]
        #expect(Attention.all(in: overview, relays: []).map(\.stepDevices) == [599])
        overview.campaigns = [wave]
        overview.origins = ["1": Overview.Origin(asker: "alice", state: .suspended)]
        overview.shares = [
            Bench.app: VersionShares.counted(
                [(version: try Version("1.0"), devices: 80), (version: try Version("2.0"), devices: 20)], unknown: 0,
                after: nil, by: RetirementRules(), at: Self.now
            ).shares
        ]
        let matter = try #require(Attention.all(in: overview, relays: []).first)
        #expect(matter.asker == "alice" && matter.askedAt == Self.now && matter.since == Self.now + .seconds(9))
        #expect(matter.stepDevices == 91 && matter.lacking == 80 && matter.acts == [.approve, .cancel])
    }

    @Test(arguments: [Approval.Act.release, .cancel])
    func `A decision that is asked for already is left to the second person`(act: Approval.Act) throws {
        func matters(_ request: Approval?, _ status: CampaignStatus? = nil, row: Requirement? = nil) -> [Attention] {
            var overview = Overview(at: Self.now)
            overview.campaigns = [status].compactMap(\.self)
            if let row {
                let record = VersionRecord(Bench.app, Requirements([row]))
                overview.apps = [
                    Overview.App(key: Bench.app, version: VersionStatus(record, wait: nil) { _ in nil })
                ]
            }
            return Attention.all(in: overview, relays: [], askedFor: [request].compactMap(\.self))
        }
        func request(_ version: String, of app: AppKey = Bench.app) throws -> Approval {
            Approval(
                id: 1, app, Approval.Wish(act, try Version(version)), ApprovalReach(devices: 4, of: 10), shown: Shown(),
                by: .operator("ada"), at: Self.now, until: Self.now + .seconds(60))
        }
        let isLeft = act == .release
        let canary = try Self.status("1", .release) { record in
            (record.requirement.canary, record.requirement.reach) = (["138"], 0)
        }
        #expect(matters(nil, canary).count == 1)
        #expect(matters(try request("2.0.0"), canary).isEmpty == isLeft)
        #expect(matters(try request("2.0.1"), canary).count == 1, "another version")
        #expect(matters(try request("2.0.0", of: AppKey(app: "another", platform: .ios)), canary).count == 1)
        let paused = try Self.status("1", .pause, .paused)
        #expect(matters(try request("2.0.0"), paused).count == 1, "what a person paused, a person resumes")
        var asked = try Self.requirement("2.0.0", .asked)
        asked.reason = "a person decides"
        #expect(matters(try request("2.0.0"), row: asked).isEmpty == isLeft)
    }

    @Test func `A program without a name is no one who asked`() throws {
        var asked = try Self.requirement("2.0.0", .asked)
        (asked.reason, asked.changed) = ("it is doubtful", Signature(by: .database(Principal.nameless), at: Self.now))
        var overview = Overview(at: Self.now)
        overview.apps = [
            Overview.App(
                key: Bench.app,
                version: VersionStatus(VersionRecord(Bench.app, Requirements([asked])), wait: nil) { _ in nil })
        ]
        let matter = try #require(Attention.all(in: overview, relays: []).first)
        #expect(matter.asker == nil && matter.since == Self.now)
    }

    @Test func `The relay stopped it: the trail says when`() throws {
        var overview = Overview(at: Self.now)
        overview.campaigns = [try Self.status("1", .fault(.credential), .suspended)]
        overview.origins = [
            "1": Overview.Origin(asker: "ci", suspendedAt: Self.now + .seconds(3), state: .suspended)
        ]
        #expect(Attention.all(in: overview, relays: []).map(\.since) == [Self.now + .seconds(3)])
    }

    @Test func `Another program's version waits for a person once the relay has judged it`() throws {
        var asked = try Self.requirement("200.0.0", id: 2, .asked)
        func matters(besides rows: [Requirement] = []) -> [Attention] {
            var overview = Overview(at: Self.now)
            let record = VersionRecord(Bench.app, Requirements(rows + [asked]))
            overview.apps = [
                Overview.App(key: Bench.app, version: VersionStatus(record, wait: nil) { _ in nil })
            ]
            return Attention.all(in: overview, relays: [])
        }
        #expect(matters().isEmpty)
        asked.reason = "200.0.0 is not known"
        #expect(matters().map(Self.name) == ["version 200.0.0"])
        #expect(matters().map(\.acts) == [[.release, .withdraw]] && matters().map(\.asker) == ["ci"])
        let waiting = try Self.requirement("2.0.0", .waiting)
        #expect(matters(besides: [waiting]).map(\.acts) == [[.withdraw]], "a release is about the other one")
        asked.kind = .blocked
        #expect(matters().map(\.acts) == [[.release, .unblock]])
        asked.kind = .latest
        #expect(matters().map(\.acts) == [[]])
    }

    @Test func `A version whose store is gone is shown once`() throws {
        let row = try Self.requirement("2.0.0", .waiting)
        let record = VersionRecord(Bench.app, Requirements([row]))
        var overview = Overview(at: Self.now)
        overview.apps = [
            Overview.App(key: Bench.app, version: VersionStatus(record, wait: .lostStore) { _ in nil })
        ]
        #expect(Attention.all(in: overview, relays: []).map(Self.name) == ["version 2.0.0"])
        overview.campaigns = [try Self.status("1", .lostStore, .waiting)]
        #expect(Attention.all(in: overview, relays: []).map(Self.name) == ["campaign 1"])
    }

    @Test func `A lost relay is not shown as a warning besides`() throws {
        let nodes = [Self.node("a", .alive), Self.node("b", .lapsed)]
        var overview = Overview(at: Self.now)
        overview.warnings = [ReadinessFault(part: "relays", reason: try #require(NodeRecord.loss(among: nodes)))]
        #expect(Attention.all(in: overview, relays: nodes).map(Self.name) == ["relay b"])
        #expect(Attention.all(in: overview, relays: []).map(Self.name) == ["fault relays"])
    }
}
