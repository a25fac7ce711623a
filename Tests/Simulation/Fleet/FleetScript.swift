// SPDX-License-Identifier: Apache-2.0
import FaultInjection

/// A history of several relays on one store: the initial world, and the steps in it.
package struct FleetScript: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Sendable {
            /// Time passes.
            case pass
            /// A relay is asked to require the next version of an app.
            case bump
            case pause, resume, cancel
            /// The process dies, is stopped in order, starts again.
            case kill, stop, start
            /// The process stands still for a while: SIGSTOP, or a sleeping machine.
            case suspend
            /// The relay's writes do not reach the store for a while.
            case cutOff
            /// The relay's requests to the store take as long as it can wait, for a while.
            case slow
            /// The relay's wall clock is set.
            case clock
            /// The relays are notified that something has changed.
            case tell
        }

        package var kind: Kind
        package var relay: Int
        package var value: Int
    }

    /// Names and ranges; the first value is the plainest.
    package static let settings: [(name: String, values: [Int])] = [
        ("relays", [2, 3]), ("devices", [8, 3, 40, 120]), ("batch", [50, 1, 3]), ("android", [0, 1, 2]),
        ("quota", [0, 60]), ("pace", [0, 5]), ("streams", [4, 1, 1000]), ("latency", [20, 200, 3000]),
        ("chance", [0, 1, 2, 3, 4, 5, 6, 7]),
    ]

    package var numbers: [String: Int] = [:]
    package var steps: [Step] = []

    package init() {}

    package subscript(name: String) -> Int {
        numbers[name] ?? Self.settings.first { $0.name == name }?.values.first ?? 0
    }

    /// Drawn by a seed.
    package init(seed: UInt64, length: Int = 40) {
        var dice = SeededGenerator(seed: seed)
        for (name, values) in Self.settings { numbers[name] = values.randomElement(using: &dice) }
        let weights: [(Step.Kind, Int)] = [
            (.pass, 30), (.bump, 12), (.pause, 4), (.resume, 5), (.cancel, 2), (.kill, 7), (.stop, 4), (.start, 14),
            (.suspend, 8), (.cutOff, 7), (.slow, 5), (.clock, 2), (.tell, 6),
        ]
        let all = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
        steps = (0..<length).map { _ in
            Step(
                kind: all.randomElement(using: &dice) ?? .pass, relay: Int.random(in: 0..<3, using: &dice),
                value: Int.random(in: 0..<100, using: &dice))
        }
    }

    /// The kept form: a line for the settings, and one for each step.
    package var text: String {
        let plain = Self.settings.filter { numbers[$0.name] != nil && numbers[$0.name] != $0.values[0] }
        let head = "fleet " + plain.map { "\($0.name)=\(self[$0.name])" }.joined(separator: " ")
        return ([head] + steps.map { "\($0.kind.rawValue) \($0.relay) \($0.value)" }).joined(separator: "\n") + "\n"
    }

    package init(text: String) throws(ScriptError) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.first == "fleet" {
                for word in words.dropFirst() {
                    let parts = word.split(separator: "=")
                    guard parts.count == 2, let number = Int(parts[1]) else {
                        throw ScriptError("\"\(word)\" is no setting of a fleet")
                    }
                    numbers[String(parts[0])] = number
                }
            } else {
                guard words.count == 3, let kind = Step.Kind(rawValue: String(words[0])), let relay = Int(words[1]),
                    let value = Int(words[2])
                else { throw ScriptError("\"\(line)\" is no step of a fleet") }
                steps.append(Step(kind: kind, relay: relay, value: value))
            }
        }
    }
}
