// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// Single versions that must be left.
@Suite("Blocked versions") struct RequirementBlockTests {
    private typealias Subject = RequirementSubject

    private static func subject(hasStore: Bool = false) -> Subject {
        var subject = Subject()
        subject.hasStore = hasStore
        return subject
    }

    private static func bump(_ versions: [String], isConfirmed: Bool = false) throws -> VersionBump {
        var bump = VersionBump(app: Subject.app)
        bump.blocked = try versions.map { try Version($0) }
        bump.isConfirmed = isConfirmed
        return bump
    }

    @Test("A block forces exactly its version, beside the floor's campaign, and goes with its withdrawal")
    func beside() throws {
        var subject = Self.subject()
        try subject.ask("2.0")
        let isTaken1 = subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        #expect(isTaken1)
        #expect(try subject.state("2.1.5") == "in_force 10000")
        #expect(try subject.campaign("2.1.5")?.state == .running)
        #expect(try subject.campaign("2.0")?.state == .running)
        #expect(subject.requirements.rules.map { "\($0.version) \($0.isBlock)" } == ["2.1.5 true", "2.0 false"])
        #expect(subject.requirements.required?.version.text == "2.0")
        let isTaken2 = subject.take(.unblocked([try Version("2.1.5")], reason: "mended"))
        #expect(isTaken2)
        #expect(try subject.state("2.1.5") == "withdrawn 10000" && subject.campaign("2.1.5")?.state == .cancelled)
        #expect(try subject.campaign("2.0")?.state == .running)
        #expect(subject.requirements.blocked.isEmpty)
        #expect(try subject.requirements.wasWithdrawn(Version("2.1.5"), kind: .blocked))
    }

    @Test("It waits until its store offers a version above it, and is taken back where that is halted")
    func gate() throws {
        var subject = Self.subject(hasStore: true)
        let blocked = try Version("2.1.5")
        let isTaken1 = subject.take(.asked(try Self.bump(["2.1.5"])))
        #expect(isTaken1)
        #expect(try subject.state("2.1.5") == "waiting 10000" && subject.campaign("2.1.5")?.state == .waiting)
        #expect(subject.requirements.rules.isEmpty, "nobody is told of it")
        subject.verdicts[blocked] = .open
        subject.take(.looked)
        #expect(try subject.state("2.1.5") == "in_force 10000")
        subject.verdicts[blocked] = .halted
        subject.take(.looked)
        #expect(try subject.state("2.1.5") == "waiting 10000" && subject.campaign("2.1.5")?.state == .waiting)
        let isTaken2 = subject.take(.released(blocked))
        #expect(isTaken2)
        #expect(try subject.state("2.1.5") == "in_force 10000", "a person overrules the store")
    }

    @Test("Without a store a version above it must be known that is not blocked, or somebody says so")
    func wayOut() throws {
        var subject = Self.subject()
        subject.known = KnownVersions()
        try subject.ask("2.0")
        for versions in [["2.0"], ["2.1.5"], ["1.9", "2.0"]] {
            let isTaken = subject.take(.asked(try Self.bump(versions)))
            #expect(!isTaken, "\(versions)")
        }
        let isTaken1 = subject.take(.asked(try Self.bump(["1.9.1", "1.9.3"])))
        #expect(isTaken1)
        #expect(subject.requirements.blocked.map(\.text) == ["1.9.3", "1.9.1"], "the highest first")
        let isTaken2 = subject.take(.asked(try Self.bump(["2.0"])))
        #expect(!isTaken2)
        let isTaken3 = subject.take(.asked(VersionBump(app: Subject.app, latest: try Version("2.0.1"))))
        #expect(isTaken3)
        let isTaken4 = subject.take(.asked(try Self.bump(["2.0"])))
        #expect(isTaken4, "2.0.1 is announced")
    }

    @Test("What is blocked cannot be required; blocked again it is worded anew")
    func refusals() throws {
        var subject = Self.subject()
        let isTaken1 = subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        #expect(isTaken1)
        var bump = VersionBump(app: Subject.app, required: try Version("2.1.5.0"))
        let isTaken2 = subject.take(.asked(bump))
        #expect(!isTaken2)
        bump = try Self.bump(["2.1.5"])
        bump.message = "Leave it."
        let isTaken3 = subject.take(.asked(bump))
        #expect(isTaken3)
        #expect(subject.requirements.rows.map(\.message) == ["Leave it."])
        let isTaken4 = subject.take(.unblocked([try Version("2.1.5"), try Version("2.1.6")], reason: nil))
        #expect(!isTaken4, "all or none")
        #expect(subject.requirements.blocked.count == 1)
        // The texts of a block are its own.
        try subject.ask("3.0")
        let isTaken5 = subject.take(.asked(bump))
        #expect(isTaken5)
        #expect(try subject.requirements.live(Version("3.0"))?.message == nil)
    }

