// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import OwnThread
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// The machine without a store: its table, and the rules that hold for all events in any order.
@Suite("What becomes of requirements", .ownThread) struct RequirementMachineTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    // MARK: The table

    @Test("Without a store it is in force at once; with one it waits, is let through, halted, and goes on")
    func gate() throws {
        var free = RequirementSubject()
        free.hasStore = false
        try free.ask("2.0")
        #expect(try free.state("2.0") == "in_force 10000" && free.campaign("2.0")?.state == .running)

        var subject = RequirementSubject()
        try subject.ask("2.0")
        #expect(try subject.state("2.0") == "waiting 10000" && subject.campaign("2.0")?.state == .waiting)
        subject.verdicts[try Version("2.0")] = .held(until: subject.now + .seconds(9))
        subject.take(.looked)
        #expect(try subject.state("2.0") == "waiting 10000")
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000" && subject.campaign("2.0")?.state == .running)
        subject.verdicts[try Version("2.0")] = .closed
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000", "a gate that closes is no halt")
        subject.verdicts[try Version("2.0")] = .halted
        subject.take(.looked)
        #expect(try subject.state("2.0") == "waiting 10000" && subject.campaign("2.0")?.state == .waiting)
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000" && subject.campaign("2.0")?.state == .running)
    }

    @Test("While the hold after a release lasts, the version is announced and forces no user")
    func held() throws {
        var subject = RequirementSubject()
        try subject.ask("2.0")
        subject.verdicts[try Version("2.0")] = .held(until: subject.now + .seconds(9))
        subject.announcing[try Version("2.0")] = .closed
        subject.take(.looked)
        #expect(try subject.state("2.0") == "waiting 10000", "not offered to anybody yet")
        subject.announcing[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(try subject.state("2.0") == "announced 10000" && subject.campaign("2.0")?.state == .waiting)
        #expect(subject.requirements.announced?.version.text == "2.0" && subject.requirements.inForce == nil)
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000" && subject.campaign("2.0")?.state == .running)
    }

    @Test("A canary waits for a person, its store takes it back, and its reach stays")
    func canary() throws {
        var subject = RequirementSubject()
        subject.waves = WavePlan(ends: [1_000, 10_000])
        try subject.ask("2.0", canary: ["138"])
        #expect(try subject.state("2.0") == "waiting 0")
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 0")
        subject.verdicts[try Version("2.0")] = .halted
        subject.take(.looked)
        #expect(try subject.state("2.0") == "waiting 0")
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        let isTaken2 = subject.take(.released(nil))
        #expect(isTaken2)
        #expect(try subject.state("2.0") == "in_force 1000", "its first wave, not everybody")
        let isTaken3 = subject.take(.released(nil))
        #expect(!isTaken3, "the next wave is its campaign's")
        let key = try #require(try subject.campaign("2.0")?.key)
        subject.take(.campaign(key, .stageBegan(reach: 10_000)))
        #expect(try subject.state("2.0") == "in_force 10000")
    }

    @Test("Cancelled before it is for everybody it is taken back; afterwards only its pushes end")
    func cancel() throws {
        for (isReleased, state) in [(false, "withdrawn 0"), (true, "in_force 10000")] {
            var subject = RequirementSubject()
            subject.hasStore = false
            try subject.ask("2.0", canary: ["138"])
            if isReleased { subject.take(.released(nil)) }
            let key = try #require(try subject.campaign("2.0")?.key)
            let isTaken4 = subject.take(.campaign(key, .cancelled))
            #expect(isTaken4)
            #expect(try subject.state("2.0") == state && subject.campaign("2.0")?.state == .cancelled)
        }
    }

    @Test("Cancelled when it is in force for everybody: a halt takes it back, and its store brings it back, unpushed")
    func cancelledAndHalted() throws {
        var subject = RequirementSubject()
        try subject.ask("2.0")
        let key = try #require(try subject.campaign("2.0")?.key)
        for (verdict, state) in [
            (GateVerdict.State.open, "in_force 10000"), (.halted, "waiting 10000"), (.open, "in_force 10000"),
        ] {
            subject.verdicts[try Version("2.0")] = verdict
            subject.take(.looked)
            #expect(try subject.state("2.0") == state)
            if state == "in_force 10000" { subject.take(.campaign(key, .cancelled)) }
            #expect(try subject.campaign("2.0")?.state == .cancelled)
        }
    }

    @Test("What another program wrote is taken up, but for what was withdrawn: a person releases that")
    func outside() throws {
        var subject = RequirementSubject()
        subject.hasStore = false
        try subject.askOutside("2.0")
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000")
        let isTaken5 = subject.take(.withdrawn(try Version("2.0"), reason: nil))
        #expect(isTaken5)
        let isTaken6 = subject.take(.withdrawn(try Version("2.0"), reason: nil))
        #expect(!isTaken6, "twice is once")
        try subject.askOutside("2.0")
        subject.take(.looked)
        #expect(try subject.state("2.0") == "asked 10000")
        let isTaken7 = subject.take(.released(nil))
        #expect(isTaken7)
        #expect(try subject.state("2.0") == "in_force 10000")
    }

    @Test(
        "A leap is refused unless it is confirmed; of another program it waits for a person, or gives way to what is plausible"
    )
    func slips() throws {
        var subject = RequirementSubject()
        subject.hasStore = false
        subject.known = KnownVersions()
        try subject.ask("2.2.0")
        let before = subject.requirements
        var bump = VersionBump(app: RequirementSubject.app, required: try Version("2.20.0"))
        let isTaken = subject.take(.asked(bump))
        #expect(!isTaken && subject.requirements == before)
        bump.isConfirmed = true
        let isConfirmedTaken = subject.take(.asked(bump))
        #expect(try isConfirmedTaken && subject.state("2.20.0") == "in_force 10000")

        try subject.askOutside("30.0")
        subject.take(.looked)
        #expect(try subject.state("30.0") == "asked 10000" && subject.campaign("30.0") == nil)
        #expect(subject.requirements.required?.reason?.contains("looks like a typing error") == true)
        // A later announcement is no evidence for it, nor are devices: it waits for a person.
        subject.known = .everything
        subject.take(.looked)
        #expect(try subject.state("30.0") == "asked 10000" && subject.state("2.20.0") == "in_force 10000")
        var replaced = subject
        try replaced.ask("2.21.0")
        #expect(try replaced.state("30.0") == "withdrawn 10000" && replaced.state("2.21.0") == "in_force 10000")
        // A canary that waits is released first.
        try subject.askOutside("31.0")
        subject.known = KnownVersions()
        let isReleased = subject.take(.released(nil))
        #expect(try isReleased && subject.state("30.0") == "asked 10000" && subject.state("31.0") == "in_force 10000")
    }

    @Test("Telephones for what is in force for everybody are refused, and versions only rise")
    func refusals() throws {
        var subject = RequirementSubject()
        subject.hasStore = false
        try subject.ask("2.0")
        let before = subject.requirements
        let bump = VersionBump(app: RequirementSubject.app, required: try Version("2.0"), telephones: ["138"])
        let isTaken8 = subject.take(.asked(bump))
        #expect(!isTaken8)
        let isTaken9 = subject.take(.asked(VersionBump(app: RequirementSubject.app, required: try Version("1.9"))))
        #expect(!isTaken9)
        #expect(subject.requirements == before)
    }

    @Test("The time to live counts while it runs")
    func timeToLive() throws {
        var subject = RequirementSubject()
        subject.hasStore = false
        try subject.ask("2.0")
        let key = try #require(try subject.campaign("2.0")?.key)
        subject.now = subject.now + .seconds(99)
        subject.take(.campaign(key, .paused))
        #expect(try subject.campaign("2.0")?.timeLeft == .seconds(500))
        subject.now = subject.now + .seconds(9_999)
        subject.take(.campaign(key, .resumed))
        #expect(try subject.campaign("2.0")?.expiresAt == subject.now + .seconds(500))
    }

    // MARK: Random histories

    /// The dice of one history; a failure names the history's number, which is the seed.
    private struct Chance {
        var generator: SeededGenerator
        mutating func below(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    }

    @Test(
        "A thousand histories: pushed implies forced, no gate moves a campaign's facts, each wait has a person's way out"
    )
    func histories() throws {
        for seed in 1...1_000 {
            var chance = Chance(generator: SeededGenerator(seed: UInt64(seed)))
            var subject = RequirementSubject()
            subject.hasStore = chance.below(3) > 0
            subject.waves = chance.below(2) == 0 ? WavePlan(ends: [1_000, 5_000, 10_000]) : nil
            for _ in 0..<40 { try step(&subject, &chance, seed) }
        }
    }

    private func step(_ subject: inout RequirementSubject, _ chance: inout Chance, _ seed: Int) throws {
        let top = subject.requirements.required?.version.segments.first ?? 1
        func facts(_ subject: RequirementSubject) -> [[String]] {
            subject.campaigns.map {
                [
                    "\($0.key)", "\(String(describing: $0.pausedAt))", "\(String(describing: $0.cause))",
                    "\(String(describing: $0.end))",
                ]
            }
        }
        let campaign = subject.campaigns.isEmpty ? nil : subject.campaigns[chance.below(subject.campaigns.count)].key
        switch chance.below(13) {
        case 0, 1: try subject.ask("\(top + 1).0", canary: chance.below(3) == 0 ? ["138"] : nil)
        case 2: try subject.askOutside("\(top + 1).0")
        case 3, 4:
            for row in subject.requirements.rows where chance.below(2) == 0 {
                subject.verdicts[row.version] = [.open, .closed, .halted][chance.below(3)]
            }
            let before = facts(subject)
            subject.take(.looked)
            #expect(
                Array(facts(subject).prefix(before.count)) == before, "history \(seed): a gate moved a campaign's facts"
            )
        case 5: subject.take(.looked)
        case 6: subject.take(.released(nil))
        case 7: try withdraw(&subject, &chance, seed)
        default:
            guard let campaign else { return }
            let next = subject.campaigns.first { $0.key == campaign }
                .flatMap { subject.requirements[$0.requirement] }
                .flatMap { row in row.stages?.ends.first { $0 > row.reach } }
            let events: [CampaignChange] = [
                .paused, .resumed, .cancelled, .suspended(.credential, "why"), .repaired([.credential]), .drained,
                .stageBegan(reach: next ?? Requirement.everybody),
            ]
            subject.take(.campaign(campaign, events[chance.below(events.count)]))
        }
        try hold(subject, seed)
    }

    /// Withdrawing leaves all others as if it had not been asked for.
    private func withdraw(_ subject: inout RequirementSubject, _ chance: inout Chance, _ seed: Int) throws {
        let candidates = subject.requirements.rows.filter { $0.isLive && !subject.requirements.isSuperseded($0) }
        guard !candidates.isEmpty else { return }
        let row = candidates[chance.below(candidates.count)]
        var without = subject
        without.requirements.rows.removeAll { $0.id == row.id }
        subject.take(.withdrawn(row.version, reason: nil))
        subject.take(.looked)
        without.take(.looked)
        for part in [nil, 500, 4_000, 9_999] {
            #expect(
                subject.forced(part: part, isNamed: true) == without.forced(part: part, isNamed: true),
                "history \(seed)")
        }
    }

    private func hold(_ subject: RequirementSubject, _ seed: Int) throws {
        let requirements = subject.requirements
        let live = requirements.rows.filter(\.isLive).map(\.version)
        #expect(Set(live).count == live.count, "history \(seed): one live row of a version")
        #expect(
            Set(subject.campaigns.map(\.requirement)).count == subject.campaigns.count, "history \(seed): one campaign")
        for facts in subject.campaigns {
            let row = try #require(requirements[facts.requirement])
            #expect(facts.shown(row, in: requirements).state == facts.state, "history \(seed): shown is what follows")
            guard facts.state == .running else { continue }
            #expect(row.state == .inForce, "history \(seed): pushed, and not in force")
            #expect(
                subject.forced(part: max(row.reach - 1, 0), isNamed: true).map { $0 >= row.version } ?? false,
                "history \(seed)")
        }
        // A person can end each wait.
        for row in requirements.rows where row.isLive && row.kind == .required && !requirements.isSuperseded(row) {
            guard row.state != .inForce else { continue }
            var later = subject
            let isTaken10 = later.take(.released(row.version))
            #expect(isTaken10, "history \(seed): \(row.version) cannot be released")
            let released = try #require(later.requirements[row.id])
            // Another program's version may be in waves, while another one's waves are under way.
            #expect(released.state == .inForce || later.requirements.isSuperseded(released), "history \(seed)")
        }
    }
}
