// SPDX-License-Identifier: Apache-2.0

/// A kind of history that a seed draws: of one relay (`RelayHistories`), or of several (`FleetHistories`). One instance per thread.
package protocol Histories {
    associatedtype History: Shrinkable

    func history(ofSeed seed: UInt64) -> History

    /// Runs a history until it breaks a promise that is not among the known ones.
    func run(_ history: History, known: Set<String>) throws -> Verdict

    /// Runs a history until it breaks this promise, whatever else it breaks before.
    func run(_ history: History, until rule: String) throws -> Verdict

    /// Runs a history and returns its story, for people: lines.
    func story(of history: History, rule: String) throws -> [String]

    /// Whether `run` continues after a promise that is known to be broken.
    var goesBehind: Bool { get }

    /// The name in the report's last line: "seeds", "seeds of several relays".
    var plural: String { get }

    /// The command that runs a seed again.
    func command(seed: UInt64) -> String

    /// Everything that enough seeds must reach.
    var expected: [String] { get }
}

extension Histories {
    /// Carries out an order in this process.
    package func carryOut(_ order: Order) throws -> Verdict {
        switch order {
        case .seed(let seed, let known): try run(history(ofSeed: seed), known: Set(known))
        case .script(let text, let rule): try run(History(text: text), until: rule)
        }
    }
}

/// An order to one worker. It goes through a pipe as a line of JSON.
package enum Order: Codable, Hashable, Sendable {
    /// Asks for the verdict on a seed, with these promises known to be broken.
    case seed(UInt64, known: [String])
    /// Asks whether a script breaks a promise.
    case script(String, breaks: String)
}

/// The outcome of a history.
package struct Verdict: Codable, Hashable, Sendable {
    package var steps = 0
    /// The hash of everything that happened.
    package var trace: UInt64 = 0
    /// The number of times that each thing was reached.
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