    @Test("What is blocked is not taken up from another program, and not released before it is unblocked")
    func outside() throws {
        var subject = Self.subject()
        subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        try subject.askOutside("2.1.5")
        subject.take(.looked)
        let isTaken1 = subject.take(.released(try Version("2.1.5"), .required))
        #expect(!isTaken1)
        #expect(try subject.requirements.live(Version("2.1.5"))?.reason?.contains("is blocked") == true)
        subject.take(.unblocked([try Version("2.1.5")], reason: nil))
        let isTaken2 = subject.take(.released(try Version("2.1.5"), .required))
        #expect(isTaken2)
        #expect(try subject.state("2.1.5") == "in_force 10000")
    }

    @Test("A floor above it that is in force for everybody supersedes it, until that is withdrawn")
    func superseded() throws {
        var subject = Self.subject()
        let isTaken1 = subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        #expect(isTaken1)
        try subject.ask("2.2", canary: ["1"])
        #expect(try subject.campaign("2.1.5")?.state == .running, "a canary takes nobody's place")
        let isTaken2 = subject.take(.released(nil))
        #expect(isTaken2)
        #expect(try subject.campaign("2.1.5")?.state == .superseded)
        #expect(
            subject.requirements.rules.map(\.version.text) == ["2.2", "2.1.5"],
            "who cannot have 2.2 still must leave it")
        let isTaken3 = subject.take(.withdrawn(try Version("2.2"), reason: nil))
        #expect(isTaken3)
        #expect(try subject.campaign("2.1.5")?.state == .running)
    }

    @Test("Who can leave it is who runs anything announced above it, as that stands")
    func systems() throws {
        func minimum(_ subject: Subject) throws -> String? {
            try subject.requirements.live(Version("2.1.5"), kind: .blocked)?.minimumOS?.text
        }
        func latest(_ version: String, _ minimum: String?) throws -> RequirementEvent {
            var bump = VersionBump(app: Subject.app, latest: try Version(version))
            if let minimum { bump.minimumOS = .set(try Version(minimum)) }
            return .asked(bump)
        }
        var subject = Self.subject()
        subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        #expect(try minimum(subject) == nil, "nothing is known above it")
        subject.take(try latest("2.2", "17.0"))
        #expect(try minimum(subject) == "17.0")
        subject.take(try latest("2.3", "16.0"))
        #expect(try minimum(subject) == "16.0", "2.3 runs there")
        subject.take(.asked(try Self.bump(["2.3"], isConfirmed: true)))
        #expect(try minimum(subject) == "17.0", "2.3 is no way out")
        subject.take(try latest("2.4", nil))
        #expect(try minimum(subject) == nil, "of 2.4 nothing is known")
    }

    @Test("A version that is blocked is not announced, nor does it meet what waits for a store")
    func notAnnounced() throws {
        var subject = Self.subject()
        subject.take(.asked(VersionBump(app: Subject.app, latest: try Version("2.1.5"))))
        #expect(subject.requirements.announced?.version.text == "2.1.5")
        subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        #expect(subject.requirements.announced == nil)
        subject.take(.unblocked([try Version("2.1.5")], reason: nil))
        #expect(subject.requirements.announced?.version.text == "2.1.5")
        let row = Requirement(
            id: 9, kind: .required, version: try Version("2.1"), state: .waiting, isGated: true,
            changed: .relay(at: subject.now))
        subject.requirements.rows.append(row)
        subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
        let question = subject.requirements.question(row)
        for (version, isMet) in [("2.1.5", false), ("2.1.6", true), ("2.1", true), ("2.0", false)] {
            #expect(try question.isMet(by: Version(version)) == isMet)
        }
    }

    /// FAULTS 3.4: a bump that locked all users out was accepted with `confirm`.
    @Test("What is required and has to be left at once is refused, whatever is confirmed", arguments: [false, true])
    func deadEnds(hasStore: Bool) throws {
        let dead = RequirementRefusal.deadEnd(try Version("2.0"))
        let confirmations: [ConfirmedDoubts] = [
            .nothing, .usual,
            .named(
                Set(
                    try Doubt.Reason.allCases.flatMap { reason in
                        try ["2.0", "2.0.0"].map { Doubt(reason, try Version($0)) }
                    })),
        ]
        for confirmation in confirmations {
            for isStored in [false, true] {
                var subject = Self.subject(hasStore: hasStore)
                subject.known = KnownVersions()
                if isStored { try subject.ask("2.0") }
                var both = VersionBump(app: Subject.app, required: try Version("2.0"))
                (both.blocked, both.confirmation) = ([try Version("1.5"), try Version("2.0.0")], confirmation)
                var canary = both
                canary.telephones = ["138"]
                var above = both
                above.latest = try Version("2.0.1")
                var told = VersionBump(app: Subject.app, latest: try Version("2.0"))
                (told.blocked, told.confirmation) = ([try Version("2.0")], confirmation)
                for bump in [both, canary, above, told] {
                    let isTaken = subject.take(.asked(bump))
                    #expect(!isTaken, "\(bump)")
                    #expect(subject.refusal == dead, "\(bump)")
                }
                #expect(subject.requirements.blocked.isEmpty)
            }
        }
    }

    @Test("What is in force is not blocked while nothing above it is known, whatever is confirmed")
    func inForceWithoutWayOut() throws {
        let dead = RequirementRefusal.deadEnd(try Version("2.0"))
        for canary in [nil, ["138"]] as [[String]?] {
            var subject = Self.subject()
            subject.known = KnownVersions()
            var asked = VersionBump(app: Subject.app, required: try Version("2.0"))
            asked.telephones = canary
            let isAsked = subject.take(.asked(asked))
            #expect(isAsked)
            let isTaken = subject.take(.asked(try Self.bump(["2.0"], isConfirmed: true)))
            #expect(!isTaken && subject.refusal == dead)
            // Users of a version that is not required may be notified, because they have a way out.
            let isOtherTaken = subject.take(.asked(try Self.bump(["2.1.5"], isConfirmed: true)))
            #expect(isOtherTaken)
            let isToldTaken = subject.take(.asked(VersionBump(app: Subject.app, latest: try Version("2.2"))))
            #expect(isToldTaken)
            let isTakenThen = subject.take(.asked(try Self.bump(["2.0"])))
            #expect(isTakenThen, "2.2 is announced")
        }
    }

    @Test("A confirmation covers the doubt that it names, and no other")
    func namedDoubts() throws {
        func bump(_ required: String?, _ blocked: [String], _ confirmation: ConfirmedDoubts) throws -> VersionBump {
            var bump = VersionBump(app: Subject.app, required: try required.map { try Version($0) })
            bump.blocked = try blocked.map { try Version($0) }
            bump.confirmation = confirmation
            return bump
        }
        let (rise, block) = (Doubt(.implausibleRise, try Version("20")), Doubt(.nothingAbove, try Version("21.5")))
        let cases: [(ConfirmedDoubts, isTaken: Bool)] = [
            (.nothing, false), (.usual, false), (.named([rise]), false), (.named([block]), false),
            (.named([rise, Doubt(.nothingAbove, try Version("21.6"))]), false),
            (.named([Doubt(.implausibleRise, try Version("21")), block]), false), (.named([rise, block]), true),
        ]
        for (confirmation, isMeant) in cases {
            var subject = Self.subject()
            subject.known = KnownVersions()
            try subject.ask("2.0")
            let isTaken = subject.take(.asked(try bump("20", ["21.5"], confirmation)))
            #expect(isTaken == isMeant, "\(confirmation)")
        }
        // `true` confirms the rise of a bump that raises, and the way out of one that only blocks.
        for (required, blocked) in [("20", []), (nil, ["21.5"])] as [(String?, [String])] {
            var subject = Self.subject()
            subject.known = KnownVersions()
            try subject.ask("2.0")
            let isTaken = subject.take(.asked(try bump(required, blocked, .usual)))
            #expect(isTaken)
        }
    }

    @Test("Another program's block of what is required waits for a person, who cannot release it either")
    func outsideDeadEnd() throws {
        let dead = RequirementRefusal.deadEnd(try Version("2.0"))
        var subject = Self.subject()
        subject.known = KnownVersions()
        try subject.ask("2.0")
        try subject.askOutside("2.0", kind: .blocked)
        subject.take(.looked)
        #expect(subject.requirements.rows.last?.state == .asked)
        #expect(try subject.requirements.rows.last?.reason == Requirements.deadEndText(Version("2.0")))
        let isTaken = subject.take(.released(try Version("2.0"), .blocked))
        #expect(!isTaken && subject.refusal == dead)
    }
}
