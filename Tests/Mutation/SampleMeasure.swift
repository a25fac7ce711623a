// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `make mutate`: mutants that rules make, against the tests of their room, the store's conformance, and seeds.
package struct SampleMeasure {
    private typealias Drawn = (mutant: Mutant, candidate: MutationCandidate)

    /// Tests decide what is found, as much as the sources do.
    private static let deciding = ["Package.swift", "Sources", "Tests"]

    private let arguments: MutantArguments
    private let findings: Findings
    private let fingerprint: UInt64

    package init(_ arguments: MutantArguments) throws {
        self.arguments = arguments
        let file = arguments.scratch.appending(path: "findings.tsv")
        if arguments.isAnew { try? FileManager.default.removeItem(at: file) }
        try FileManager.default.createDirectory(at: arguments.scratch, withIntermediateDirectories: true)
        findings = try Findings(in: file)
        fingerprint = try ScratchCopy.fingerprint(Self.deciding, of: arguments.root)
    }

    /// For each mutant; 0: tests alone, and no simulation is built.
    private var seeds: Int { arguments.seeds ?? 500 }

    /// The same for the same change of the same sources and tests.
    private func key(_ candidate: MutationCandidate) -> String {
        var print = Fingerprint()
        print.add(Data("\(candidate.file) \(candidate.edit.range) \(candidate.edit.text)".utf8))
        return "\(String(fingerprint, radix: 16)) \(String(print.value, radix: 16))"
    }

    /// - Returns: true. People judge the mutants that live: one may be the same program in other words.
    package func run() throws -> Bool {
        var (drawn, copy) = try compiled()
        if seeds > 0 { try copy.build(.simulation, limit: arguments.buildLimit) { try drop($0, $1, of: drawn) } }
        guard try ScratchCopy.fingerprint(Self.deciding, of: arguments.root) == fingerprint else {
            throw MutationError("the checkout has changed while its copy was built: run it again")
        }
        let there = Set(copy.mutants.map(\.number))
        drawn.removeAll {
            !there.contains($0.mutant.number) || !(arguments.only.isEmpty || arguments.only.contains($0.mutant.number))
        }
        let unknown = arguments.only.subtracting(drawn.map(\.mutant.number)).sorted()
        guard unknown.isEmpty else { throw MutationError("none of the sample has the number \(unknown)") }
        try measure(drawn, copy)
        try report(drawn)
        return true
    }

    // MARK: Drawing

    /// As many as are wanted, all in one copy, whose tests are built. What does not compile gives way to another.
    private func compiled() throws -> ([Drawn], ScratchCopy) {
        var draw = try MutationDraw(arguments.draw, rooms: arguments.rooms, root: arguments.root)
        show("\(draw.count) changes are known, \(arguments.sample) are drawn by \(arguments.draw)")
        var drawn: [Drawn] = []
        let tree = arguments.scratch.appending(path: "tree")
        while true {
            while drawn.count < arguments.sample, let next = draw.next() {
                if findings[key(next.candidate)] != Self.notCompiled { drawn.append(next) }
            }
            let wanted = drawn.count
            var copy = ScratchCopy(of: arguments.root, in: tree, swift: arguments.swift, mutants: drawn.map(\.mutant))
            try copy.build(.tests, limit: arguments.buildLimit) { try drop($0, $1, of: drawn) }
            let there = Set(copy.mutants.map(\.number))
            drawn.removeAll { !there.contains($0.mutant.number) }
            show("\(drawn.count) of \(wanted) compile")
            // Or nothing is left to draw.
            if drawn.count == wanted { return (drawn, copy) }
        }
    }

    private func drop(_ mutant: Mutant, _ fault: String, of drawn: [Drawn]) throws {
        show("mutant \(mutant.number) does not compile: \(fault)")
        for one in drawn where one.mutant.number == mutant.number {
            try findings.put(Self.notCompiled, key(one.candidate))
        }
    }

    private static let notCompiled = Finding.found(seeds: 0, by: "the compiler")

    // MARK: Measuring

    /// Tests that take at most so long, in seconds, are asked before seeds, which take a minute or two.
    private static let quick = 30

    private func measure(_ drawn: [Drawn], _ copy: ScratchCopy) throws {
        let seeds = seeds
        let open = drawn.filter { one in
            if case .lives(let most) = findings[key(one.candidate)] {
                most < seeds
            } else {
                findings[key(one.candidate)] == nil
            }
        }
        show("\(open.count) of \(drawn.count) are open")
        guard !open.isEmpty else { return }
        let judges = try TestJudges(
            of: Set(open.flatMap(\.mutant.edits.keys)), copy.binary(.tests), in: copy.folder, jobs: arguments.jobs)
        let base = arguments.base ?? UInt64(Date().timeIntervalSince1970)
        let search = SeedSearch(copy.binary(.simulation), in: copy.folder, base: base)
        let lines = open.map { (mutant: $0.mutant, candidate: $0.candidate, key: key($0.candidate)) }
        try SideBySide.run(lines, jobs: arguments.jobs) { [findings] line in
            let begun = Date()
            var finding = Finding.lives(seeds: seeds)
            if let test = try judges.find(line.mutant, taking: 0...Self.quick) {
                finding = .found(seeds: 0, by: test)
            } else if seeds > 0 {
                finding = try search.run(line.mutant.number, isOfFleet: false, seeds: seeds)
            }
            if !finding.isFound, let test = try judges.find(line.mutant, taking: (Self.quick + 1)...Int.max) {
                finding = .found(seeds: 0, by: test)
            }
            try findings.put(finding, line.key)
            let words =
                switch finding {
                case .found(0, let by): by
                case .found(let seeds, let by): "\(by) after \(seeds) seeds"
                case .lives: "LIVES"
                }
            let place = "\(line.candidate.file):\(line.candidate.line)"
            show(
                "\(line.mutant.number) \(line.mutant.name) \(place): \(words) (\(Int(Date().timeIntervalSince(begun))) s)"
            )
        }
    }

    // MARK: The table

    private func report(_ drawn: [Drawn]) throws {
        let judged = drawn.compactMap { one in findings[key(one.candidate)].map { (one: one, finding: $0) } }
        let living = judged.filter { !$0.finding.isFound }
        func cell(_ text: String) -> String { "`\(text.replacing("|", with: "\\|").replacing("`", with: "'"))`" }
        var rows = ["| mutant | line | is | becomes |", "|---|---|---|---|"]
        for (one, _) in living {
            let place = "\(one.candidate.file.dropFirst("Sources/".count)):\(one.candidate.line)"
            rows.append(
                "| \(one.mutant.number) \(one.mutant.name) | \(place) | \(cell(one.candidate.before)) | \(cell(one.candidate.after)) |"
            )
        }
        let byTests = judged.count { if case .found(0, _) = $0.finding { true } else { false } }
        let heading =
            "Of \(judged.count) drawn by \(arguments.draw), \(byTests) were found by tests, \(judged.count - byTests - living.count) "
            + "by seeds, and \(living.count) live:"
        let text = ([heading, ""] + rows).joined(separator: "\n") + "\n"
        try text.write(to: arguments.scratch.appending(path: "lived.md"), atomically: true, encoding: .utf8)
        show("\n" + text)
    }
}

/// A dictionary that several threads write.
final class Lines<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Key: Value] = [:]

    func put(_ value: Value, _ key: Key) { lock.withLock { values[key] = value } }

    subscript(_ key: Key) -> Value? { lock.withLock { values[key] } }
}
