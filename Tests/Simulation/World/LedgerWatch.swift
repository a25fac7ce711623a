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
    /// It came too late for its campaign, which was another relay's or gone.
    var isLate = false

    /// Nothing was sent, so no retry is scheduled: a batch that ended like this throughout is simply read again.
    var isUntouched: Bool { kind == .unsent && sends < PoolMachine.sendLimit }

    /// The entry that the ledger must have for this end; nil where it cannot be seen from outside.
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

    /// The guide's tables of reasons (TROUBLESHOOTING.md) and of retries (PACING.md), for the answers of the simulated services.
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

/// The outcomes that the ledger must have, as the world has seen them, and that are not compared yet.
struct LedgerWatch {
    /// Ends of batches that are back, the oldest first.
    var back: [SeenEnd] = []
    /// The number of ends in `back` that had come when the dispatcher's turn began.
    private(set) var heard = 0
    /// By campaign: how many pushes the main service has taken (false), and the sandbox (true).
    var takenBy: [String: [Bool: Int64]] = [:]
    /// Whether all ends that came back before this turn are recorded.
    var isKnown = true
    /// Campaigns whose ledger has changed anywhere.
    var changed: Set<String> = []
    /// Campaigns that stopped, went on or began anew for another reason than the push service.
    var stirred: Set<String> = []
    /// When all campaigns last stopped or began anew, by the relay's clock; nil: never.
    var stirredAt: Timestamp?
    /// Campaigns for which a service beside the main one was ever stopped: its dead tokens are back in line.
    var stoppedInPart: Set<String> = []
    /// By app: of the last answers that show whether a token lives, each that called one dead.
    private var deaths: [Int: [Bool]] = [:]
    /// Campaigns with a token that was called dead while many were: the relay may put such pushes back in line, for the service may be wrong.
    private(set) var calledManyDead: Set<String> = []
    /// Campaigns that were ever another relay's.
    var fenced: Set<String> = []
    /// Whether an older copy ever took the store's place: the owner that a campaign had then is no longer its owner.
    var wasPutBack = false
    /// The campaign that another relay owns just now, and how many commits it had when that began.
    var taken: (campaign: String, row: Int64, commits: String)?
    /// By app and token: since when the token was seen retired.
    var retiredSince: [String: MonotonicTime] = [:]
    /// The registry's mark at the last look for retired tokens.
    var retiredRead: Int64?
    /// Whether anything that may stop a campaign has come back in this turn, and the store's change at the last look.
    var mayStop = false
    var orderChange: Int?
    /// By campaign and user: the wave in which each of the user's devices first entered the lane.
    var waves: [String: [Int: [String: Int]]] = [:]
    /// By campaign: its users, and the users that each wave was the first to push to.
    var shares: [String: WaveShares] = [:]

    /// How many batches have come back since the dispatcher's turn began: the dispatcher hears of them in its next one.
    var unheard = 0

    /// Whether a campaign that was announced at this moment, by the relay's clock, was there when all last began anew.
    func isStirred(at createdAt: Timestamp) -> Bool { stirredAt.map { createdAt <= $0 } ?? false }

    /// Notes the ends of a batch that show whether tokens live.
    mutating func noteDeaths(_ ends: [SeenEnd], isAndroid: (Int) -> Bool) {
        var dead: [(app: Int, campaign: String)] = []
        for end in ends {
            let verdict = end.read(isAndroid: isAndroid(end.push.app))?.verdict
            guard verdict == .taken || verdict == .dead else { continue }
            deaths[end.push.app] = (deaths[end.push.app] ?? []).suffix(39) + [verdict == .dead]
            if verdict == .dead { dead.append((end.push.app, end.push.campaign)) }
        }
        for (app, campaign) in dead where deaths[app]?.count(where: \.self) ?? 0 >= 16 {
            calledManyDead.insert(campaign)
        }
    }

    mutating func turnBegins() {
        heard = back.count
        unheard = 0
        mayStop = back.contains { $0.answer.map { [400, 401, 403, 404, 410].contains($0.status) } ?? false }
    }

    /// Marks what this turn has heard of a campaign as too late: the relay leaves it out.
    mutating func comesLate(_ campaign: String) {
        for place in back.indices.prefix(heard) where back[place].push.campaign == campaign {
            back[place].isLate = true
        }
    }

    /// Takes the ends that a turn has recorded.
    mutating func takeHeard() -> [SeenEnd] {
        defer {
            back.removeFirst(min(heard, back.count))
            heard = 0
        }
        return Array(back.prefix(heard))
    }
}
