// SPDX-License-Identifier: Apache-2.0

/// What came of a push on its way to one device, in the words of the guide's table of reasons.
///
/// Times are milliseconds of the monotonic clock.
struct LedgerAnswer {
    enum Verdict: Equatable {
        case taken
        /// The token is not registered any more.
        case dead
        /// The service refuses this token.
        case refused
        /// It speaks of the credential; once more where that may be the connection's fault.
        case fault(isTriedAgain: Bool)
        /// Failed for now: tried again after `first` seconds, and after twice as many each time, `most` of them at last.
        case failed(first: Int64, most: Int64)
        /// Nothing is wrong with the push: it goes again when sending goes on.
        case postponed
    }

    let device: Int64
    /// Whom the push was for.
    let user: Int?
    let verdict: Verdict
    /// As the ledger must say it; nil: taken.
    let reason: String?
    /// When its batch was back.
    var time: Int64 = 0
    /// How often it was on a connection and may have been looked at.
    let attempts: Int
}

/// What the ledger must have of one device in one campaign.
struct LedgerEntry {
    /// The last answer that was recorded; of an app whose tokens are tried in the other environment, too, all since the last look.
    private(set) var last: [LedgerAnswer] = []
    /// The last answer that was recorded and counts: a push that goes again when sending goes on has had none.
    private(set) var counted: LedgerAnswer?
    private(set) var attempts = 0
    /// Whether a service ever took its push.
    private(set) var wasTaken = false
    /// Answers of which nobody outside sees whether they could be recorded: the process died, or the campaign was another relay's.
    var perhaps: [LedgerAnswer] = []
    /// Whether something is surely recorded that came after those.
    private var isLaterKnown = false

    /// - Parameter isOneOfTwo: what the other environment says comes beside it.
    mutating func take(_ answer: LedgerAnswer, isOneOfTwo: Bool) {
        if !perhaps.isEmpty { isLaterKnown = true }
        last = isOneOfTwo ? last + [answer] : [answer]
        if answer.verdict != .postponed { counted = answer }
        attempts += answer.attempts
        wasTaken = wasTaken || answer.verdict == .taken
    }

    /// What it may be: with all that may have been recorded, with all but the last of that, and so on; or with all but the first, and so on, where a
    /// relay left outcomes out, and recorded later ones.
    var either: [LedgerEntry] {
        let parts =
            (0...perhaps.count).reversed().map { perhaps.prefix($0) }
            + perhaps.indices.dropFirst().map { perhaps[$0...] }
        return parts.map { answers in
            var entry = self
            (entry.perhaps, entry.isLaterKnown) = ([], false)
            for answer in answers { entry.take(answer, isOneOfTwo: false) }
            if isLaterKnown { entry.last = last }
            return entry
        }
    }
}

/// A line of a campaign's deliveries, in the model's terms.
struct ToldDelivery {
    var device: Int64
    var token: String
    /// nil: nobody, or somebody who was erased.
    var user: Int?
    var state: String
    var reason: String?
    var attempts: Int
    /// Both nil where the wall clock was ever set.
    var nextAt: Int64?
    var updatedAt: Int64?
}

/// A campaign's deliveries, and what else the relay tells that bears on them.
struct ToldLedger {
    var campaign: ToldCampaign
    var isBlock: Bool
    var rows: [ToldDelivery]
    var filteredBy: [String: Int64]
    var rejectedBy: [String: Int64]
    /// When its time to live is over; nil where the wall clock was ever set.
    var expiresAt: Int64?
    /// Whether anybody or anything but the push service has had it stand still, go on, or begin anew.
    var isStirred: Bool
    /// Whether another relay ever had it.
    var wasFenced: Bool
    /// Whether an app's other service may stop without the campaign.
    var hasTwoServices: Bool
    /// Whether outcomes ever waited for a disk.
    var wasDiskFailing: Bool
    /// Whether rows may be missing: pruned, or deleted by another program.
    var isWhole: Bool
}
