// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

@Suite struct ApprovalTests {
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let app = AppKey(app: "com.example.app", platform: .ios)

    private func request(by asker: Principal) throws -> Approval {
        Approval(
            id: 3, Self.app, Approval.Wish(.raise, try Version("2.0.0")), ApprovalReach(devices: 40, of: 100),
            shown: Shown(), by: asker, at: Self.now, until: Self.now + .seconds(3600))
    }

    @Test("an act waits if it reaches more than the share, and not if it reaches just that")
    func share() {
        let rule = ApprovalRule(above: 1000)
        #expect(!rule.wantsSecondPerson(for: ApprovalReach(devices: 10, of: 100)))
        #expect(rule.wantsSecondPerson(for: ApprovalReach(devices: 11, of: 100)))
        #expect(!rule.wantsSecondPerson(for: ApprovalReach(devices: 0, of: 0)))
        let none = ApprovalRule(above: 0)
        #expect(none.wantsSecondPerson(for: ApprovalReach(devices: 1, of: 1_000_000)))
        #expect(!none.wantsSecondPerson(for: ApprovalReach(devices: 0, of: 1_000_000)))
    }

    @Test("a request is about the live row of its version and kind")
    func requirement() throws {
        func row(_ id: Int64, _ kind: Requirement.Kind, _ state: Requirement.State) throws -> Requirement {
            Requirement(
                id: id, kind: kind, version: try Version("2.0.0"), state: state, isGated: false,
                changed: Signature(by: "ci", via: "api", at: Self.now))
        }
        let rows = Requirements([
            try row(1, .required, .withdrawn), try row(2, .required, .waiting), try row(3, .blocked, .inForce),
        ])
        var wish = Approval.Wish(.release, try Version("2.0.0"))
        #expect(wish.requirement(in: rows) == 2)
        wish.kind = .blocked
        #expect(wish.requirement(in: rows) == 3)
        #expect(Approval.Wish(.block, try Version("2.0.0")).requirement(in: rows) == 3)
        #expect(Approval.Wish(.raise, try Version("2.0.1")).requirement(in: rows) == nil)
    }

    @Test(
        "a person is a name: the user's at the control socket, root's is that of whom it acts for",
        arguments: [
            (Principal("Alice", .token, via: "api"), "alice"), (.operator("alice (uid 1000)"), "alice"),
            (.operator("root (uid 0) for alice (uid 1000)"), "alice"), (.operator("root (uid 0) for Alice"), "alice"),
            (.operator("root (uid 0)"), "root"), (Principal("alice", .session, via: "page"), "alice"),
            (Principal("alice (uid 1000)", .session, via: "page"), "alice"),
            (Principal("proxy:alice", .session, via: "page"), "alice"),
            (Principal("ci for all", .token, via: "api"), "ci for all"),
        ])
    func person(_ principal: Principal, _ name: String) {
        #expect(principal.person == name)
    }

    @Test("who asked does not approve, whichever way the name comes")
    func own() throws {
        let request = try request(by: .operator("alice (uid 1000)"))
        for same in [
            Principal("alice", .token, via: "api"), .operator("root (uid 0) for alice"),
            Principal("Alice", .session, via: "page"),
        ] {
            #expect(throws: ApprovalRefusal.own(request)) { try request.check(by: same, at: Self.now) }
        }
        #expect(throws: Never.self) { try request.check(by: .operator("bob (uid 1001)"), at: Self.now) }
    }

    @Test("a machine does not approve")
    func machine() throws {
        let request = try request(by: .operator("alice (uid 1000)"))
        for machine in [Principal("ci", .webhook, via: "webhook"), .source("appStore"), .relay, .database("etl")] {
            #expect(throws: ApprovalRefusal.notAPerson(request)) { try request.check(by: machine, at: Self.now) }
        }
    }

    @Test("nothing is approved at its end, nor once it is closed")
    func late() throws {
        var request = try request(by: .operator("alice (uid 1000)"))
        let bob = Principal.operator("bob (uid 1001)")
        #expect(throws: Never.self) { try request.check(by: bob, at: request.until - .milliseconds(1)) }
        #expect(throws: ApprovalRefusal.isOver(request, .expired)) { try request.check(by: bob, at: request.until) }
        #expect(request.wait(at: Self.now) == .secondPerson(request.until))
        #expect(request.wait(at: request.until) == nil)
        for state in Approval.State.allCases where state != .open {
            request.state = state
            #expect(throws: ApprovalRefusal.isOver(request, state)) { try request.check(by: bob, at: Self.now) }
        }
    }

    @Test("an approval is one of about as many devices as were shown")
    func reach() throws {
        let request = try request(by: .operator("alice (uid 1000)"))
        for fine in [36, 40, 44] {
            #expect(throws: Never.self) { try request.check(reach: ApprovalReach(devices: Int64(fine), of: 100)) }
        }
        for other in [35, 45, 0] {
            #expect(throws: StaleConfirmation.self) {
                try request.check(reach: ApprovalReach(devices: Int64(other), of: 100))
            }
        }
    }

    @Test(
        "another program's row waits for a person where two are wanted, whom a release then is",
        arguments: [false, true])
    func outside(isWanted: Bool) throws {
        let row = Requirement(
            id: 1, kind: .required, version: try Version("2.0"), state: .asked, isGated: false,
            changed: Signature(by: "etl", via: "database", at: Self.now))
        var surroundings = RequirementMachine.Surroundings(now: Self.now)
        surroundings.rules.wantsSecondPerson = isWanted
        var machine = RequirementMachine(Requirements([row]), campaigns: [])
        try machine.reduce(.looked, by: .relay(at: Self.now), in: surroundings)
        #expect(machine.requirements.inForce?.version.text == (isWanted ? nil : "2.0"))
        guard isWanted else { return }
        #expect(machine.requirements.required?.reason?.contains("a second person has to approve it") ?? false)
        try machine.reduce(
            .released(nil), by: Signature(by: "bob", via: "release", at: Self.now), in: surroundings)
        #expect(machine.requirements.inForce?.version.text == "2.0")
    }
}
