// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

/// What a commit changes in a campaign's counts, gathered and written at its end.
package struct OutcomeTally {
    package var counts = CampaignCounts()
    private var reasons: [Reason: Int64] = [:]
    /// Reminders that were not sent after all.
    private var givenBack: Int64 = 0

    private struct Reason: Hashable {
        /// Rejected or filtered.
        var kind: DeliveryState
        var text: String
    }

    package init() {}

    package mutating func count(_ state: DeliveryState, _ reason: String?, _ devices: Int64) {
        counts[state] += devices
        if state == .rejected || state == .filtered {
            reasons[Reason(kind: state, text: reason ?? "unknown"), default: 0] += devices
        }
    }

    /// What a batch of the ledger has.
    package mutating func count(_ packer: borrowing DeliveryPacker) {
        counts.accepted += packer.accepted
        counts.filtered += packer.filtered
        for outcome in PlainOutcome.allCases {
            guard let reason = outcome.reason, packer.tally[Int(outcome.rawValue)] > 0 else { continue }
            reasons[Reason(kind: .filtered, text: reason.rawValue), default: 0] += packer.tally[Int(outcome.rawValue)]
        }
    }

    /// A reminder that did not come about: its device is accepted as before.
    package mutating func giveBack() {
        counts.accepted += 1
        givenBack += 1
    }

    /// One commit more of the campaign.
    package func store(of campaign: CampaignKey, _ connection: some SQLConnection) throws {
        try RunTable.add(counts, to: campaign, commits: 1, connection)
        let reasons = reasons.sorted { ($0.key.kind.name, $0.key.text) < ($1.key.kind.name, $1.key.text) }
        for (reason, devices) in reasons where devices != 0 {
            try connection.run(
                """
                INSERT INTO campaign_reason (campaign_id, kind, reason, devices)
                VALUES (?1, ?2, ?3, CASE WHEN CAST(?4 AS BIGINT) > 0 THEN ?4 ELSE 0 END)
                ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET devices = campaign_reason.devices + ?4
                """, campaign.row, reason.kind.name, reason.text, devices)
        }
        try RoundTable.giveBack(givenBack, of: campaign, connection)
    }
}

/// What the ledger has of a device before a commit.
package struct RecordedOutcome {
    package let state: DeliveryState
    package let reason: String?
    package let attempts: Int64
    package let again: SentAgain

    package init(state: DeliveryState?, reason: String?, attempts: Int64, again: Int64) {
        (self.state, self.reason, self.attempts) = (state ?? .cancelled, reason, attempts)
        self.again = SentAgain(rawValue: UInt8(truncatingIfNeeded: again))
    }

    /// Whether it is a reminder that did not come about: the device has upgraded meanwhile, say, or the time was over. What the
    /// push service took before stays taken.
    ///
    /// - Parameter isOver: whether the campaign is.
    package func isGivenBack(by row: LedgerRow, isOver: Bool) -> Bool {
        guard again.contains(.reminder) else { return false }
        switch row.state {
        case .filtered, .expired, .cancelled: return true
        case .retrying: return isOver
        case .pending, .inFlight, .accepted, .rejected, .unregistered: return false
        }
    }

    /// Why the device is in line again once a push of it is to be tried again.
    package func again(after row: LedgerRow) -> SentAgain { again.after(isTried: Int64(row.attempts) > attempts) }
}

extension RecordedOutcome: Selection {
    /// Columns of `delivery`.
    package static let columns: SQL = "state, reason, attempts, again"

    @inlinable
    package static func read(_ row: inout Columns<some SQLRow>) -> RecordedOutcome {
        RecordedOutcome(
            state: row.state(), reason: row.optionalText(), attempts: row.integer(), again: row.integer())
    }
}
