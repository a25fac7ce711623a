// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine

/// How one request ended, as the lane reports it.
struct SeenEnd {
    let push: SeenPush
    let kind: Answer.Kind
    let answer: ServiceAnswer?
    /// Seconds; -1: none.
    let retryAfter: Int32
    /// How often it was put on a connection.
    let sends: Int
    /// When its batch was back, in milliseconds.
    var time: Int64 = 0
    /// It came too late for its campaign, which was another relay's, or gone.
    var isLate = false

    /// Nothing was sent, and nothing has a schedule to keep: what is all like that is simply read again.
    var isUntouched: Bool { kind == .unsent && sends < PoolMachine.sendLimit }

    /// What the ledger must say of it; nil where nobody outside sees that.
    func read(isAndroid: Bool) -> LedgerAnswer? {
        guard let device = push.device else { return nil }
        func answer(_ verdict: LedgerAnswer.Verdict, _ reason: String?, _ attempts: Int) -> LedgerAnswer {
            LedgerAnswer(
                device: device, user: Phone.user(push.telephone), verdict: verdict, reason: reason, time: time,
                attempts: attempts)
        }
        let seconds = Int64(max(retryAfter, 1))
        switch kind {
        case .open: return nil
        case .unsent where sends >= PoolMachine.sendLimit:
            return answer(.failed(first: 1, most: 300), "StreamRefused", 1)
        case .unsent: return answer(.postponed, "NotSent", 0)
        case .unreachable: return answer(.failed(first: seconds, most: seconds), "NoConnection", 0)
        case .lost: return answer(.failed(first: 1, most: 300), "ConnectionLost", max(1, sends))
        case .answered: break
        }
        guard let told = self.answer else { return nil }
        func failed(_ first: Int64, _ most: Int64, _ longest: Int64) -> LedgerAnswer.Verdict {
            guard told.retryAfter > 0 else { return .failed(first: first, most: most) }
            let time = min(Int64(told.retryAfter), longest)
            return .failed(first: time, most: time)
        }
        let (verdict, reason) = Self.word(told.status, told.body, isAndroid: isAndroid, failed)
        return answer(verdict, reason, max(1, sends))
    }

    /// The guide's table of reasons (TROUBLESHOOTING.md) and of retries (PACING.md), for what the simulated services say.
    private static func word(
        _ status: UInt16, _ body: String, isAndroid: Bool, _ failed: (Int64, Int64, Int64) -> LedgerAnswer.Verdict
    ) -> (LedgerAnswer.Verdict, String?) {
        func has(_ word: String) -> Bool { body.contains("\"\(word)\"") }
        switch status {
        case 200: return (.taken, nil)
        case _ where isAndroid && has("UNREGISTERED"): return (.dead, "UNREGISTERED")
        case _ where isAndroid && has("SENDER_ID_MISMATCH"): return (.refused, "SENDER_ID_MISMATCH")
        case 403 where isAndroid: return (.fault(isTriedAgain: false), "PERMISSION_DENIED")
        case 401: return (.postponed, "UNAUTHENTICATED")
        case 429 where isAndroid: return (failed(60, 3600, 3600), "QUOTA_EXCEEDED")
        case 503 where isAndroid: return (failed(10, 3600, 3600), "UNAVAILABLE")
        case 410: return (.dead, "Unregistered")
        case 400: return (.refused, "BadDeviceToken")
        case 403 where has("ExpiredProviderToken"): return (.postponed, "ExpiredProviderToken")
        case 403: return (.fault(isTriedAgain: true), "InvalidProviderToken")
        case 429 where has("TooManyProviderTokenUpdates"): return (.postponed, "TooManyProviderTokenUpdates")
        case 429: return (failed(2, 300, 86_400), "TooManyRequests")
        default: return (failed(900, 14_400, 3600), "ServiceUnavailable")
        }
    }
}

/// What the world has seen of what the ledger must have, and has not compared yet.
struct LedgerWatch {
    /// Ends of batches that are back, the oldest first.
    var back: [SeenEnd] = []
    /// Of them, those that had come when the dispatcher's turn began.
    private(set) var heard = 0
    /// Whether all that is back of earlier turns is recorded.
    var isKnown = true
    /// Campaigns of whose ledger anything is another.
    var changed: Set<String> = []
    /// Campaigns that something else than the push service has had stand still, go on, or begin anew.
    var stirred: Set<String> = []
    /// Campaigns that were ever another relay's.
    var fenced: Set<String> = []
    /// Whether an older copy ever took the store's place: whoever owned a campaign then does not any more.
    var wasPutBack = false
    /// The campaign that is another relay's just now, and how many commits it had then.
    var taken: (campaign: String, row: Int64, commits: String)?
    /// Since when each token was seen retired, by app and token.
    var retiredSince: [String: MonotonicTime] = [:]
    /// The mark of the registry after which they were looked for.
    var retiredRead: Int64?
    /// Whether anything that may stop a campaign has come back in this turn, and the change of the store at the last look.
    var mayStop = false
    var orderChange: Int?
    /// By campaign and user: the wave in which each of his devices came into the lane first.
    var waves: [String: [Int: [String: Int]]] = [:]
    /// By campaign: its users, and those whom each wave had pushed to first.
    var shares: [String: WaveShares] = [:]

    mutating func turnBegins() {
        heard = back.count
        mayStop = back.contains { $0.answer.map { [400, 401, 403, 404, 410].contains($0.status) } ?? false }
    }

    /// What this turn wanted to record of a campaign is left out.
    mutating func comesLate(_ campaign: String) {
        for place in back.indices.prefix(heard) where back[place].push.campaign == campaign {
            back[place].isLate = true
        }
    }

    /// Takes what a turn has recorded.
    mutating func takeHeard() -> [SeenEnd] {
        defer {
            back.removeFirst(min(heard, back.count))
            heard = 0
        }
        return Array(back.prefix(heard))
    }
}
