// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import StoreConformance
import Testing
import UpgradeRules

/// Another program's row is judged as a bump is, and by the machine itself, so that no door can leave it out.
@Suite("What no bump may hold") struct BumpRulesTests {
    private static func subject() -> RequirementSubject {
        var subject = RequirementSubject()
        subject.hasStore = false
        return subject
    }

    private static func outside(
        _ subject: inout RequirementSubject, change: (inout Requirement) -> Void
    ) throws {
        try subject.askOutside("2.0")
        change(&subject.requirements.rows[subject.requirements.rows.count - 1])
    }

    @Test(
        "A row that breaks a rule waits for a person with the reason, is not said, and cannot be released as it is",
        arguments: BumpSample.all.filter { $0.inRow != nil })
    func row(sample: BumpSample) throws {
        var subject = Self.subject()
        try Self.outside(&subject) { sample.inRow?(&$0) }
        let isTaken = subject.take(.looked)
        #expect(isTaken)
        let row = try #require(subject.requirements.rows.last)
        #expect(row.state == .asked && row.reason?.contains(sample.field) == true, "\(row.reason ?? "no reason")")
        #expect(subject.requirements.rules.isEmpty && subject.campaigns.isEmpty)
        let isReleased = subject.take(.released(nil))
        #expect(!isReleased)
        #expect(
            RequirementTrouble.all(of: subject.requirements, systems: []) == [.brokenRow(row)],
            "and whoever looks at the app is told of it")
        // A second look leaves it the same, and megabytes are not kept.
        subject.take(.looked)
        #expect(subject.requirements.rows.last == row)
        #expect((row.message?.text.unicodeScalars.count ?? 0) <= BumpRules.longestMessage + 1)
    }

    @Test("Put right, the row is taken up")
    func mended() throws {
        var subject = Self.subject()
        try Self.outside(&subject) { $0.downloadURL = "javascript:alert(1)" }
        subject.take(.looked)
        subject.requirements.rows[0].downloadURL = "https://example.com/微"
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000")
        #expect(subject.requirements.rows[0].downloadURL == "https://example.com/%E5%BE%AE", "as phones read it")
        #expect(subject.campaigns.count == 1)
    }

    @Test("Asked for by a person with other texts, the row gives way")
    func replaced() throws {
        var subject = Self.subject()
        try Self.outside(&subject) { $0.message = "\u{1B}[31m" }
        subject.take(.looked)
        try subject.ask("2.0")
        #expect(subject.requirements.rows.map(\.state) == [.withdrawn, .inForce])
    }

    @Test(
        "A text of what is in force that another program spoils is not said: the campaign's address is, and the app's own words"
    )
    func spoiled() throws {
        var subject = Self.subject()
        let bump = VersionBump(
            app: RequirementSubject.app, required: try Version("2.0"), downloadURL: "https://example.com/app",
            message: "Now")
        subject.take(.asked(bump))
        subject.requirements.rows[0].downloadURL = "javascript:alert(1)"
        subject.requirements.rows[0].message = "evil \u{202E}"
        let unsaid = BumpRules().sanitised(subject.requirements)
        #expect(
            unsaid.rows[0].downloadURL == nil && unsaid.rows[0].message == nil, "even before the machine has looked")
        subject.take(.looked)
        let row = subject.requirements.rows[0]
        #expect(row.state == .inForce && row.downloadURL == "https://example.com/app" && row.message == nil)
        #expect(row.reason?.contains("is not said") == true)
        #expect(RequirementTrouble.all(of: subject.requirements, systems: []) == [.brokenText(row)])
        // Asking for it anew ends the trouble.
        subject.take(.asked(bump))
        #expect(RequirementTrouble.all(of: subject.requirements, systems: []).isEmpty)
        #expect(subject.requirements.rows[0].message == "Now")
    }

    @Test("The launch document that asks for nobody's system says so where it leaves out what is in force")
    func document() throws {
        var subject = Self.subject()
        var bump = VersionBump(app: RequirementSubject.app, required: try Version("2.0"))
        bump.minimumOS = .set(try Version("17"))
        subject.take(.asked(bump))
        let systems = try [Version("15.1"), Version("18")]
        let troubles = RequirementTrouble.all(of: subject.requirements, systems: systems)
        #expect(troubles == [.documentLacksSystem(subject.requirements.rows[0], oldest: systems[0])])
        #expect(RequirementTrouble.all(of: subject.requirements, systems: [systems[1]]).isEmpty)
    }

    // MARK: What was announced

    @Test(
        "What was announced to all stays announced; the force alone comes with the waves",
        arguments: ["moment", "release", "now"])
    func announced(way: String) throws {
        var subject = Self.subject()
        subject.waves = WavePlan(ends: [1000, 10_000])
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", from: moment)
        func told() -> Version? { InForce(subject.requirements).latest }
        func isNotified() throws -> Bool { told() == (try Version("2.0")) }
        #expect(try isNotified())
        switch way {
        case "moment":
            subject.now = moment
            subject.take(.looked)
        case "release": subject.take(.released(nil))
        default:
            var bump = VersionBump(app: RequirementSubject.app)
            bump.requiredFrom = .set(nil)
            subject.take(.asked(bump))
        }
        #expect(try subject.state("2.0") == "in_force 1000" && isNotified())
        #expect(subject.requirements.rules.map(\.forces) == [true, false])
        for user in 0..<100 {
            let verdict = Verdict(
                subject.requirements.rules, version: try Version("1.0"), user: UpgradeRule.User("1380013\(1000 + user)")
            )
            #expect(verdict.prompt != .none, "forced or told, and nobody is told nothing")
        }
        // A canary above it takes nothing back.
        try subject.ask("3.0", canary: ["1"])
        #expect(try isNotified() || told() == Version("3.0"))
        // Withdrawn by name, it is taken back.
        subject.take(.withdrawn(try Version("3.0"), reason: nil))
        subject.take(.withdrawn(try Version("2.0"), reason: nil))
        #expect(told() == nil)
    }
}
