// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Histories of one relay.
package struct RelayHistories: Histories {
    private let simulation: Simulation
    /// The number of steps of each history; nil: drawn.
    private let length: Int?

    package init(_ simulation: Simulation, length: Int?) {
        self.simulation = simulation
        self.length = length
    }

    package func history(ofSeed seed: UInt64) -> Script {
        var drawing = Drawing(seed: seed)
        return drawing.script(length: length)
    }

    package func run(_ history: Script, known: Set<String>) throws -> Verdict {
        simulation.known = known
        let began = ProcessorTime.now
        let outcome = try simulation.run(history)
        return Verdict(
            steps: history.operations.count, trace: outcome.hash, reached: outcome.reached,
            violation: outcome.violation, busy: ProcessorTime.now - began)
    }

    package func run(_ history: Script, until rule: String) throws -> Verdict {
        let began = ProcessorTime.now
        let violation = try simulation.breaks(history, rule)
        return Verdict(violation: violation, busy: ProcessorTime.now - began)
    }

    package func story(of history: Script, rule: String) throws -> [String] {
        simulation.known = []
        let outcome = try simulation.run(history, isStoryWanted: true)
        return outcome.story + outcome.violations.filter { $0.rule == rule }.map { "→ \($0)" }
    }

    package let goesBehind = true
    package let plural = "seeds"
    package let expected = Coverage.expected

    package func command(seed: UInt64) -> String {
        "make simulate SEED=\(seed) SIMULATE=\"--store \(simulation.storage.name)\(length.map { " --length \($0)" } ?? "")\""
    }
}

/// The processor time of this process, in seconds: it does not depend on the machine's other load.
enum ProcessorTime {
    static var now: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
