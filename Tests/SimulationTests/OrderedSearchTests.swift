// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import OwnThread
import Testing

@testable import Simulation

/// A search with several workers finds the same as one worker.
@Suite struct OrderedSearchTests {
    /// Histories that break promises by their seed's digits, and scripts that break one by two of their steps.
    private struct Toys: Histories {
        func history(ofSeed seed: UInt64) -> Script {
            var dice = SeededGenerator(seed: seed)
            return Script(
                operations: (0..<40).map { _ in
                    Operation(
                        .bump, Int.random(in: 0..<6, using: &dice), Int.random(in: 0..<6, using: &dice))
                })
        }

        func run(_ history: Script, known: Set<String>) throws -> Verdict {
            let broken = history.operations.filter { $0.first == 5 && $0.second > 2 }.map { "rule.\($0.second)" }
            let violation = broken.first { !known.contains($0) }
            return Verdict(
                steps: 40, trace: UInt64(broken.prefix { $0 != violation }.count),
                violation: violation.map { Violation(rule: $0, text: "") })
        }

        func run(_ history: Script, until rule: String) throws -> Verdict {
            let (first, last) = (history.operations.first, history.operations.last)
            let breaks =
                history.operations.contains { $0.first == 5 && "rule.\($0.second)" == rule }
                && history.setup["batch"] != 1
                && history.operations.contains { $0.first == 3 } && first != last
            return Verdict(violation: breaks ? Violation(rule: rule, text: "") : nil)
        }

        func story(of history: Script, rule: String) -> [String] { [] }
        let goesBehind = true
        let plural = "toys"
        let expected: [String] = []
        func command(seed: UInt64) -> String { "" }
    }

    /// Four orders at once, any of which may be done first.
    private final class Disorderly: Workers {
        private var orders: [Order] = []
        private var dice: SeededGenerator
        private(set) var count = 0

        init(seed: UInt64) { dice = SeededGenerator(seed: seed) }

        var hasRoom: Bool { orders.count < 4 }
        func give(_ order: Order) {
            #expect(!orders.contains(order))
            orders.append(order)
        }

        func take() throws -> (order: Order, verdict: Verdict) {
            count += 1
            let order = orders.remove(at: Int.random(in: orders.indices, using: &dice))
            return (order, try Toys().carryOut(order))
        }
    }

    private func found(by workers: any Workers, most: Int = 10) throws -> [String] {
        var (lines, count) = ([String](), 0)
        let search = OrderedSearch(Toys(), workers, seeds: 100..<400, known: ["rule.4"])
        try search.run { seed, verdict, violation in
            guard let violation else {
                lines.append("\(seed) \(verdict.trace)")
                return true
            }
            count += 1
            let small = try search.shrunk(Toys().history(ofSeed: seed), violation.rule)
            lines.append("\(seed) \(verdict.trace) \(violation.rule) \(small.text)")
            return count < most
        }
        return lines
    }

    @Test func severalWorkersFindWhatOneFinds() throws {
        let one = try found(by: OwnWorker(Toys()))
        #expect(one.count == 300 && one.count { $0.contains("rule.") } == 2)
        for seed: UInt64 in 1...5 { #expect(try found(by: Disorderly(seed: seed)) == one) }
    }

    @Test func theSearchEndsAtTheSamePlace() throws {
        let one = try found(by: OwnWorker(Toys()), most: 1)
        #expect(one.count < 300)
        #expect(try found(by: Disorderly(seed: 1), most: 1) == one)
    }

    @Test func shrinkingLeavesWhatIsNeeded() throws {
        var script = Toys().history(ofSeed: 5)
        script.setup["batch"] = 3
        script.operations.append(Operation(.bump, 5, 3))
        var shrinking = Shrinking(script)
        var tries = 0
        while let candidate = shrinking.candidate {
            tries += 1
            #expect(candidate != shrinking.best)
            shrinking.answer(try Toys().run(candidate, until: "rule.3").violation != nil)
        }
        let best = shrinking.best
        #expect(best.operations.map(\.first).sorted() == [3, 5] && best.setup == Setup(), "\(best.text)")
        #expect(best.operations.map(\.second).sorted() == [0, 3] && tries < 400, "\(tries)")
    }

    // MARK: Processes

    /// A worker that ends in the middle of an order has broken a promise, and is replaced.
    @Test(.ownThread) func theEndOfAWorkerIsItsVerdict() throws {
        let shell = try WorkerProcesses(2, program: "/bin/sh", arguments: ["-c", "read order; kill -ILL $$"])
        let orders: Set<Order> = [.seed(1, known: []), .seed(2, known: [])]
        for _ in 0..<2 {
            for order in orders { shell.give(order) }
            #expect(!shell.hasRoom)
            let taken = try (0..<2).map { _ in try shell.take() }
            #expect(Set(taken.map(\.order)) == orders && shell.hasRoom)
            #expect(taken.allSatisfy { $0.verdict.violation?.rule == "process.lives" })
            #expect(taken[0].verdict.violation?.text.contains("signal 4") == true)
        }
    }

    @Test(.ownThread) func aWorkerThatDoesNotEndIsKilled() throws {
        let shell = try WorkerProcesses(
            1, program: "/bin/sh", arguments: ["-c", "read order; exec sleep 1000"], patience: .milliseconds(50))
        shell.give(.seed(1, known: []))
        #expect(try shell.take().verdict.violation?.rule == "process.lives")
    }

    @Test(.ownThread) func aWorkerThatRefusesEndsTheSearch() throws {
        let shell = try WorkerProcesses(1, program: "/bin/sh", arguments: ["-c", "read order; exit 2"])
        shell.give(.seed(1, known: []))
        #expect(throws: WorkerError.self) { try shell.take() }
    }
}
