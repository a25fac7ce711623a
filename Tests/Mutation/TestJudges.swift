// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The tests that judge mutants: those of the rooms that a mutant changes, then the judges of all rooms. Each was run once without a mutant.
struct TestJudges: Sendable {
    private let runs: Lines<String, TestRun>

    /// - Parameter files: that some mutant changes.
    init(of files: Set<String>, _ binary: URL, in folder: URL, jobs: Int) throws {
        let runs = Lines<String, TestRun>()
        let filters = Set(files.flatMap { MutationRoom.tests(of: [$0]) }).sorted()
        try SideBySide.run(filters, jobs: jobs) { filter in runs.put(try TestRun(filter, binary, in: folder), filter) }
        for filter in filters { show("\(filter) takes \(runs[filter]?.duration ?? 0) s without a mutant") }
        self.runs = runs
    }

    /// - Parameter seconds: tests are run that take so long without a mutant. Default all.
    /// - Returns: the first test that fails with the mutant on; nil where none does.
    func find(_ mutant: Mutant, taking seconds: ClosedRange<Int> = 0...Int.max) throws -> String? {
        for filter in MutationRoom.tests(of: mutant.edits.keys.sorted()) {
            guard let run = runs[filter], seconds.contains(run.duration), let test = try run.run(mutant.number)
            else { continue }
            return "\(MutationRoom.judgesOfAll[filter] ?? filter.replacing("\\", with: "")): \(test)"
        }
        return nil
    }
}
