// SPDX-License-Identifier: Apache-2.0

/// Runs histories. One instance per thread, with its own storage.
package final class Simulation {
    let storage: any SimulatedStorage
    /// Rules that are known to be broken. A run continues after them; otherwise the first shallow fault would hide the deep ones.
    package var known: Set<String>

    /// The outcome of a history.
    package struct Outcome {
        /// The first broken promise that is not known.
        package var violation: Violation?
        /// All broken promises, in order.
        package var violations: [Violation]
        /// The story, for people; empty unless it was requested.
        package var story: [String]
        /// The trace's lines, if the story was requested.
        package var lines: [String]
        /// The hash of everything that happened: two runs of one script have the same.
        package var hash: UInt64
        /// The number of times that each thing was reached.
        package var reached: [String: Int]
    }

    package init(known: Set<String> = [], storage: any SimulatedStorage) {
        self.storage = storage
        self.known = known
    }

    /// A simulation with SQLite.
    ///
    /// - Parameter keepsConnections: whether SQLite keeps its connections from one life of a relay to the next; this changes no
    ///   history.
    package convenience init(known: Set<String> = [], keepsConnections: Bool = true) throws {
        self.init(known: known, storage: try SQLiteStorage(keepsConnections: keepsConnections))
    }

    package func run(_ script: Script, isStoryWanted: Bool = false) throws -> Outcome {
        let world = try World(script, in: storage, isStoryWanted: isStoryWanted)
        let known = known
        let violation = world.run { !known.contains($0.rule) }
        world.end()
        return Outcome(
            violation: violation, violations: world.model.violations, story: world.journal.story,
            lines: world.journal.lines, hash: world.journal.hash, reached: world.journal.reached)
    }

    /// Whether the script breaks the rule, whatever else it breaks before.
    package func breaks(_ script: Script, _ rule: String) throws -> Violation? {
        let world = try World(script, in: storage)
        defer { world.end() }
        return world.run { $0.rule == rule }
    }
}
