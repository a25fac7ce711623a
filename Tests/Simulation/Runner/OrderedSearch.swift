// SPDX-License-Identifier: Apache-2.0

/// Runs seeds and judges each verdict in the order of the seeds. The findings do not depend on the number of workers, nor on which
/// of them finishes first.
final class OrderedSearch<Kind: Histories> {
    private let histories: Kind
    private let workers: any Workers
    private let seeds: Range<UInt64>
    /// Promises that were known to be broken before, or were found broken here.
    private var known: Set<String>
    /// The first seed that was not given to a worker.
    private var next: UInt64
    /// Orders that a worker has, or is about to get; each is judged once.
    private var orders: [UInt64: Order] = [:]
    private var asked: Set<Order> = []
    private var verdicts: [Order: Verdict] = [:]
    /// Seconds of processor time that shrinking has taken.
    private(set) var shrinkingTime = 0.0

    /// Seeds that are run ahead of the one that is judged next: enough to keep workers busy beside one long history.
    private static var ahead: UInt64 { 256 }

    init(_ histories: Kind, _ workers: any Workers, seeds: Range<UInt64>, known: Set<String>) {
        (self.histories, self.workers, self.seeds, self.known) = (histories, workers, seeds, known)
        next = seeds.lowerBound
    }

    /// Runs all seeds, or fewer.
    ///
    /// - Parameter judge: gets each seed in order, with the promise that it is the first to break. Returns whether the search goes
    ///   on.
    func run(_ judge: (UInt64, Verdict, Violation?) throws -> Bool) throws {
        for seed in seeds {
            var verdict = try verdict(onSeed: seed)
            // The seed was run before another seed had broken that promise. It is run again, past that promise.
            while let violation = verdict.violation, known.contains(violation.rule), histories.goesBehind,
                violation.rule != WorkerProcesses.rule
            {
                orders[seed] = nil
                verdict = try self.verdict(onSeed: seed)
            }
            orders[seed] = nil
            let violation = verdict.violation.flatMap { known.insert($0.rule).inserted ? $0 : nil }
            guard try judge(seed, verdict, violation) else { return }
        }
    }

    private func verdict(onSeed seed: UInt64) throws -> Verdict {
        let order = orders[seed] ?? .seed(seed, known: known.sorted())
        if orders[seed] == nil {
            orders[seed] = order
            while !workers.hasRoom { try take() }
            give(order)
        }
        next = max(next, seed + 1)
        while true {
            if let verdict = verdicts.removeValue(forKey: order) { return verdict }
            while workers.hasRoom, next < min(seeds.upperBound, seed + Self.ahead) {
                let order = Order.seed(next, known: known.sorted())
                orders[next] = order
                give(order)
                next += 1
            }
            try take()
        }
    }

    private func give(_ order: Order) {
        asked.insert(order)
        workers.give(order)
    }

    private func take() throws {
        let (order, verdict) = try workers.take()
        asked.remove(order)
        verdicts[order] = verdict
    }

    // MARK: Shrinking

    /// Returns the fewest steps, in the plainest world, that break the same promise. While one candidate is tried, idle workers try
    /// the next ones for the case that it does not break it. The result is the same as with one worker.
    func shrunk(_ history: Kind.History, _ rule: String) throws -> Kind.History {
        var shrinking = Shrinking(history)
        while let candidate = shrinking.candidate {
            let order = Order.script(candidate.text, breaks: rule)
            if let verdict = verdicts[order] {
                shrinking.answer(verdict.violation?.rule == rule)
                continue
            }
            var ahead = shrinking
            while workers.hasRoom, let candidate = ahead.candidate {
                let order = Order.script(candidate.text, breaks: rule)
                if verdicts[order] == nil, !asked.contains(order) { give(order) }
                ahead.answer(verdicts[order]?.violation?.rule == rule)
            }
            try take()
        }
        for (order, verdict) in verdicts {
            guard case .script = order else { continue }
            shrinkingTime += verdict.busy
            verdicts[order] = nil
        }
        return shrinking.best
    }
}
