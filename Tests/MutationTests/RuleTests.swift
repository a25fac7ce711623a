// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

/// Each rule's changes of a line, and lines that no rule touches.
@Suite struct RuleTests {
    private static func changes(_ body: String, _ rule: MutationRule) -> [String] {
        let neighbours = MutationDraw.neighbours(in: [
            "enum A {\n    case one\n    case two, three\n}\nenum B {\n    case one, b(Int)\n}\n"
        ])
        let finder = CandidateFinder("func a() {\n\(body)\n}", file: "A.swift", neighbours: neighbours)
        return finder.found.filter { $0.rule == rule }.map(\.after)
    }

    @Test func conditionsAreTurned() {
        #expect(
            Self.changes("if a, let b, c { d() }", .negation) == [
                "if !(a), let b, c { d() }", "if a, let b, !(c) { d() }",
            ])
        #expect(Self.changes("guard a.b(c) else { d() }", .unasked) == ["guard true else { d() }"])
        #expect(Self.changes("while a { b() }", .negation) == ["while !(a) { b() }"])
        #expect(Self.changes("while a { b() }", .unasked) == [])
        #expect(Self.changes("if case .a = b { c() }", .negation) == [])
    }

    @Test func comparisonsAreTurned() {
        #expect(Self.changes("return a < b", .comparison) == ["return a <= b"])
        #expect(Self.changes("return min(a, b)", .comparison) == ["return max(a, b)"])
        #expect(Self.changes("let a = B<C>() // a < b", .comparison) == [])
        #expect(Self.changes("return a && \"a < b\" == c", .comparison).count == 2)
    }

    @Test func argumentsChangePlacesAndFieldsAreLeftOut() {
        #expect(Self.changes("f(a: b, c: d.e)", .swap) == ["f(a: d.e, c: b)"])
        #expect(Self.changes("f(a, b(c))", .swap) == [])
        #expect(Self.changes("f(a: b, c: d, e: 1)", .field).count == 3)
        #expect(Self.changes("a.b = c.d\ne()", .field) == ["do {}"])
    }

    @Test func casesBecomeTheirNeighbours() {
        #expect(Self.changes("return .two", .neighbour) == ["return .three"])
        #expect(Self.changes("return .three", .neighbour) == ["return .one"])
        // Two enumerations have it; a pattern would only be there twice; a member is none.
        #expect(Self.changes("return .one", .neighbour) == [])
        #expect(Self.changes("switch a {\ncase .two: b()\n}", .neighbour) == [])
        #expect(Self.changes("return a.two", .neighbour) == [])
        #expect(Self.changes("switch a {\ncase 1: .two\n}", .neighbour) == ["case 1: .three"])
    }

    @Test func statementsAreLeftOut() {
        #expect(Self.changes("a()\nb(\n    c,\n    d())\nlet e = f()\nreturn g()", .statement) == ["do {}"])
        #expect(Self.changes("let a =\n    b()\n", .statement) == [])
        #expect(Self.changes("a()\n    .b()", .statement) == [])
    }

    @Test func textsOfStatementsAreChanged() {
        #expect(Self.changes("run(\"SELECT 1 WHERE a <= 2 AND b IS NULL\")", .sql).count == 3)
        #expect(Self.changes("run(\"it is a <= 2\")", .sql) == [])
        #expect(Self.changes("run(\"SELECT \\(a <= 2)\")", .sql) == [])
    }

    @Test func answersAreTurned() { #expect(Self.changes("return true", .answer) == ["return false"]) }

    @Test func theSameNumberDrawsTheSame() throws {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        func drawn(_ number: UInt64) throws -> [String] {
            var draw = try MutationDraw(number, rooms: ["Notifications", "UpgradeRules"], root: root)
            #expect(draw.count > 100)
            return (0..<20).compactMap { _ in
                draw.next().map { "\($0.candidate.file) \($0.candidate.line) \($0.candidate.after)" }
            }
        }
        let first = try drawn(7)
        #expect(first.count == 20)
        #expect(try drawn(7) == first)
        #expect(try drawn(8) != first)
        #expect(throws: MutationError.self) { try MutationDraw(1, rooms: ["Kitchen"], root: root) }
        #expect(throws: MutationError.self) { try MutationDraw(1, rooms: ["FanOut", "Kitchen"], root: root) }
    }
}
