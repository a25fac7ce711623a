// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules
import WireFormat

/// The table of a requirement's terms.
@Suite struct RequirementFieldTests {
    private static let moment = Timestamp(seconds: 1_800_000_000)

    private static func example(of field: RequirementField) -> RequirementField.Value {
        field.isMoment ? .moment(moment) : .text("15.0")
    }

    @Test("a term's value comes back as it was written", arguments: RequirementField.allCases)
    func roundTrip(field: RequirementField) throws {
        var terms = RequirementTerms()
        #expect(terms[field] == nil)
        terms[field] = Self.example(of: field)
        #expect(terms[field] == Self.example(of: field))
        for other in RequirementField.allCases where other != field { #expect(terms[other] == nil) }
        #expect(!terms.isWritten(as: RequirementTerms()))
        // A value of another kind is none.
        terms[field] = field.isMoment ? .text("15.0") : .moment(Self.moment)
        #expect(terms == RequirementTerms())
    }

    @Test("a body names, removes or leaves out a term", arguments: RequirementField.allCases)
    func body(field: RequirementField) throws {
        func changes(_ members: String) throws -> RequirementTermChanges {
            var fields = try BodyFields(Array("{\(members)}".utf8))
            let changes = RequirementTermChanges(&fields)
            try fields.finish()
            return changes
        }
        #expect(try changes("").isEmpty)
        let (named, removed) = (
            try changes("\"\(field.name)\": \"\(Self.example(of: field).text)\""),
            try changes("\"\(field.name)\": null")
        )
        #expect(!named.isEmpty && !removed.isEmpty && named != removed)
        #expect(throws: BodyError.self) { try changes("\"\(field.name)\": \"never\"") }
    }

    @Test("equal numbers are written in two ways")
    func spelling() throws {
        var (one, other) = (RequirementTerms(), RequirementTerms())
        (one.minimumOS, other.minimumOS) = (try Version("15"), try Version("15.0"))
        #expect(one == other && !one.isWritten(as: other))
    }

    @Test("each term has names of its own")
    func names() {
        let all = RequirementField.allCases
        #expect(Set(all.map(\.name.description)).count == all.count)
        #expect(Set(all.map(\.column.description)).count == all.count)
        #expect(Set(all.map(\.option)).count == all.count)
        #expect(Set(all.map(\.noun)).count == all.count)
    }
}
