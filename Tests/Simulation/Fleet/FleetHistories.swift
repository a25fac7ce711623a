// SPDX-License-Identifier: Apache-2.0

/// Histories of several relays.
package struct FleetHistories: Histories {
    private let storage: any SimulatedStorage
    private let length: Int?

    package init(_ storage: any SimulatedStorage, length: Int?) {
        (self.storage, self.length) = (storage, length)
    }

    package func history(ofSeed seed: UInt64) -> FleetScript { FleetScript(seed: seed, length: length ?? 40) }

    /// Runs a history until it breaks its first promise, known or not.
    package func run(_ history: FleetScript, known: Set<String>) throws -> Verdict {
        let began = ProcessorTime.now
        let world = try FleetWorld(history, in: storage)
        let violation = world.run()
        return Verdict(
            steps: history.steps.count, reached: world.reached, violation: violation, busy: ProcessorTime.now - began)
    }

    package func run(_ history: FleetScript, until rule: String) throws -> Verdict {
        var verdict = try run(history, known: [])
        if verdict.violation?.rule != rule { verdict.violation = nil }
        return verdict
    }

    package func story(of history: FleetScript, rule: String) throws -> [String] {
        let world = try FleetWorld(history, in: storage, tells: true)
        _ = world.run()
        return world.story
    }

    package let goesBehind = false
    package let plural = "seeds of several relays"
    package let expected = FleetScript.Step.Kind.allCases.map { "did: \($0.rawValue)" }

    package func command(seed: UInt64) -> String {
        "make simulate SEED=\(seed) SIMULATE=\"--fleet --store \(storage.name)\(length.map { " --length \($0)" } ?? "")\""
    }
}
