// SPDX-License-Identifier: Apache-2.0

/// The outcome of a push to one device, in the terms of the guide's table of reasons.
///
/// Times are milliseconds of the monotonic clock.
struct LedgerAnswer {
    enum Verdict: Equatable {
        case taken
        /// The token is no longer registered.
        case dead
        /// The service refuses this token.
        case refused
        /// The service refuses the credential. The push is sent once more where the connection may be at fault.
        case fault(isTriedAgain: Bool)
        /// A temporary failure: it is retried after `first` seconds, then after twice as many each time, up to `most`.
        case failed(first: Int64, most: Int64)
        /// The push itself is fine: it goes out again when sending resumes.
        case postponed
    }

    let device: Int64
    /// The user that the push was for.
    let user: Int?
    let verdict: Verdict
    /// The reason that the ledger must have; nil: taken.
    let reason: String?
    /// When its batch came back.
    var time: Int64 = 0
    /// How often it was on a connection and may have been processed.
    let attempts: Int
}

/// The state that the ledger must have for one device in one campaign.
struct LedgerEntry {
    /// The last recorded answer. For an app whose tokens are also tried in the other environment: all recorded answers.
    private(set) var last: [LedgerAnswer] = []
    private(set) var attempts = 0
    /// The last answer by which a service took its push.
    private(set) var taken: LedgerAnswer?
    /// Whether a service ever took its push.
    var wasTaken: Bool { taken != nil }
    /// Answers that may or may not have been recorded: the process died, or another relay had the campaign.
    private(set) var perhaps: [LedgerAnswer] = []
    /// Whether `perhaps` has answers of both environments, of which the row may have either's reason.
    private var isPerhapsOfTwo = false
    /// Whether a later answer is surely recorded.
    private var isLaterKnown = false

    /// - Parameter isOneOfTwo: whether the answer of the other environment comes beside it.
    mutating func take(_ answer: LedgerAnswer, isOneOfTwo: Bool) {
        if !perhaps.isEmpty { isLaterKnown = true }
        last = isOneOfTwo ? last + [answer] : [answer]
        attempts += answer.attempts
        if answer.verdict == .taken { taken = answer }
    }

    /// Notes an answer that may or may not have been recorded.
    mutating func mayTake(_ answer: LedgerAnswer, isOneOfTwo: Bool) {
        perhaps.append(answer)
        isPerhapsOfTwo = isOneOfTwo
    }

    /// The possible entries: with all of `perhaps`, with all but its last, and so on; and with all but its first, and so on, where
    /// a relay skipped outcomes and recorded later ones.
    var either: [LedgerEntry] {
        let parts =
            (0...perhaps.count).reversed().map { perhaps.prefix($0) }
            + perhaps.indices.dropFirst().map { perhaps[$0...] }
        return parts.map { answers in
            var entry = self
            (entry.perhaps, entry.isLaterKnown) = ([], false)
            for answer in answers { entry.take(answer, isOneOfTwo: isPerhapsOfTwo) }
            if isLaterKnown { entry.last = last }
            return entry
        }
    }
}

/// A row of a campaign's deliveries, in the model's terms.
struct ToldDelivery {
    var device: Int64
    var token: String
    /// nil: no user, or an erased one.
    var user: Int?
    var state: String
    var reason: String?
    var attempts: Int
    /// Both are nil if the wall clock was ever set.
    var nextAt: Int64?
    var updatedAt: Int64?
}

/// A campaign's deliveries, with the other facts from the relay that matter for them.
struct ToldLedger {
    var campaign: ToldCampaign
    var isBlock: Bool
    var rows: [ToldDelivery]
    var filteredBy: [String: Int64]
    var rejectedBy: [String: Int64]
    /// When its time to live is over; nil if the wall clock was ever set.
    var expiresAt: Int64?
    /// Whether anything but the push service has stopped it, resumed it or begun it anew.
    var isStirred: Bool
    /// Whether another relay ever owned it.
    var wasFenced: Bool
    /// Whether a service beside the main one was ever stopped for it.
    var wasStoppedInPart = false
    /// Whether one of its tokens was called dead while many were.
    var calledManyDead = false
    /// Whether one of an app's two services may stop without the campaign.
    var hasTwoServices: Bool
    /// Whether outcomes ever waited for the disk.
    var wasDiskFailing: Bool
    /// Whether all rows are listed: none was pruned, or deleted by another program.
    var isWhole: Bool
}
