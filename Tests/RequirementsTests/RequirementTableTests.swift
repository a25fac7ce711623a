// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// The next state of a version in each state by each event, as the machine has it and as the guide for operators has it.
@Suite("The table of transitions", .ownThread) struct RequirementTableTests {
    private typealias Subject = RequirementSubject

    private struct Situation: Sendable {
        var name: String
        var make: @Sendable (inout Subject) throws -> Void
    }

    private struct Event: Sendable {
        var name: String
        var act: @Sendable (inout Subject) throws -> Void
    }

    private static let version = "2.0"

    private static func look(_ subject: inout Subject, _ verdict: GateVerdict.State, at version: String = version)
        throws
    {
        subject.verdicts[try Version(version)] = verdict
        subject.take(.looked)
    }

    private static let situations = [
        Situation(name: "asked for by another program, and withdrawn before") {
            try $0.ask(version)
            $0.take(.withdrawn(try Version(version), reason: nil))
            try $0.askOutside(version)
            $0.take(.looked)
        },
        Situation(name: "waiting for its store") { try $0.ask(version) },
        Situation(name: "offered, with its moment ahead") {
            try $0.ask(version, from: $0.now + .seconds(3600))
            try look(&$0, .open)
        },
        Situation(name: "in force for its canary") {
            try $0.ask(version, canary: ["138"])
            try look(&$0, .open)
        },
        Situation(name: "in force for its first wave") {
            $0.waves = WavePlan(ends: [1_000, 10_000])
            try $0.ask(version)
            try look(&$0, .open)
        },
        Situation(name: "in force for everybody") {
            try $0.ask(version)
            try look(&$0, .open)
        },
        Situation(name: "halted by its store") {
            try $0.ask(version)
            try look(&$0, .open)
            try look(&$0, .halted)
        },
        Situation(name: "superseded") {
            try $0.ask(version)
            try look(&$0, .open)
            try $0.ask("3.0")
            try look(&$0, .open, at: "3.0")
        },
        Situation(name: "withdrawn") {
            try $0.ask(version)
            try look(&$0, .open)
            $0.take(.withdrawn(try Version(version), reason: nil))
        },
    ]

    private static let events = [
        Event(name: "the store offers it") { try look(&$0, .open) },
        Event(name: "its moment comes") {
            guard let moment = $0.requirements.live(try Version(version))?.requiredFrom else { return }
            $0.now = moment
            $0.take(.looked)
        },
        Event(name: "the store halts its rollout") { try look(&$0, .halted) },
        Event(name: "`release`") { $0.take(.released(try Version(version))) },
        Event(name: "the next wave begins") { subject in
            try change(&subject) { row in
                row.stages?.ends.first { $0 > row.reach }.map { .stageBegan(reach: $0) }
            }
        },
        Event(name: "a newer version is in force for everybody") {
            guard $0.requirements.live(try Version("3.0")) == nil else { return }
            $0.waves = nil
            try $0.ask("3.0")
            try look(&$0, .open, at: "3.0")
        },
        Event(name: "the newer version is withdrawn") { $0.take(.withdrawn(try Version("3.0"), reason: nil)) },
        Event(name: "`version withdraw`") { $0.take(.withdrawn(try Version(version), reason: nil)) },
        Event(name: "`campaigns cancel`") { try change(&$0) { _ in .cancelled } },
        Event(name: "`campaigns pause`") { try change(&$0) { _ in .paused } },
        Event(name: "the relay has to stop its campaign") { try change(&$0) { _ in .suspended(.credential, "why") } },
        Event(name: "each device has its outcome") { try change(&$0) { $0.reach > 0 ? .drained : nil } },
    ]

    private static func change(_ subject: inout Subject, _ event: (Requirement) -> CampaignChange?) throws {
        guard let campaign = try subject.campaign(version), let row = subject.requirements[campaign.requirement],
            let event = event(row)
        else { return }
        subject.take(.campaign(campaign.key, event))
    }

    /// The version and its campaign, in the guide's words.
    private static func words(_ subject: Subject) throws -> (version: String, campaign: String) {
        let version = try Version(version)
        let row = try #require(
            subject.requirements.live(version) ?? subject.requirements.rows.last { $0.version == version })
        let reach =
            switch row.reach {
            case 0: "its canary"
            case Requirement.everybody: "everybody"
            default: "\(row.reach / 100) % of the users"
            }
        let state =
            switch row.state {
            case .asked: "asked for"
            case .waiting: "waiting"
            case .announced: "announced"
            case .withdrawn: "withdrawn"
            case .inForce where subject.requirements.isSuperseded(row): "superseded"
            case .inForce: "in force for \(reach)"
            }
        let campaign = try subject.campaign(Self.version).map { "`\($0.state.rawValue)`" } ?? "none"
        return (state, campaign)
    }

    @Test("The guide has each transition that the machine makes, and no other")
    func guide() throws {
        var lines = ["| a version that is | and then | is | its campaign |", "|---|---|---|---|"]
        for situation in Self.situations {
            // Events with the same outcome are one row.
            var rows: [(events: [String], outcome: String)] = []
            for event in Self.events {
                var subject = Subject()
                try situation.make(&subject)
                let before = try Self.words(subject)
                try event.act(&subject)
                subject.take(.looked)
                let after = try Self.words(subject)
                guard after != before else { continue }
                let outcome = "\(after.version) | \(after.campaign)"
                if let row = rows.firstIndex(where: { $0.outcome == outcome }) {
                    rows[row].events.append(event.name)
                } else {
                    rows.append(([event.name], outcome))
                }
            }
            for (index, row) in rows.enumerated() {
                let events = row.events.joined(separator: ", ")
                lines.append("| \(index == 0 ? situation.name : "") | \(events) | \(row.outcome) |")
            }
        }
        let guide = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "etc/VERSIONS.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        #expect(
            text.contains(lines.joined(separator: "\n")), "etc/VERSIONS.md must have:\n\(lines.joined(separator: "\n"))"
        )
    }
}
