// SPDX-License-Identifier: Apache-2.0

/// A kind of history that a seed draws: of one relay (`RelayHistories`), or of several (`FleetHistories`). One for each thread.
package protocol Histories {
    associatedtype History: Shrinkable

    func history(ofSeed seed: UInt64) -> History

    /// Runs it until it breaks a promise that is not among the known ones.
    func run(_ history: History, known: Set<String>) throws -> Verdict

    /// Runs it until it breaks this promise, whatever else it breaks before.
    func run(_ history: History, until rule: String) throws -> Verdict

    /// Runs it and tells it, for people: lines.
    func story(of history: History, rule: String) throws -> [String]

    /// Whether `run` goes on behind a promise that is known to be broken.
    var goesBehind: Bool { get }

    /// As the report's last line names them: "seeds", "seeds of several relays".
    var plural: String { get }

    /// The command that runs a seed again.
    func command(seed: UInt64) -> String

    /// What enough seeds must reach.
    var expected: [String] { get }
}

extension Histories {
    /// In this process.
    package func carryOut(_ order: Order) throws -> Verdict {
        switch order {
        case .seed(let seed, let known): try run(history(ofSeed: seed), known: Set(known))
        case .script(let text, let rule): try run(History(text: text), until: rule)
        }
    }
}

/// What one worker is asked for. It goes through a pipe as a line of JSON.
package enum Order: Codable, Hashable, Sendable {
    /// The verdict on a seed, where these promises are known to be broken.
    case seed(UInt64, known: [String])
    /// Whether a script breaks a promise.
    case script(String, breaks: String)
}

/// What came of a history.
package struct Verdict: Codable, Hashable, Sendable {
    package var steps = 0
    /// The hash of all that happened.
    package var trace: UInt64 = 0
    /// How often each thing was reached.
    package var reached: [String: Int] = [:]
    /// The promise that ended the run.
    package var violation: Violation?
    /// Seconds of processor time.
    package var busy = 0.0

    package init(
        steps: Int = 0, trace: UInt64 = 0, reached: [String: Int] = [:], violation: Violation? = nil, busy: Double = 0
    ) {
        (self.steps, self.trace, self.reached, self.violation) = (steps, trace, reached, violation)
        self.busy = busy
    }
}
