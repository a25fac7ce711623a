// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
package import Requirements

/// The changes of a commit to a campaign's counts, written at its end.
package struct OutcomeTally {
    package var counts = CampaignCounts()
    private var reasons: [Reason: Int64] = [:]
    /// Reminders that were not sent after all.
    private var givenBack: Int64 = 0

    private struct Reason: Hashable {
        /// "rejected", "filtered" or "channel".
        var kind: String
        var text: String
    }

    package init() {}

    /// Counts an outcome that is kept; one that goes into a batch is counted with the batch.
    ///
    /// - Parameter recorded: the entry that it replaces.
    package mutating func count(
        _ verdict: LedgerRule.Verdict, _ reason: String?, over recorded: RecordedOutcome? = nil
    ) {
        if let recorded { count(recorded.state, recorded.reason, -1) }
        switch verdict {
        case .packed: break
        case .row(let row): count(row.state, reason, 1)
        case .givenBack:
            counts.accepted += 1
            givenBack += 1
        }
    }

    private mutating func count(_ state: DeliveryState, _ reason: String?, _ devices: Int64) {
        counts[state] += devices
        if state == .rejected || state == .filtered {
            reasons[Reason(kind: state.name, text: reason ?? "unknown"), default: 0] += devices
        }
    }

    /// Counts the answers of push services. A push that the relay itself refused, or kept back, has no attempt.
    package mutating func count(answersIn rows: [LedgerRow]) {
        // An array indexed by numbers, since every push is counted here.
        let states = DeliveryState.allCases.count
        var answers = [Int64](repeating: 0, count: Channel.allCases.count * states)
        for row in rows where row.attempts > 0 {
            answers[Int(row.channel.rawValue) * states + Int(row.state.rawValue)] += 1
        }
        for channel in Channel.allCases {
            for state in ChannelAnswers.states {
                let devices = answers[Int(channel.rawValue) * states + Int(state.rawValue)]
                guard devices > 0 else { continue }
                reasons[Reason(kind: "channel", text: ChannelAnswers.name(channel, state)), default: 0] += devices
            }
        }
    }

    /// Counts a batch of the ledger.
    package mutating func count(_ packer: borrowing DeliveryPacker) {
        counts.accepted += packer.accepted
        counts.filtered += packer.filtered
        for outcome in PlainOutcome.allCases {
            guard let reason = outcome.reason, packer.tally[Int(outcome.rawValue)] > 0 else { continue }
            reasons[Reason(kind: DeliveryState.filtered.name, text: reason.rawValue), default: 0] +=
                packer.tally[Int(outcome.rawValue)]
        }
    }

    /// Writes the counts, as one more commit of the campaign.
    package func store(of campaign: CampaignKey, _ connection: some SQLConnection) throws {
        try RunTable.add(counts, to: campaign, commits: 1, connection)
        let reasons = reasons.sorted { ($0.key.kind, $0.key.text) < ($1.key.kind, $1.key.text) }
        for (reason, devices) in reasons where devices != 0 {
            try connection.run(
                """
                INSERT INTO campaign_reason (campaign_id, kind, reason, devices)
                VALUES (?1, ?2, ?3, CASE WHEN CAST(?4 AS BIGINT) > 0 THEN ?4 ELSE 0 END)
                ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET devices = campaign_reason.devices + ?4
                """, campaign.row, reason.kind, reason.text, devices)
        }
        try RoundTable.giveBack(givenBack, of: campaign, connection)
    }
}

extension RecordedOutcome: Selection {
    /// Columns of `delivery`.
    package static let columns: SQL = "state, reason, attempts, again"

    package static func read(_ row: inout Columns<some SQLRow>) -> RecordedOutcome {
        RecordedOutcome(
            state: row.state(), reason: row.optionalText(), attempts: row.integer(), again: row.integer())
    }
}
