// SPDX-License-Identifier: Apache-2.0

/// Notices when a push service calls tokens dead that are alive, or that belong to the other environment, at any time of a
/// campaign and across campaigns. Keeps retirements back until enough later answers have been looked at.
///
/// One window watches one push service. The retirements that it keeps back are not stored: a token whose retirement is lost
/// with the process is pushed to again and called dead again. The last answers, and whether it has tripped, are stored
/// (`memory`).
///
/// `Retirement` is the type of what is kept back, such as a token's retirement.
package struct UnregisteredWindow<Retirement: Sendable>: Sendable {
    package enum Verdict: Sendable {
        /// These may be retired: enough answers have come since.
        case released([Retirement])
        /// More tokens are called dead than everyday loss of phones explains. Nothing that was kept back is retired.
        case tripped(CredentialBreaker.Trip)
    }

    private struct Batch {
        var answers: Int
        var unregistered: Int
        var retirements: [Retirement]
    }

    /// The last answers, at least `CredentialBreaker.sample` of them if there were as many; the oldest first.
    private var batches: [Batch] = []
    private var answers = 0
    private var unregistered = 0
    /// Retirements of batches before the last answers, kept because the last answers alone show that the service is wrong.
    private var doubted: [Retirement] = []
    /// The share that trips it, as the last campaign had it.
    private var limit = 1.0
    /// Whether it has tripped, and later answers have not cleared the service since.
    package private(set) var isSuspect = false

    package init() {}

    /// The state to keep across a restart: whether the service is suspect, and the run of last batches that counts most
    /// against it, if that is enough to trip the window. Good answers from before that run then excuse nothing.
    package var memory: JudgedAnswers {
        var (sum, worst) = (JudgedAnswers(), JudgedAnswers())
        for batch in batches.reversed() {
            sum.answers += batch.answers
            sum.against += batch.unregistered
            if sum.against * worst.answers >= worst.against * sum.answers { worst = sum }
        }
        if worst.against == 0 || Double(worst.against) < limit * Double(worst.answers) { worst = JudgedAnswers() }
        worst.isSuspect = isSuspect
        return worst
    }

    /// Goes on from the state that an earlier process has kept.
    package init(_ memory: JudgedAnswers) {
        isSuspect = memory.isSuspect
        guard memory.answers > 0 else { return }
        (answers, unregistered) = (memory.answers, memory.against)
        batches = [Batch(answers: answers, unregistered: unregistered, retirements: [])]
    }

    /// All retirements that are kept back.
    package var kept: [Retirement] { doubted + batches.flatMap(\.retirements) }

    /// Drops kept retirements of tokens that the service has since accepted a push for: they are alive. Its answers that called
    /// them dead still count against it.
    ///
    /// - Parameters:
    ///   - device: the device of a retirement's token.
    ///   - taken: returns for which of these devices a push was accepted; called only if anything is kept back.
    package mutating func drop(_ device: (Retirement) -> Int64, of taken: (Set<Int64>) -> Set<Int64>) {
        let kept = kept
        guard !kept.isEmpty else { return }
        let alive = taken(Set(kept.map(device)))
        guard !alive.isEmpty else { return }
        doubted.removeAll { alive.contains(device($0)) }
        for index in batches.indices { batches[index].retirements.removeAll { alive.contains(device($0)) } }
    }

    /// Takes the answers of one batch.
    ///
    /// - Parameters:
    ///   - answers: the answers that show whether tokens live: accepted or unregistered.
    ///   - retirements: the retirements that the batch brought.
    ///   - limit: the share that trips it; nil: a person has accepted that the tokens are dead.
    package mutating func take(answers: Int, unregistered: Int, retirements: [Retirement], limit: Double?) -> Verdict {
        guard let limit else {
            let all = kept
            self = UnregisteredWindow()
            return .released(all + retirements)
        }
        self.limit = limit
        guard answers > 0 else { return .released([]) }
        // A suspect's retirements are not believed later either: the token is pushed to again in time, and called dead again.
        batches.append(Batch(answers: answers, unregistered: unregistered, retirements: isSuspect ? [] : retirements))
        self.answers += answers
        self.unregistered += unregistered
        if self.answers >= CredentialBreaker.sample {
            isSuspect = isOverLimit
            if isSuspect {
                let trip = CredentialBreaker.Trip(.unregistered, pushes: self.unregistered, of: self.answers)
                _ = end()
                return .tripped(trip)
            }
        }
        while let first = batches.first, self.answers - first.answers >= CredentialBreaker.sample {
            doubted += first.retirements
            self.answers -= first.answers
            self.unregistered -= first.unregistered
            batches.removeFirst()
        }
        // The last answers alone are over the limit, but were judged together with good ones before them. The next ones decide.
        if self.answers >= CredentialBreaker.sample, isOverLimit { return .released([]) }
        defer { doubted = [] }
        return .released(doubted)
    }

    private var isOverLimit: Bool { Double(unregistered) >= limit * Double(answers) }

    /// No more answers come: returns the kept retirements, unless the last answers alone show that the service is wrong. So far
    /// those were judged together with good ones before them, and no later ones come to trip the window.
    package mutating func end() -> [Retirement] {
        let isSane = answers < CredentialBreaker.sample || !isOverLimit
        let retirements = isSane ? kept : []
        (batches, doubted, answers, unregistered) = ([], [], 0, 0)
        return retirements
    }
}
