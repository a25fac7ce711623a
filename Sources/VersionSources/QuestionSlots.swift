// SPDX-License-Identifier: Apache-2.0
import Signing

/// How many questions may be under way at once. Pure.
struct QuestionSlots {
    /// Each has a thread, for 20 s at most where nobody answers.
    static let limit = 64
    /// Of those for the sources that failed last: what hangs leaves the others room.
    static let failingLimit = 48

    private var count = 0
    private var failing = 0
    private var accounts: Set<GoogleAccount> = []

    func isFree(for question: SourceQuestion, isFailing: Bool) -> Bool {
        guard count < Self.limit, !isFailing || failing < Self.failingLimit else { return false }
        return question.account.map { !accounts.contains($0) } ?? true
    }

    mutating func take(for question: SourceQuestion, isFailing: Bool) {
        count += 1
        if isFailing { failing += 1 }
        if let account = question.account { accounts.insert(account) }
    }

    mutating func leave(_ question: SourceQuestion, isFailing: Bool) {
        count -= 1
        if isFailing { failing -= 1 }
        if let account = question.account { accounts.remove(account) }
    }
}
