// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// Soft until a moment, then hard; and the systems that a version runs on, as a bump names them.
@Suite("Moments and systems of requirements") struct RequirementMomentTests {
    private typealias Subject = RequirementSubject

    private static func subject(hasStore: Bool = false) -> Subject {
        var subject = Subject()
        subject.hasStore = hasStore
        return subject
    }

    @Test("Nobody is forced before the moment, and everybody from it on")
    func moment() throws {
        var subject = Self.subject()
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", from: moment)
        #expect(try subject.state("2.0") == "announced 10000" && subject.campaign("2.0")?.state == .waiting)
        #expect(subject.requirements.rules.map(\.forces) == [false])
        subject.now = moment - .seconds(2)
        subject.take(.looked)
        #expect(try subject.state("2.0") == "announced 10000")
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000" && subject.campaign("2.0")?.state == .running)
        #expect(try subject.requirements.live(Version("2.0"))?.inForceAt == moment)
    }

    @Test("In force since is the moment for everybody: not a canary's, not a wave's")
    func since() throws {
        var subject = Self.subject()
        subject.waves = WavePlan(ends: [1_000, 10_000])
        try subject.ask("2.0", canary: ["13800000001"])
        func inForceAt() throws -> Timestamp? { try subject.requirements.live(Version("2.0"))?.inForceAt }
        #expect(try subject.state("2.0") == "in_force 0")
        let named = try inForceAt()
        subject.take(.released(nil))
        #expect(try subject.state("2.0") == "in_force 1000")
        #expect(try inForceAt() == named)
        let campaign = try #require(try subject.campaign("2.0"))
        subject.take(.campaign(campaign.key, .stageBegan(reach: 10_000)))
        #expect(try subject.state("2.0") == "in_force 10000")
        #expect(try inForceAt() == subject.now && inForceAt() != named)
        let everybody = try inForceAt()
        subject.take(.campaign(campaign.key, .drained))
        #expect(try inForceAt() == everybody)
    }

    @Test("It is in force at the later of its store and its moment", arguments: [true, false])
    func later(isStoreFirst: Bool) throws {
        var subject = Self.subject(hasStore: true)
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", from: moment)
        #expect(try subject.state("2.0") == "waiting 10000", "its store does not offer it: nobody is told of it")
        if isStoreFirst {
            subject.verdicts[try Version("2.0")] = .open
            subject.take(.looked)
            #expect(try subject.state("2.0") == "announced 10000")
            subject.now = moment
        } else {
            subject.now = moment
            subject.take(.looked)
            #expect(try subject.state("2.0") == "waiting 10000")
            subject.verdicts[try Version("2.0")] = .open
        }
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 10000")
    }

    @Test("Asked for again with another moment, it has that one; without a word of one, its own; with null, none")
    func changed() throws {
        var subject = Self.subject()
        let first = subject.now + .seconds(3600)
        try subject.ask("2.0", from: first)
        try subject.ask("2.0")
        #expect(try subject.requirements.live(Version("2.0"))?.requiredFrom == first)
        try subject.ask("2.0", from: first + .seconds(60))
        subject.now = first
        subject.take(.looked)
        #expect(try subject.state("2.0") == "announced 10000")
        var bump = VersionBump(app: Subject.app, required: try Version("2.0"))
        bump.requiredFrom = .set(nil)
        let isTaken1 = subject.take(.asked(bump))
        #expect(isTaken1)
        #expect(try subject.state("2.0") == "in_force 10000")
        bump.requiredFrom = .set(subject.now + .seconds(60))
        let isTaken2 = subject.take(.asked(bump))
        #expect(!isTaken2, "what is in force has no moment to come")
    }

