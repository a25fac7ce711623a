// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

@Suite struct MeasureTests {
    private static let one = Mutant(
        1, "one", ["Sources/A/B.swift": [Edit(0..<1, "")]], notes: ["Seen: a phone rings twice."])
    private static let two = Mutant(2, "two", ["Sources/A/C.swift": [Edit(0..<1, "")]])
    private static let three = Mutant(3, "three", ["Sources/A/C.swift": [Edit(0..<1, "")]])

    @Test func theTableSaysWhoLives() {
        let guide = """
            <!-- mutants: excepted -->

            | mutant | by |
            |---|---|
            | 02 two | `SomeTests.some` |

            """
        let exceptions = MutantTable.exceptions(in: guide)
        #expect(exceptions.map(\.number) == [2])
        #expect(exceptions.map(\.by) == ["`SomeTests.some`"])
        let table = MutantTable(
            [(Self.three, nil), (Self.two, .lives(seeds: 9)), (Self.one, .found(seeds: 3, by: "a.b"))],
            exceptions: exceptions)
        #expect(
            table.text == """
                | mutant | place | what people see | seeds | found by |
                |---|---|---|---|---|
                | 01 one | A/B.swift | a phone rings twice. | 3 | `a.b` |
                | 02 two | A/C.swift |  | not in 9 | excepted, see below |
                | 03 three | A/C.swift |  | not tried |  |
                """)
        let written = table.written(into: "x\n\(MutantTable.begin)\nold\n\(MutantTable.end)\ny", heading: "Z.")
        #expect(written == "x\n\(MutantTable.begin)\nZ.\n\n\(table.text)\n\(MutantTable.end)\ny")
        #expect(table.written(into: "x", heading: "") == nil)
    }

    @Test func findingsOutliveTheRun() throws {
        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "findings-\(UUID()).tsv")
        defer { try? FileManager.default.removeItem(at: file) }
        let findings = try Findings(in: file)
        try findings.put(.lives(seeds: 100), "a")
        try findings.put(.found(seeds: 7, by: "x.y"), "b")
        try findings.put(.found(seeds: 0, by: "z"), "a")
        let again = try Findings(in: file)
        #expect(again["a"] == .found(seeds: 0, by: "z"))
        #expect(again["b"] == .found(seeds: 7, by: "x.y"))
        #expect(again["c"] == nil)
    }

    /// A process that breaks a promise in its second piece; that dies at a seed, or stands still there; that dies once and not again; that
    /// ends with a code and names no promise.
    @Test func seedsAreSearchedInPieces() throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "search-\(UUID())/tree")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let binary = folder.appending(path: "simulate")
        let script = """
            #!/bin/sh
            case "$*" in *" --jobs 1"*) ;; *) exit 2 ;; esac
            case $MUTANT in
            1) [ "$4" -gt 1000 ] || exit 0; echo "seed 1300 (the 51. of 250) breaks push.user: it does"; exit 1 ;;
            4) [ "$4" -lt 1010 ] && echo "seed 1009 (the 10. of 250) breaks store.lost: it does" && exit 1
               echo "seed 1100 (the 91. of 250) breaks push.twice: it does"; exit 1 ;;
            0) [ "$2 $4" != "1 1009" ] && exit 0; echo "seed 1009 (the 1. of 1) breaks store.lost: it does"; exit 1 ;;
            2) [ "$4" -le 1042 ] && [ $(($4 + $2)) -gt 1042 ] && kill -SEGV $$; exit 0 ;;
            3) [ "$4" -le 1003 ] && [ $(($4 + $2)) -gt 1003 ] && sleep 60; exit 0 ;;
            5) [ -e died ] && exit 0; touch died; kill -KILL $$ ;;
            6) echo "the store is full"; exit 1 ;;
            esac
            """
        try Data(script.utf8).write(to: binary)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: binary.path)
        let search = SeedSearch(binary, in: folder, base: 1000, limit: 5)
        #expect(try search.run(0, isOfFleet: false, seeds: 600) == .lives(seeds: 600))
        #expect(try search.run(1, isOfFleet: false, seeds: 600) == .found(seeds: 301, by: "push.user"))
        // A seed that fails without a mutant does not count.
        #expect(try search.run(4, isOfFleet: false, seeds: 600) == .found(seeds: 101, by: "push.twice"))
        #expect(try search.run(2, isOfFleet: false, seeds: 600) == .found(seeds: 43, by: "dies"))
        #expect(try search.run(3, isOfFleet: false, seeds: 8) == .found(seeds: 4, by: "stands still"))
        // A process that ends once, and not again, was not ended by the mutant.
        #expect(try search.run(5, isOfFleet: false, seeds: 250) == .lives(seeds: 250))
        #expect(throws: MutationError.self) { try search.run(6, isOfFleet: false, seeds: 250) }
    }

    /// Each folder of the tests that `simulate` is built of decides what a seed comes to, and the manifest does.
    @Test func findingsAreOfOneState() throws {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let manifest = try ScratchCopy.text("Package.swift", in: root)
        var (rooms, open) = (Set<String>(), ["simulate"])
        while let room = open.popLast() {
            let target = manifest.firstRange(of: try Regex("name: \"\(room)\"")).map { manifest[$0.upperBound...] }
            // A room of `Sources` is declared by a function, and has no path of its own.
            let words = target?.firstMatch(of: /(?s)^,(?:\s*dependencies: \[(.*?)\],)?\s*path: "Tests\/(.*?)"/)
            guard let words, rooms.insert("Tests/\(words.output.2)").inserted else { continue }
            open += (words.output.1 ?? "").matches(of: /"([A-Za-z0-9]+)"/).map { String($0.output.1) }
        }
        #expect(
            rooms.isSuperset(of: ["Tests/Simulate", "Tests/Simulation", "Tests/FaultInjection", "Tests/CFaultyVFS"]))
        for room in rooms {
            #expect(PatchMeasure.deciding.contains { $0 == room || $0.hasPrefix(room + "/") }, "\(room)")
        }
        #expect(throws: MutationError.self) { try ScratchCopy.fingerprint(["Package.swift", "Kitchen"], of: root) }
        #expect(
            try ScratchCopy.fingerprint(["Package.swift"], of: root) != ScratchCopy.fingerprint(["LICENSE"], of: root))
    }

    /// A binary of tests that fails under some mutants: once alone, by a test whose name cannot be read, by dying.
    @Test func testsJudgeMutants() throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "tests-\(UUID())/tree")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let binary = folder.appending(path: "tests")
        let script = """
            #!/bin/sh
            [ "$4" = Nothing ] && echo "Test run with 0 tests in 0 suites passed" && exit 0
            fail() { echo "✘ $1 recorded an issue at A.swift:1:2"; echo "Test run with 2 tests failed"; exit 1; }
            case $MUTANT in
            1) fail "Test broken()" ;;
            2) [ -e failed ] || { touch failed; fail "Test broken()"; } ;;
            3) fail 'b" to broken(_:)' ;;
            4) exit 3 ;;
            5) [ "$4" = Some ] && fail "Test gone()"; echo "Test run with 0 tests in 0 suites passed"; exit 0 ;;
            esac
            echo "Test run with 2 tests in 1 suite passed"
            """
        try Data(script.utf8).write(to: binary)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: binary.path)
        let run = try TestRun("Some", binary, in: folder)
        #expect(try run.run(6) == nil)
        #expect(try run.run(1) == "broken()")
        #expect(try run.run(2) == nil)
        #expect(try run.run(3) == "a test")
        #expect(try run.run(4) == "dies")
        #expect(throws: MutationError.self) { try run.run(5) }
        #expect(throws: MutationError.self) { try TestRun("Nothing", binary, in: folder) }
    }

    @Test func failuresOfTestsAreRead() {
        let output = """
            ✔ Test fine() passed after 0.001 seconds.
            ✘ Test broken() recorded an issue at A.swift:1:2: Expectation failed
            ✘ Test "Of two" recorded an issue with 1 argument value → 1 at A.swift:1:2: Expectation failed
            """
        #expect(TestRun.failures(in: output) == ["broken()", "\"Of two\""])
    }
}
