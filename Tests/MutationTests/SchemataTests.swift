// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

/// Bodies and values are found by their braces alone: what looks like one and is none.
@Suite struct SchemataTests {
    private static func units(_ text: String) -> [String] {
        let source = SwiftText(text)
        return source.units.map { source.string($0.range).trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    @Test(arguments: [
        ("func a() { b() }", ["b()"]),
        ("struct A { var b: Int { c } }", ["c"]),
        ("struct A { var b: Int { get throws { c } set { d } } }", ["c", "d"]),
        ("struct A { var b: Int { set.count } }", ["set.count"]),
        ("struct A { var actor: B { c } ; func d() { e } }", ["c", "e"]),
        ("struct A { class func b() { c } ; class var d: Int { e } }", ["c", "e"]),
        ("struct A { static let b = 1 // of c\n let d: E }", ["1"]),
        ("struct A { let b =\n 1\n + 2\n func c() { d } }", ["1\n + 2", "d"]),
        ("struct A { private let b: C = { d }()\n init() { e } }", ["{ d }()", "e"]),
        ("struct A { var b = 1 { didSet { c() } } }", ["1", "c()"]),
        ("struct A { func b(c: () -> Void = { d }) { e } }", ["e"]),
        ("enum A { case b = 1, c; init?(_ d: Int) { nil } }", ["nil"]),
        ("extension A where B == C { subscript(d: Int) -> E { f } }", ["f"]),
        ("func a() { let b = \"} \\(c { \"}\" }) \\\" {\" }", ["let b = \"} \\(c { \"}\" }) \\\" {\""]),
        ("func a() { /* } */ b // }\n }", ["/* } */ b // }"]),
        ("let a: SQL = \"\"\"\n    b {\n    \"\"\"\nfunc c() { #\"}\"# }", ["\"\"\"\n    b {\n    \"\"\"", "#\"}\"#"]),
        ("protocol A { var b: Int { get } }", []),
    ])
    func unitsAreFound(_ text: String, _ units: [String]) { #expect(Self.units(text) == units) }

    @Test func neighboursHaveABodyEach() throws {
        let text = "func a() -> Int {\n    b\n}\nlet c = 1\n"
        let schemata = try Schemata(
            text, [(1, [Edit(22..<23, "x")]), (2, [Edit(22..<23, "y"), Edit(34..<35, "2")])], file: "A.swift")
        #expect(
            schemata.text == """
                public import CMutant
                func a() -> Int { if mutantIsOn(1) {
                    x
                } else if mutantIsOn(2) {
                    y
                } else {
                    b
                }}
                let c = mutantIsOn(2) ? ( 2) : ( 1)

                """)
        #expect(schemata.mutants(onLine: 3) == [1])
        #expect(schemata.mutants(onLine: 5) == [2])
        // One of them has spoilt the body that stands as it was.
        #expect(schemata.mutants(onLine: 7) == [1, 2])
        #expect(schemata.mutants(onLine: 1) == [])
    }

    @Test func whatHasNoBodyIsRefused() {
        #expect(throws: MutationError.self) {
            try Schemata("struct A { let b: Int }", [(1, [Edit(15..<16, "c")])], file: "")
        }
        // A parameter's name belongs to no body either.
        #expect(throws: MutationError.self) {
            try Schemata("func a(b: Int) { b }", [(1, [Edit(7..<8, "c")])], file: "")
        }
    }
}
