// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reports to people what a simulation finds.
package final class Report {
    private let shrinks: Bool
    /// The folder for shrunk scripts; nil: they are not written.
    private let folder: String?
    package private(set) var hasFound = false
    private var reached: [String: Int] = [:]

    package init(shrinks: Bool, folder: String? = nil) {
        self.folder = folder
        self.shrinks = shrinks
    }

    /// Writes at once, also into a pipe, so that a search over many seeds can be watched.
    private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    // MARK: One history

    /// Runs one script and prints its story.
    package func tell(_ script: Script, in simulation: Simulation, name: String, isTraceWanted: Bool) throws {
        let outcome = try simulation.run(script, isStoryWanted: true)
        for line in isTraceWanted ? outcome.lines : outcome.story { say(line) }
        say("\(name): \(script.operations.count) steps, trace \(String(outcome.hash, radix: 16))")
        for violation in outcome.violations {
            say("  \(simulation.known.contains(violation.rule) ? "known" : "BROKEN"): \(violation)")
        }
        hasFound = hasFound || outcome.violation != nil
    }

    // MARK: Many seeds

    /// Runs each seed. A broken promise is shrunk and reported, once for each promise.
    ///
    /// - Parameters:
    ///   - count: the number of workers.
    ///   - most: the number of different broken promises that ends the search.
    ///   - time: the time after which no other seed is judged; nil: all are judged.
    package func search<Kind: Histories>(
        _ histories: Kind, _ workers: any Workers, count: Int, seeds: Range<UInt64>, known: Set<String>, most: Int,
        atMost time: Duration? = nil
    ) throws {
        var found: [String] = []
        var (steps, traces, run) = (0, UInt64(0), 0)
        var busy = 0.0
        let start = ContinuousClock.now
        let search = OrderedSearch(histories, workers, seeds: seeds, known: known)
        try search.run { seed, verdict, violation in
            run += 1
            steps += verdict.steps
            busy += verdict.busy
            traces = traces &* 0x100_0000_01B3 ^ verdict.trace
            reached.merge(verdict.reached, uniquingKeysWith: +)
            if verdict.violation != nil { hasFound = true }
            guard let violation else { return time.map { ContinuousClock.now - start < $0 } ?? true }
            found.append(violation.rule)
            say("\nseed \(seed) (the \(run). of \(seeds.count)) breaks \(violation)")
            try shrink(search, histories, violation, histories.history(ofSeed: seed))
            say("  again: \(histories.command(seed: seed))")
            return found.count < most
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        func rate(_ seconds: Double) -> String { "\(Int(Double(run) / max(seconds, 0.001) * 60)) seeds a minute" }
        say(
            "\n\(run) \(histories.plural) from \(seeds.lowerBound), \(steps) steps in "
                + "\(String(format: "%.1f", busy)) s of processor time (\(rate(busy))), "
                + "\(String(format: "%.1f", search.shrinkingTime)) s to shrink"
                + (count > 1 ? "; \(count) workers took \(String(format: "%.1f", seconds)) s (\(rate(seconds)))" : ""))
        say("all traces: \(String(traces, radix: 16))")
        say(found.isEmpty ? "every promise held" : "broken: \(found.joined(separator: ", "))")
        tellReached(histories.expected)
    }

    /// Shrinks a script that breaks a promise. Reports a script that breaks none.
    package func shrink<Kind: Histories>(
        _ history: Kind.History, _ histories: Kind, _ workers: any Workers, known: Set<String>, name: String
    ) throws {
        guard let violation = try histories.run(history, known: known).violation else {
            return say("\(name): every promise held")
        }
        hasFound = true
        say("\(name) breaks \(violation)")
        try shrink(
            OrderedSearch(histories, workers, seeds: 0..<0, known: known), histories, violation, history)
    }

    private func shrink<Kind: Histories>(
        _ search: OrderedSearch<Kind>, _ histories: Kind, _ violation: Violation, _ history: Kind.History
    ) throws {
        let small = shrinks ? try search.shrunk(history, violation.rule) : history
        say("  shrunk from \(history.steps.count) steps to \(small.steps.count):")
        // A history that ends its process is not run here.
        if violation.rule != WorkerProcesses.rule {
            for line in try histories.story(of: small, rule: violation.rule) { say("    \(line)") }
        }
        say("  # rule: \(violation.rule)\n  # fault: (say what is wrong)")
        for line in small.text.split(separator: "\n") { say("  \(line)") }
        if let folder {
            let text = "# rule: \(violation.rule)\n# fault: \(violation.text)\n" + small.text
            try text.write(toFile: "\(folder)/\(violation.rule).script", atomically: true, encoding: .utf8)
        }
    }

    /// Prints the things that the seeds reached, and those that they never reached.
    private func tellReached(_ expected: [String]) {
        let kinds = Dictionary(grouping: reached.keys) { $0.prefix { $0 != ":" } }
        say("\nreached:")
        for (kind, names) in kinds.sorted(by: { $0.key < $1.key }) {
            let list = names.sorted().map { "\($0.dropFirst(kind.count + 2)) \(reached[$0] ?? 0)" }
            say("  \(kind): \(list.joined(separator: " · "))")
        }
        let missing = expected.filter { reached[$0] == nil }
        say(
            missing.isEmpty
                ? "everything that is listed was reached" : "never reached: \(missing.joined(separator: " · "))")
    }
}
