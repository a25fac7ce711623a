// SPDX-License-Identifier: Apache-2.0

/// Notices a push service that calls living tokens dead, or those of the other environment, at any time of a campaign and across
/// campaigns, and keeps back what that means for each token until enough answers that came after it have been looked at.
///
/// One window watches one push service. Of what it keeps back nothing is stored: a token whose retirement is lost with the process is
/// pushed to again and called dead again. What the last answers were, and whether it has tripped, is (`memory`).
///
/// `Retirement` is what is kept back: a token's retirement.
package struct UnregisteredWindow<Retirement: Sendable>: Sendable {
    package enum Verdict: Sendable {
        /// What may be retired by now: answers enough have come since.
        case released([Retirement])
        /// So many tokens are not called dead in an everyday loss of phones. Nothing of what was kept back is retired.
        case tripped(CredentialBreaker.Trip)
    }

    private struct Batch {
        var answers: Int
        var unregistered: Int
        var retirements: [Retirement]
    }

    /// The last answers, at least `CredentialBreaker.sample` of them where there were as many; the oldest first.
    private var batches: [Batch] = []
    private var answers = 0
    private var unregistered = 0
    /// Of batches that are among the last answers no more, where those alone say that the service is wrong.
    private var doubted: [Retirement] = []
    /// The share that trips it, of the last campaign.
    private var limit = 1.0
    /// It has tripped, and has not been seen well since.
    package private(set) var isSuspect = false

    package init() {}

    /// What the next life of the process has to know: whether it is suspect, and of the last batches those from which on most speaks against
    /// the service, where that is as much as trips it. Good answers from before them excuse nothing then.
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

    /// Goes on where a life of the process has ended.
    package init(_ memory: JudgedAnswers) {
        isSuspect = memory.isSuspect
        guard memory.answers > 0 else { return }
        (answers, unregistered) = (memory.answers, memory.against)
        batches = [Batch(answers: answers, unregistered: unregistered, retirements: [])]
    }

    /// What is kept back.
    package var kept: [Retirement] { doubted + batches.flatMap(\.retirements) }

    /// Drops of what is kept back that of tokens that the service has taken since: their phones live. What it said of them still counts
    /// against it.
    ///
    /// - Parameters:
    ///   - device: whose token a retirement is of.
    ///   - taken: which of these devices were taken; asked where anything is kept back.
    package mutating func drop(_ device: (Retirement) -> Int64, of taken: (Set<Int64>) -> Set<Int64>) {
        let kept = kept
        guard !kept.isEmpty else { return }
        let alive = taken(Set(kept.map(device)))
        guard !alive.isEmpty else { return }
        doubted.removeAll { alive.contains(device($0)) }
        for index in batches.indices { batches[index].retirements.removeAll { alive.contains(device($0)) } }
    }

    /// Takes what one batch came to.
    ///
    /// - Parameters:
    ///   - answers: those that say whether tokens live: taken or unregistered.
    ///   - retirements: the retirements that the batch brought.
    ///   - limit: the share that trips it; nil: a person has accepted that they are dead.
    package mutating func take(answers: Int, unregistered: Int, retirements: [Retirement], limit: Double?) -> Verdict {
        guard let limit else {
            let all = kept
            self = UnregisteredWindow()
            return .released(all + retirements)
        }
        self.limit = limit
        guard answers > 0 else { return .released([]) }
        // What a suspect says is not believed later either: the token is pushed to again in time, and called dead again.
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
        // Those were judged with good ones from before them. The next ones tell.
        if self.answers >= CredentialBreaker.sample, isOverLimit { return .released([]) }
        defer { doubted = [] }
        return .released(doubted)
    }

    private var isOverLimit: Bool { Double(unregistered) >= limit * Double(answers) }

    /// Nothing more comes: what is kept back may go, unless the last answers alone say that the service is wrong. They were judged with
    /// the good ones before them so far, and no later ones come to trip it.
    package mutating func end() -> [Retirement] {
        let isSane = answers < CredentialBreaker.sample || !isOverLimit
        let retirements = isSane ? kept : []
        (batches, doubted, answers, unregistered) = ([], [], 0, 0)
        return retirements
    }
}