    @Test("A person brings it forward, or takes it back; a moment that is over or a year ahead is refused")
    func people() throws {
        var subject = Self.subject()
        try subject.ask("2.0", from: subject.now + .seconds(3600))
        let isTaken3 = subject.take(.released(nil))
        #expect(isTaken3)
        #expect(try subject.state("2.0") == "in_force 10000")

        subject = Self.subject()
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", from: moment)
        let isTaken4 = subject.take(.withdrawn(try Version("2.0"), reason: nil))
        #expect(isTaken4)
        subject.now = moment
        subject.take(.looked)
        #expect(try subject.state("2.0") == "withdrawn 10000")

        for wrong in [subject.now, subject.now + .seconds(367 * 86_400)] {
            var bump = VersionBump(app: Subject.app, required: try Version("2.1"))
            bump.requiredFrom = .set(wrong)
            let isTaken5 = subject.take(.asked(bump))
            #expect(!isTaken5)
            #expect(try subject.state("2.1") == "none")
        }
        // The same bump again, after its moment: a build tool that sends it each night changes nothing.
        let soon = subject.now + .seconds(60)
        try subject.ask("2.1", from: soon)
        subject.now = soon
        subject.take(.looked)
        try subject.ask("2.1", from: soon)
        #expect(try subject.state("2.1") == "in_force 10000")
    }

    @Test("What is below it stays in force until its moment")
    func below() throws {
        var subject = Self.subject()
        try subject.ask("1.0")
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", from: moment)
        #expect(subject.requirements.inForce?.version == (try Version("1.0")))
        #expect(try subject.campaign("1.0")?.state == .running)
        subject.now = moment
        subject.take(.looked)
        #expect(subject.requirements.inForce?.version == (try Version("2.0")))
        #expect(try subject.campaign("1.0")?.state == .superseded)
    }

    @Test("A canary has its moment, too")
    func canary() throws {
        var subject = Self.subject()
        let moment = subject.now + .seconds(3600)
        try subject.ask("2.0", canary: ["138"], from: moment)
        #expect(try subject.state("2.0") == "announced 0")
        subject.now = moment
        subject.take(.looked)
        #expect(try subject.state("2.0") == "in_force 0")
    }

    // MARK: Systems

    private func minimum(_ subject: Subject, _ version: String, _ kind: Requirement.Kind = .required) throws -> String?
    {
        try subject.requirements.live(Version(version), kind: kind)?.minimumOS?.text
    }

    @Test("A bump says it of the versions that it names, and alone of what is required; null forgets it")
    func systems() throws {
        var subject = Self.subject()
        var bump = VersionBump(app: Subject.app, latest: try Version("2.1"), required: try Version("2.0"))
        bump.minimumOS = .set(try Version("15.0"))
        let isTaken6 = subject.take(.asked(bump))
        #expect(isTaken6)
        #expect(try minimum(subject, "2.0") == "15.0" && minimum(subject, "2.1", .latest) == "15.0")
        try subject.ask("2.0")
        #expect(try minimum(subject, "2.0") == "15.0", "what is not named stays")
        var alone = VersionBump(app: Subject.app)
        alone.minimumOS = .set(try Version("16"))
        let isTaken7 = subject.take(.asked(alone))
        #expect(isTaken7)
        #expect(try minimum(subject, "2.0") == "16" && minimum(subject, "2.1", .latest) == "15.0")
        let steps = subject.changes.compactMap { change -> String? in
            if case .version(let step, let row, _) = change.kind { "\(step) by \(row.changed.by)" } else { nil }
        }
        #expect(steps == ["reworded by ann"])
        alone.minimumOS = .set(nil)
        let isTaken8 = subject.take(.asked(alone))
        #expect(isTaken8)
        #expect(try minimum(subject, "2.0") == nil)
    }

    @Test("What a store says of a version is taken where nobody has said it, and kept when the version is required")
    func listed() throws {
        var subject = Self.subject()
        var listed = VersionBump(app: Subject.app, latest: try Version("2.0"))
        (listed.minimumOS, listed.isListed) = (.set(try Version("15.0")), true)
        let isTaken9 = subject.take(.asked(listed), by: "appStore", via: "appStore")
        #expect(isTaken9)
        #expect(try minimum(subject, "2.0", .latest) == "15.0")
        try subject.ask("2.0")
        #expect(try minimum(subject, "2.0") == "15.0")
        var person = VersionBump(app: Subject.app, required: try Version("2.0"))
        person.minimumOS = .set(try Version("14"))
        let isTaken10 = subject.take(.asked(person))
        #expect(isTaken10)
        let isTaken11 = subject.take(.asked(listed), by: "appStore", via: "appStore")
        #expect(isTaken11)
        #expect(try minimum(subject, "2.0") == "14")
    }
}
