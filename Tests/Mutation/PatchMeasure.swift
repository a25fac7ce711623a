// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `make mutants`: each patch against fresh seeds, all of them in one binary.
package struct PatchMeasure {
    /// All that `simulate` is built of, and the code that reads how it ends: these decide a finding.
    static let deciding = [
        "Package.swift", "Sources", "Tests/CFaultyVFS", "Tests/FaultInjection", "Tests/Mutation", "Tests/Simulate",
        "Tests/Simulation/Fleet", "Tests/Simulation/Model", "Tests/Simulation/Runner", "Tests/Simulation/Script",
        "Tests/Simulation/World", "Tests/StorePeers", "Tests/TestPeers", "Tests/TestStores",
    ]

    private let arguments: MutantArguments
    private let guide: URL

    package init(_ arguments: MutantArguments) {
        self.arguments = arguments
        guide = arguments.root.appending(path: "Tests/Simulation/README.md")
    }

    /// - Returns: whether each mutant was found, but for the exceptions of the guide.
    package func run() throws -> Bool {
        let root = arguments.root
        let fingerprint = try ScratchCopy.fingerprint(Self.deciding, of: root)
        let patches = try Patch.all(in: root.appending(path: "Tests/Simulation/Mutants"))
        let mutants = try patches.map { patch in try patch.mutant { try ScratchCopy.text($0, in: root) } }
        let twice = Dictionary(grouping: mutants, by: \.number).filter { $0.value.count > 1 }.keys.sorted()
        guard twice.isEmpty else { throw MutationError("two patches of one number: \(twice)") }
        let unknown = arguments.only.subtracting(mutants.map(\.number)).sorted()
        guard unknown.isEmpty else { throw MutationError("no patch has the number \(unknown)") }

        var copy = ScratchCopy(
            of: root, in: arguments.scratch.appending(path: "tree"), swift: arguments.swift, mutants: mutants)
        if seeds > 0 { show("building simulate with \(mutants.count) mutants in \(copy.folder.path)") }
        var faults: [String] = []
        // Without seeds the tests alone judge.
        if seeds > 0 {
            try copy.build(.simulation, limit: arguments.buildLimit) { mutant, fault in
                faults.append("mutant \(mutant.number) does not compile: \(fault)")
            }
        }
        guard faults.isEmpty else { throw MutationError(faults.joined(separator: "\n")) }
        // The findings are those of the sources that the binary was built of.
        guard try ScratchCopy.fingerprint(Self.deciding, of: root) == fingerprint else {
            throw MutationError("the checkout has changed while its copy was built: run it again")
        }
        let chosen = mutants.filter { arguments.only.isEmpty || arguments.only.contains($0.number) }
        let findings = try search(chosen, in: copy, fingerprint)
        func judged(_ mutants: [Mutant]) -> [(mutant: Mutant, finding: Finding?)] {
            mutants.map { ($0, findings[Self.key($0, fingerprint)]) }
        }

        var exceptions = MutantTable.exceptions(in: try String(contentsOf: guide, encoding: .utf8))
        if arguments.asksTests {
            let known = Set(exceptions.map(\.number))
            let living = judged(chosen).filter { $0.finding?.isFound != true && !known.contains($0.mutant.number) }
            exceptions += try foundByTests(living.map(\.mutant), &copy)
            exceptions.sort { $0.number < $1.number }
        }
        let excepted = Set(exceptions.map(\.number))
        let found = judged(chosen)
        show("\n" + MutantTable(found, exceptions: exceptions).text + "\n")
        let living = found.filter { $0.finding?.isFound != true && !excepted.contains($0.mutant.number) }
        show(
            "\(found.count { $0.finding?.isFound == true }) of \(found.count) were found within \(seeds) seeds, "
                + "\(found.count { excepted.contains($0.mutant.number) }) are excepted")
        for (mutant, _) in living { show("mutant \(mutant.number) (\(mutant.name)) lives") }
        for (mutant, finding) in found where finding?.isFound == true && excepted.contains(mutant.number) {
            show("mutant \(mutant.number) (\(mutant.name)) is found: it needs no exception")
        }
        // Also those that were not chosen: what this state of the sources has come to is known of them, or nothing is.
        if arguments.writes { try write(judged(mutants), exceptions) }
        return living.isEmpty
    }

    private var seeds: Int { arguments.seeds ?? 3000 }

    /// The test that finds each of some mutants: of its rooms, or of the store's conformance.
    private func foundByTests(_ mutants: [Mutant], _ copy: inout ScratchCopy) throws -> [MutantTable.Exception] {
        guard !mutants.isEmpty else { return [] }
        show("building the tests with all mutants: \(mutants.count) are held against them")
        try copy.build(.tests, limit: arguments.buildLimit) { mutant, fault in
            show("mutant \(mutant.number) does not compile with the tests: \(fault)")
        }
        let judges = try TestJudges(
            of: Set(mutants.flatMap(\.edits.keys)), copy.binary(.tests), in: copy.folder, jobs: arguments.jobs)
        let found = Lines<Int, String>()
        try SideBySide.run(mutants, jobs: arguments.jobs) { mutant in
            if let test = try judges.find(mutant) { found.put(test, mutant.number) }
            let words = found[mutant.number].map { "found by \($0)" } ?? "no test finds it"
            show("\(mutant.number) \(mutant.name): \(words)")
        }
        return mutants.compactMap { mutant in
            found[mutant.number].map { MutantTable.Exception(number: mutant.number, by: $0, name: mutant.name) }
        }
    }

    /// The same for the same patch of the same sources.
    private static func key(_ mutant: Mutant, _ fingerprint: UInt64) -> String {
        var print = Fingerprint()
        for (file, edits) in mutant.edits.sorted(by: { $0.key < $1.key }) {
            print.add(Data("\(file) \(edits)".utf8))
        }
        print.add(Data((mutant.isOfFleet ? "fleet" : "one").utf8))
        return "\(String(fingerprint, radix: 16)) \(mutant.number) \(String(print.value, radix: 16))"
    }

    private func search(_ mutants: [Mutant], in copy: ScratchCopy, _ fingerprint: UInt64) throws -> Findings {
        let seeds = seeds
        let file = arguments.scratch.appending(path: "findings.tsv")
        if arguments.isAnew { try? FileManager.default.removeItem(at: file) }
        let findings = try Findings(in: file)
        func key(_ mutant: Mutant) -> String { Self.key(mutant, fingerprint) }
        func isDone(_ mutant: Mutant) -> Bool {
            switch findings[key(mutant)] {
            case .found: true
            case .lives(let most): most >= seeds
            case nil: false
            }
        }
        let open = seeds > 0 ? mutants.filter { !isDone($0) } : []
        let base = arguments.base ?? UInt64(Date().timeIntervalSince1970)
        show("\(open.count) of \(mutants.count) mutants are open; seeds from \(base)")
        let search = SeedSearch(copy.binary(.simulation), in: copy.folder, base: base)
        let lines = open.map { mutant in
            var before = 0
            if case .lives(let seeds) = findings[key(mutant)] { before = seeds }
            return (mutant: mutant, key: key(mutant), before: before)
        }
        try SideBySide.run(lines, jobs: arguments.jobs) { line in
            let begun = Date()
            let finding = try search.run(
                line.mutant.number, isOfFleet: line.mutant.isOfFleet, seeds: seeds, before: line.before
            ) { try findings.put(.lives(seeds: $0), line.key) }
            try findings.put(finding, line.key)
            let words =
                switch finding {
                case .found(let seeds, let by): "found after \(seeds) seeds by \(by)"
                case .lives(let seeds): "lives after \(seeds) seeds"
                }
            show("\(line.mutant.number) \(line.mutant.name): \(words) (\(Int(Date().timeIntervalSince(begun))) s)")
        }
        return findings
    }

    private func write(_ found: [(mutant: Mutant, finding: Finding?)], _ exceptions: [MutantTable.Exception]) throws {
        let text = try String(contentsOf: guide, encoding: .utf8)
        let heading =
            "\(found.count { $0.finding?.isFound == true }) of \(found.count { $0.finding != nil }) that were tried are found by fresh seeds "
            + "of 20, 60 and 300 steps; beside each that is not stands how many were tried."
        // Without seeds nothing new is known of them.
        let table = MutantTable(found, exceptions: exceptions)
        guard let tabled = seeds > 0 ? table.written(into: text, heading: heading) : text,
            let written = MutantTable.written(exceptions, into: tabled)
        else { throw MutationError("\(guide.path) has no place for the tables") }
        try written.write(to: guide, atomically: true, encoding: .utf8)
    }
}
