// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

@Suite struct PatchTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let mutants = root.appending(path: "Tests/Simulation/Mutants")

    /// A patch that does not apply any more is worth nothing; one that cannot stand behind a switch is not measured.
    @Test func allPatchesStandInOneSource() throws {
        let patches = try Patch.all(in: Self.mutants)
        #expect(patches.count >= 66)
        func read(_ file: String) throws -> String { try ScratchCopy.text(file, in: Self.root) }
        let mutants = try patches.map { try $0.mutant(read) }
        #expect(Set(mutants.map(\.number)).count == mutants.count, "two patches have one number")
        let sources = try ScratchCopy.schemata(mutants, read: read)
        for mutant in mutants {
            for file in mutant.edits.keys {
                #expect(sources[file]?.text.contains("mutantIsOn(\(mutant.number))") == true, "\(mutant.name)")
            }
        }
    }

    /// The table of the guide is made of them.
    @Test func eachPatchSaysWhatPeopleSee() throws {
        for patch in try Patch.all(in: Self.mutants) {
            for lines in [["Seen: ", "Undone: "], ["Needs: "], ["Breaks: "]] {
                let isThere = patch.notes.contains { note in lines.contains { note.hasPrefix($0) } }
                #expect(isThere, "\(patch.name) has no line \"# \(lines[0])\"")
            }
        }
    }

    /// Their numbers are those of patches that are there; the test that finds each instead is there, too.
    @Test func exceptionsAreOfPatchesThatAreThere() throws {
        let guide = try ScratchCopy.text("Tests/Simulation/README.md", in: Self.root)
        #expect(guide.contains(MutantTable.begin) && guide.contains(MutantTable.end))
        let numbers = Set(try Patch.all(in: Self.mutants).compactMap { Int($0.name.prefix { $0.isNumber }) })
        let tests = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Tests").path)
            .filter { $0.hasSuffix(".swift") && $0.contains("Tests/") }
            .map { try ScratchCopy.text("Tests/\($0)", in: Self.root) }.joined()
        let exceptions = MutantTable.exceptions(in: guide)
        #expect(!exceptions.isEmpty)
        for exception in exceptions {
            #expect(numbers.contains(exception.number))
            // As `TestJudges` writes it: the judge, and the test by its title or by its function.
            let test = exception.by.prefixMatch(of: /(?:[A-Za-z.]+|kept histories): (?:(".+")|([A-Za-z0-9]+)\(.*\))/)
            let title = test?.output.1.map(String.init)
            // A name in backticks is shown as a title.
            let words = title.map { [$0, "func `\($0.dropFirst().dropLast())`("] } ?? ["func \(test?.output.2 ?? "")("]
            #expect(
                test != nil && words.contains { tests.contains($0) },
                "\(exception.number) names no test: \(exception.by)")
        }
    }

    /// A letter of several bytes that differs in one of them is written whole.
    @Test func lettersStayWhole() {
        #expect(Edit(from: "a\u{E9}b", to: "a\u{E8}b", at: 0) == Edit(1..<3, "\u{E8}"))
        // Both end with the same byte.
        #expect(Edit(from: "\u{E9}", to: "\u{129}", at: 4) == Edit(4..<6, "\u{129}"))
        #expect(Edit(from: "\u{7248}\u{672C}", to: "\u{7248}\u{672A}", at: 0) == Edit(3..<6, "\u{672A}"))
    }

    @Test func hunksAreFoundWhereTheirLinesStand() throws {
        let text = "a\nb {\n    c\n    d(1)\n    e\n}\n"
        let patch = try Patch(
            name: "07-d-is-two",
            text: """
                # Of a fault.
                # Seen: nothing.
                diff --git a/F.swift b/F.swift
                index 1..2 100644
                --- a/F.swift
                +++ b/F.swift
                @@ -40,3 +40,2 @@ b
                     c
                -    d(1)
                -    e
                +    d(2)
                 }
                """)
        let mutant = try patch.mutant { file in
            #expect(file == "F.swift")
            return text
        }
        #expect((mutant.number, mutant.name) == (7, "d is two"))
        #expect(mutant.notes == ["Of a fault.", "Seen: nothing."])
        // Letters that both sides begin and end with are left out.
        #expect(mutant.edits == ["F.swift": [Edit(18..<26, "2)")]])
        #expect(throws: MutationError.self) { try patch.mutant { _ in text.replacing("d(1)", with: "d(3)") } }
    }
}
