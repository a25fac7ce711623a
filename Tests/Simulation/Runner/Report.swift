// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Tells people what a simulation finds.
package final class Report {
    private let simulation: Simulation
    private let shrinks: Bool
    /// Where shrunk scripts are written to; nil: nowhere.
    private let folder: String?
    package private(set) var hasFound = false
    private var reached: [String: Int] = [:]

    package init(_ simulation: Simulation, shrinks: Bool, folder: String? = nil) {
        self.folder = folder
        self.simulation = simulation
        self.shrinks = shrinks
    }

    /// At once, also into a pipe: who waits for many seeds looks now and then.
    private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    // MARK: One history

    /// Runs one script and tells it as a story.
    package func tell(_ script: Script, name: String, isTraceWanted: Bool) throws {
        let outcome = try simulation.run(script, isStoryWanted: true)
        for line in isTraceWanted ? outcome.lines : outcome.story { say(line) }
        say("\(name): \(script.operations.count) steps, trace \(String(outcome.hash, radix: 16))")
        for violation in outcome.violations {
            say("  \(simulation.known.contains(violation.rule) ? "known" : "BROKEN"): \(violation)")
        }
        hasFound = hasFound || outcome.violation != nil
    }

    // MARK: Many seeds

    /// Of this process, in seconds: whatever else a machine does, a history takes as much of it.
    private static var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    /// Runs each seed; what breaks a promise is shrunk and told, once for each promise.
    ///
    /// - Parameter most: different promises; more end the search.
    package func search(seeds: Range<UInt64>, length: Int?, most: Int) throws {
        var found: [String] = []
        var (steps, traces) = (0, UInt64(0))
        let start = Self.processorTime
        var busy = 0.0
        for seed in seeds {
            var drawing = Drawing(seed: seed)
            let script = drawing.script(length: length)
            let began = Self.processorTime
            let outcome = try simulation.run(script)
            busy += Self.processorTime - began
            steps += script.operations.count
            traces = traces &* 0x100_0000_01B3 ^ outcome.hash
            reached.merge(outcome.reached, uniquingKeysWith: +)
            guard let violation = outcome.violation else { continue }
            hasFound = true
            found.append(violation.rule)
            say("\nseed \(seed) (the \(seed - seeds.lowerBound + 1). of \(seeds.count)) breaks \(violation)")
            try shrink(script, violation, seed)
            simulation.known.insert(violation.rule)
            if found.count >= most { break }
        }
        let count = Double(seeds.count)
        say(
            "\n\(seeds.count) seeds from \(seeds.lowerBound), \(steps) steps in "
                + "\(String(format: "%.1f", busy)) s of processor time (\(Int(count / max(busy, 0.001) * 60)) seeds a minute), "
                + "\(String(format: "%.1f", Self.processorTime - start - busy)) s to shrink")
        say("all traces: \(String(traces, radix: 16))")
        say(found.isEmpty ? "every promise held" : "broken: \(found.joined(separator: ", "))")
        tellReached()
    }

    private func shrink(_ script: Script, _ violation: Violation, _ seed: UInt64) throws {
        let small = shrinks ? try simulation.shrunk(script, violation.rule) : script
        let known = simulation.known
        simulation.known = []
        defer { simulation.known = known }
        let outcome = try simulation.run(small, isStoryWanted: true)
        say("  shrunk from \(script.operations.count) steps to \(small.operations.count):")
        for line in outcome.story { say("    \(line)") }
        for broken in outcome.violations where broken.rule == violation.rule { say("    → \(broken)") }
        say("  # rule: \(violation.rule)\n  # fault: (say what is wrong)")
        for line in small.text.split(separator: "\n") { say("  \(line)") }
        if let folder {
            let text = "# rule: \(violation.rule)\n# fault: \(violation.text)\n" + small.text
            try text.write(toFile: "\(folder)/\(violation.rule).script", atomically: true, encoding: .utf8)
        }
        say("  again: make simulate SEED=\(seed) SIMULATE=\"--store \(simulation.storage.name)\"")
    }

    /// What the seeds came to, and what they never did.
    private func tellReached() {
        let kinds = Dictionary(grouping: reached.keys) { $0.prefix { $0 != ":" } }
        say("\nreached:")
        for (kind, names) in kinds.sorted(by: { $0.key < $1.key }) {
            let list = names.sorted().map { "\($0.dropFirst(kind.count + 2)) \(reached[$0] ?? 0)" }
            say("  \(kind): \(list.joined(separator: " · "))")
        }
        let missing = Coverage.expected.filter { reached[$0] == nil }
        say(
            missing.isEmpty
                ? "everything that is listed was reached" : "never reached: \(missing.joined(separator: " · "))")
    }
}
