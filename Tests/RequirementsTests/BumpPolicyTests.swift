// SPDX-License-Identifier: Apache-2.0
import OwnThread
import Requirements
import Testing
import UpgradeRules

/// The configuration's part of a bump, in the one run of the machine.
@Suite("The configuration's part of a bump", .ownThread) struct BumpPolicyTests {
    private static func subject() -> RequirementSubject {
        var subject = RequirementSubject()
        subject.hasStore = false
        return subject
    }

    private static func latest(_ version: String) throws -> RequirementEvent {
        .asked(VersionBump(app: RequirementSubject.app, latest: try Version(version)))
    }

    private static func required(_ version: String, _ telephones: [String]? = nil) throws -> RequirementEvent {
        .asked(VersionBump(app: RequirementSubject.app, required: try Version(version), telephones: telephones))
    }

    private static func blocked(_ version: String) throws -> RequirementEvent {
        var bump = VersionBump(app: RequirementSubject.app)
        bump.blocked = [try Version(version)]
        return .asked(bump)
    }

    @Test("A latest version forces as the policy says, measured by what is taken up, and not what a person took back")
    func force() throws {
        var subject = Self.subject()
        subject.policy.force = .minor
        let first = subject.take(try Self.latest("1.0.0"))
        let mends = subject.take(try Self.latest("1.0.1"))
        #expect(first && mends && subject.requirements.required == nil)
        let forces = subject.take(try Self.latest("1.1.0"))
        #expect(forces && subject.requirements.required?.version.text == "1.1.0")
        let isWithdrawn = subject.take(.withdrawn(try Version("1.1.0"), reason: nil))
        let again = subject.take(try Self.latest("1.1.0"))
        #expect(isWithdrawn && again && subject.requirements.required == nil)
    }

    @Test("A machine does not ask for what a person took back; a person does")
    func withdrawn() throws {
        var subject = Self.subject()
        let version = try Version("2.0.0")
        let taken = [
            try Self.required("2.0.0"), .withdrawn(version, reason: nil), try Self.blocked("1.5.0"),
            .unblocked([try Version("1.5.0")], reason: nil),
        ].map { subject.take($0) }
        #expect(taken == [true, true, true, true])
        subject.policy.isMachine = true
        let byMachine = subject.take(try Self.required("2.0.0"))
        #expect(!byMachine && subject.refusal == .wasWithdrawn(version, .required))
        let blockByMachine = subject.take(try Self.blocked("1.5.0"))
        #expect(try !blockByMachine && subject.refusal == .wasWithdrawn(Version("1.5.0"), .blocked))
        subject.policy.isMachine = false
        let byPerson = subject.take(try Self.required("2.0.0"))
        #expect(byPerson)
    }

    @Test("A machine makes no canary wider, and begins with the configuration's where there is none")
    func canary() throws {
        var subject = Self.subject()
        subject.policy.canary = ["139"]
        let byPerson = subject.take(try Self.required("2.0.0"))
        #expect(byPerson && subject.requirements.required?.canary == nil, "a person means everybody")
        subject.policy.isMachine = true
        let first = subject.take(try Self.required("2.1.0"))
        #expect(first && subject.requirements.required?.canary == ["139"])
        subject.policy.canary = nil
        let second = subject.take(try Self.required("2.2.0"))
        #expect(second && subject.requirements.required?.canary == ["139"], "the newest is for named users alone")
    }

    @Test("Where the configuration has no address the last one stays")
    func address() throws {
        var subject = Self.subject()
        var bump = VersionBump(app: RequirementSubject.app, required: try Version("2.0.0"))
        bump.downloadURL = "https://example.com/two"
        let first = subject.take(.asked(bump))
        let second = subject.take(try Self.required("2.1.0"))
        #expect(first && second && subject.requirements.required?.downloadURL == nil)
        subject.policy.hasDownloadURL = false
        let third = subject.take(.asked(bump.raised(to: try Version("2.2.0"))))
        let fourth = subject.take(try Self.required("2.3.0"))
        #expect(third && fourth && subject.requirements.required?.downloadURL == "https://example.com/two")
    }

    @Test("Each row that a bump is about is checked once, and a refusal changes nothing")
    func check() throws {
        var subject = Self.subject()
        var checked: [String] = []
        subject.policy.check = { row throws(RequirementRefusal) in checked.append("\(row.version) \(row.kind)") }
        let isTaken = subject.take(try Self.required("2.0.0"))
        #expect(isTaken && checked == ["2.0.0 required"])
        let announces = subject.take(try Self.latest("2.1.0"))
        #expect(announces && checked.count == 1, "nobody is pushed to")
        let blocks = subject.take(try Self.blocked("1.5.0"))
        #expect(blocks && checked.last == "1.5.0 blocked" && checked.count == 2)
        subject.policy.check = { _ throws(RequirementRefusal) in throw .unsendable("too long") }
        let before = subject.requirements
        let isRefused = !subject.take(try Self.required("3.0.0"))
        #expect(isRefused && subject.refusal == .unsendable("too long") && subject.requirements == before)
    }
}

extension VersionBump {
    fileprivate func raised(to version: Version) -> VersionBump {
        var bump = self
        bump.required = version
        return bump
    }
}
