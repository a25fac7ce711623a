// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// The first reason that keeps a requirement from coming into force.
@Suite struct RequirementWaitTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let (sooner, later) = (now + .seconds(60), now + .seconds(3600))

    private struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var kind = Requirement.Kind.required
        var isGated = true
        var isReleased = false
        var moment: Timestamp?
        var verdict: GateVerdict.State?
        let wait: Wait?
        var isHalted = false

        var testDescription: String { name }
    }

    private static let rows = [
        Row(name: "nothing", isGated: false, wait: nil),
        Row(name: "offered", verdict: .open, wait: nil),
        Row(name: "not offered", verdict: .closed, wait: .store),
        Row(name: "no longer offered", verdict: .halted, wait: .store, isHalted: true),
        Row(name: "held", verdict: .held(until: sooner), wait: .time(sooner)),
        Row(name: "no store any more", wait: .lostStore),
        Row(name: "a latest, no store any more", kind: .latest, wait: .lostStore),
        Row(name: "the moment ahead", isGated: false, moment: later, wait: .time(later)),
        Row(name: "the moment reached", isGated: false, moment: now, wait: nil),
        Row(name: "offered, the moment ahead", moment: later, verdict: .open, wait: .time(later)),
        Row(name: "the store first", moment: later, verdict: .held(until: sooner), wait: .time(sooner)),
        Row(name: "the store first, without an end", moment: later, verdict: .closed, wait: .store),
        Row(name: "a latest has no moment", kind: .latest, moment: later, verdict: .open, wait: nil),
        Row(name: "released", isReleased: true, moment: later, verdict: .closed, wait: nil),
        Row(name: "released, no store any more", isReleased: true, wait: nil),
        Row(name: "a store that it needs not", isGated: false, moment: later, verdict: .closed, wait: .time(later)),
    ]

    @Test(arguments: rows)
    private func first(_ row: Row) throws {
        var requirement = Requirement(
            id: 1, kind: row.kind, version: try Version("2.0"), state: .waiting, isGated: row.isGated,
            changed: Signature(by: "alice", via: "api", at: Self.now))
        (requirement.isReleased, requirement.requiredFrom) = (row.isReleased, row.moment)
        let surroundings = RequirementMachine.Surroundings(now: Self.now) { _ in
            row.verdict.map { GateVerdict($0, "the store's words") }
        }
        let wait = Requirements([requirement]).wait(of: requirement, in: surroundings)
        #expect(wait?.wait == row.wait && (wait == nil) == (row.wait == nil))
        #expect(wait?.end == row.wait?.end && wait?.isHalted ?? false == row.isHalted)
        if row.wait == .lostStore { #expect(wait?.reason.contains("version release") == (row.kind != .latest)) }
        if row.verdict == .closed, row.wait == .store { #expect(wait?.reason == "the store's words") }
    }

    @Test func askedByAnotherProgram() throws {
        var asked = Requirement(
            id: 1, kind: .blocked, version: try Version("2.0"), state: .asked, isGated: true,
            changed: Signature(by: "unknown", via: "database", at: Self.now))
        let surroundings = RequirementMachine.Surroundings(now: Self.now)
        #expect(
            Requirements([asked]).wait(of: asked, in: surroundings)
                == RequirementWait(nil, "it was asked for a moment ago"))
        asked.reason = "2.0 was withdrawn before: a person has to release it"
        #expect(Requirements([asked]).wait(of: asked, in: surroundings)?.reason == asked.reason)
    }
}
