// SPDX-License-Identifier: Apache-2.0

/// A history that can be made smaller.
package protocol Shrinkable: Hashable, Sendable {
    associatedtype Step: Hashable, Sendable

    var steps: [Step] { get set }

    /// The settings by name, each with its values, the plainest first.
    static var settings: [(name: String, values: [Int])] { get }
    subscript(setting name: String) -> Int { get set }

    /// The replacements for a step, each simpler than the step.
    static func simpler(_ step: Step) -> [Step]

    /// The history as a script.
    var text: String { get }
    init(text: String) throws(ScriptError)
}

/// The search for the fewest steps, in the plainest world, that break the same promise.
///
/// It names one candidate after another, and is answered for each whether it still breaks the promise. It is a value: a copy can be
/// given negative answers, to find the candidates that come next if none breaks it.
package struct Shrinking<History: Shrinkable> {
    /// The smallest history that is known to break the promise.
    package private(set) var best: History
    /// The next history to try; nil: there is nothing left to try.
    package private(set) var candidate: History?
    private var place: Place
    private var isSmaller = false
    private var left: Int

    private enum Place {
        /// Takes out so many steps from here on: half of the steps at a time, then quarters, down to one.
        case steps(size: Int, start: Int)
        /// Replaces a setting's value by a plainer one.
        case setting(Int, value: Int)
        case step(Int, changes: [History.Step], change: Int)
    }

    /// - Parameter runs: the maximum number of candidates.
    package init(_ history: History, runs: Int = 1000) {
        best = history
        left = runs
        place = Self.firstPlace(of: history)
        candidate = next()
    }

    private static func firstPlace(of history: History) -> Place {
        .steps(size: max(history.steps.count / 2, 1), start: 0)
    }

    /// - Parameter isStill: whether the candidate breaks the promise.
    package mutating func answer(_ isStill: Bool) {
        guard let candidate else { return }
        left -= 1
        if isStill { (best, isSmaller) = (candidate, true) }
        switch place {
        case .steps(let size, let start): place = .steps(size: size, start: isStill ? start : start + size)
        case .setting(let name, let value):
            place = isStill ? .setting(name + 1, value: 0) : .setting(name, value: value + 1)
        case .step(let index, let changes, let change):
            place = isStill ? step(index) : .step(index, changes: changes, change: change + 1)
        }
        self.candidate = next()
    }

    private func step(_ index: Int) -> Place {
        .step(index, changes: index < best.steps.count ? History.simpler(best.steps[index]) : [], change: 0)
    }

    private mutating func next() -> History? {
        var candidate = best
        while left > 0 {
            switch place {
            case .steps(let size, let start):
                if start < best.steps.count {
                    candidate.steps.removeSubrange(start..<min(start + size, best.steps.count))
                    return candidate
                }
                place = size > 1 ? .steps(size: size / 2, start: 0) : .setting(0, value: 0)
            case .setting(let index, let value):
                guard index < History.settings.count else {
                    place = step(0)
                    continue
                }
                let (name, values) = History.settings[index]
                if value < values.count, values[value] != best[setting: name] {
                    candidate[setting: name] = values[value]
                    return candidate
                }
                place = .setting(index + 1, value: 0)
            case .step(let index, let changes, let change):
                if change < changes.count {
                    candidate.steps[index] = changes[change]
                    return candidate
                }
                if index + 1 < best.steps.count {
                    place = step(index + 1)
                } else {
                    guard isSmaller else { return nil }
                    isSmaller = false
                    place = Self.firstPlace(of: best)
                }
            }
        }
        return nil
    }
}
