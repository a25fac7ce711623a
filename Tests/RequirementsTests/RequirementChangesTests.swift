// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// Which changes an event has, with who caused them.
@Suite("Changes by events") struct RequirementChangesTests {
    private typealias Subject = RequirementSubject

    private func subject(_ hasStore: Bool = false) -> Subject {
        var subject = Subject()
        subject.hasStore = hasStore
        return subject
    }

    /// "step version by author" for a version, "what by author" for all else.
    private func said(_ changes: [Change]) -> [String] {
        changes.map { change in
            let by = change.by.author
            let author = by.kind == .relay ? by.name : "\(by.kind) \(by.name)"
            return switch change.kind {
            case .version(let step, let row, _): "\(step) \(row.version) by \(author)"
            case .bumped, .blocked, .released, .takenBack, .unblocked, .created, .moved, .paused, .resumed, .cancelled,
                .hurried, .waveReleased, .reopened, .stageBegan, .waveDone, .canaryDone, .waitsLong, .approval:
                "\("\(change.kind)".prefix { $0 != "(" }) by \(author)"
            }
        }
    }

    @Test("A bump raises a version, and makes its campaign; another supersedes it")
    func bump() throws {
        var subject = subject()
        try subject.ask("2.0")
        #expect(said(subject.changes) == ["raised 2.0 by ann", "bumped by ann", "created by relay"])
        #expect(subject.changes.map(\.requirement) == [-1, -1, -1], "none of them is stored yet")
        try subject.ask("3.0")
        #expect(
            said(subject.changes) == ["raised 3.0 by ann", "bumped by ann", "moved by relay", "created by relay"])
        try subject.ask("3.0")
        #expect(subject.changes.isEmpty, "it is asked for already")
    }

    @Test("A bump by a token that words a version anew has its change, with the token")
    func reworded() throws {
        var subject = subject()
        try subject.ask("2.0")
        var bump = VersionBump(app: Subject.app, required: try Version("2.0"))
        bump.message = LocalizedText("Upgrade, please.")
        var machine = RequirementMachine(subject.requirements, campaigns: subject.campaigns)
        let changes = try machine.reduce(
            .asked(bump), by: Signature(by: Principal("ci", .token, via: "api"), at: subject.now),
            in: subject.surroundings)
        #expect(said(changes) == ["reworded 2.0 by token ci", "bumped by token ci"])
        #expect(machine.requirements.required?.changed.principal == nil, "a row keeps the name alone")
    }

    @Test("Another program's row is taken up in its own name, whoever's event does so; a release is a person's")
    func takenUp() throws {
        var subject = subject(true)
        try subject.askOutside("2.0")
        subject.take(.looked)
        #expect(said(subject.changes) == ["takenUp 2.0 by database unknown", "created by relay"])
        subject.take(.looked)
        #expect(subject.changes.isEmpty)
        subject.take(.released(nil))
        #expect(said(subject.changes) == ["inForce 2.0 by ann", "released by ann", "moved by relay"])
        subject.known = KnownVersions()
        try subject.askOutside("9.0")
        subject.take(.looked)
        #expect(subject.changes.isEmpty, "there is no evidence for it")
        subject.take(.released(try Version("9.0")))
        #expect(said(subject.changes).prefix(2) == ["takenUp 9.0 by ann", "released by ann"])
    }

    @Test("A store lets a version through, and halts it")
    func gate() throws {
        var subject = subject(true)
        try subject.ask("2.0")
        subject.verdicts[try Version("2.0")] = .open
        subject.take(.looked)
        #expect(said(subject.changes) == ["inForce 2.0 by appStore", "moved by relay"])
        subject.verdicts[try Version("2.0")] = .halted
        subject.take(.looked)
        #expect(said(subject.changes) == ["outOfForce 2.0 by appStore", "moved by relay"])
    }

    @Test("An order to a campaign is one change; its consequences for others are the relay's")
    func orders() throws {
        var subject = subject()
        try subject.ask("1.0")
        try subject.ask("2.0", canary: ["138"])
        let key = try #require(try subject.campaign("2.0")).key
        for (order, change) in [
            (CampaignChange.hurried, "hurried by ann"), (.paused, "paused by ann"), (.resumed, "resumed by ann"),
            (.suspended(.credential, "BadKey"), "moved by relay"), (.resumed, "resumed by ann"),
        ] {
            subject.take(.campaign(key, order))
            #expect(said(subject.changes) == [change])
        }
        subject.take(.campaign(key, .cancelled))
        #expect(said(subject.changes) == ["withdrawn 2.0 by ann", "cancelled by ann"])
    }

    @Test("A wave begins, and all devices have an outcome")
    func waves() throws {
        var subject = subject()
        subject.waves = WavePlan(ends: [100, 10_000])
        try subject.ask("2.0")
        let key = try #require(try subject.campaign("2.0")).key
        subject.take(.campaign(key, .stageBegan(reach: 10_000)))
        #expect(said(subject.changes) == ["widened 2.0 by ann", "stageBegan by ann"])
        subject.take(.campaign(key, .stageBegan(reach: 10_000)))
        #expect(said(subject.changes) == ["stageBegan by ann"], "it was released to everybody before")
        subject.take(.campaign(key, .drained))
        #expect(said(subject.changes) == ["moved by relay"])
        subject.take(.campaign(key, .reopened(timeToLive: .seconds(60))))
        #expect(subject.changes.isEmpty, "the store adds that change")
    }

    @Test("A bump that hurries a campaign is a bump, though it raises nothing")
    func hurried() throws {
        var subject = subject()
        try subject.ask("2.0")
        var bump = VersionBump(app: Subject.app, required: try Version("2.0"))
        bump.isUrgent = true
        subject.take(.asked(bump))
        #expect(said(subject.changes) == ["bumped by ann", "hurried by ann"])
        subject.take(.asked(bump))
        #expect(said(subject.changes) == [])
    }

    @Test("A version is taken back, and a block ends")
    func takenBack() throws {
        var subject = subject()
        try subject.ask("2.0")
        var bump = VersionBump(app: Subject.app)
        bump.blocked = [try Version("1.5")]
        subject.take(.asked(bump))
        #expect(said(subject.changes) == ["raised 1.5 by ann", "blocked by ann", "created by relay"])
        subject.take(.unblocked(bump.blocked, reason: nil))
        #expect(said(subject.changes) == ["withdrawn 1.5 by ann", "unblocked by ann", "moved by relay"])
        subject.take(.withdrawn(try Version("2.0"), reason: nil))
        #expect(said(subject.changes) == ["withdrawn 2.0 by ann", "takenBack by ann", "moved by relay"])
    }
}
