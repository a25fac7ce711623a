// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs some of the tests with one mutant on. Tests that fail without any are no judges.
struct TestRun: Sendable {
    let filter: String
    private let binary: URL
    private let folder: URL
    private let failing: Set<String>
    /// Whether all pass without a mutant.
    private let passes: Bool
    /// Without a mutant, in seconds.
    let duration: Int

    /// Runs them without a mutant first.
    init(_ filter: String, _ binary: URL, in folder: URL) throws {
        (self.filter, self.binary, self.folder) = (filter, binary, folder)
        let begun = Date()
        let child = try Self.child(filter, binary, in: folder, mutant: 0, limit: 3600)
        duration = Int(Date().timeIntervalSince(begun))
        failing = Set(Self.failures(in: child.output))
        passes = child.end == .exited(0)
        guard child.output.contains("Test run with"), !child.output.contains("Test run with 0 tests") else {
            throw MutationError("no test ran for \(filter): \(child.output.suffix(400))")
        }
    }

    private static func child(
        _ filter: String, _ binary: URL, in folder: URL, mutant: Int, limit: Int,
        until isEnough: ((String) -> Bool)? = nil
    ) throws -> Child {
        try Child.run(
            [binary.path, "--testing-library", "swift-testing", "--filter", filter], in: folder, limit: limit,
            environment: ["MUTANT": "\(mutant)"],
            log: folder.deletingLastPathComponent().appending(
                path: "logs/tests-\(mutant)-\(filter.filter(\.isLetter)).log"), until: isEnough)
    }

    /// Names of tests, as they are shown.
    static func failures(in output: String) -> [String] {
        output.matches(of: /(?m)Test (?:case passing .*? to )?(.+?) recorded an issue/).map { String($0.output.1) }
    }

    /// - Returns: the test that failed, or how the run ended; nil where all passed.
    func run(_ mutant: Int) throws -> String? {
        guard let first = try look(mutant, filter) else { return nil }
        // A deadline that a busy machine missed is no finding: it has to fail again.
        guard let name = first.wholeMatch(of: /([A-Za-z0-9_]+)\(.*\)/)?.output.1 else {
            return try look(mutant, filter)
        }
        return try look(mutant, "\(filter).*\(name)\\(")
    }

    private func look(_ mutant: Int, _ filter: String) throws -> String? {
        let failing = failing
        func found(_ output: String) -> String? { Self.failures(in: output).first { !failing.contains($0) } }
        let child = try Self.child(filter, binary, in: folder, mutant: mutant, limit: duration * 4 + 120) {
            found($0) != nil
        }
        if let name = found(child.output) { return name }
        if child.end == .tookTooLong { return "stands still" }
        guard child.output.contains("Test run with") else { return "dies" }
        guard !child.output.contains("Test run with 0 tests") else {
            throw MutationError("no test ran for \(filter): \(child.output.suffix(400))")
        }
        // An argument of several lines hides the name of a test.
        return passes && child.end != .exited(0) ? "a test" : nil
    }
}
