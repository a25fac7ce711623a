// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// Writes batches of outcomes within one transaction: rows one by one, counts once for each campaign at the end.
struct OutcomeRecorder {
    private let connection: Connection
    private let now: Timestamp
    private let insert: Statement
    private let replace: Statement
    private var tallies: [CampaignKey: Tally] = [:]

    /// What a commit changes in a campaign's counts.
    private struct Tally {
        /// Where devices that a final campaign left out were counted; nil while it is open.
        var rest: DeliveryState?
        var counts = CampaignCounts()
        var reasons: [Reason: Int64] = [:]
    }

    private struct Reason: Hashable {
        var isRejection: Bool
        var text: String
    }

    private struct OldRow {
        var state: DeliveryState
        var reason: String?
    }

    init(_ connection: Connection, at now: Timestamp) throws {
        self.connection = connection
        self.now = now
        insert = try connection.prepared(
            """
            INSERT INTO delivery (state, attempts, reason, telephone, next_attempt_at, updated_at, campaign_id, device_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        replace = try connection.prepared(
            """
            UPDATE delivery SET state = ?, attempts = ?, reason = ?, telephone = ?, next_attempt_at = ?, updated_at = ?
            WHERE campaign_id = ? AND device_id = ?
            """)
    }

    mutating func record(_ batch: LedgerCommit) throws {
        var tally = try tally(of: batch.campaign)
        let inserted = try write(batch, into: &tally)
        if let number = batch.shard { try advance(number, batch, inserted: inserted, tally: &tally) }
        tallies[batch.campaign] = tally
        for retirement in batch.retirements {
            try connection.run(
                """
                UPDATE device SET retired_at = ?1 WHERE id = ?2 AND registered_at <= ?1 AND retired_at IS NULL
                """, .time(retirement.deadSince), .integer(retirement.device))
        }
    }

    /// Writes the counts that were gathered.
    func finish() throws {
        for (campaign, tally) in tallies {
            let counts = tally.counts
            try connection.run(
                """
                UPDATE campaign SET accepted = accepted + ?, retrying = retrying + ?, rejected = rejected + ?,
                    unregistered = unregistered + ?, expired = expired + ?, filtered = filtered + ?,
                    cancelled = cancelled + ?
                WHERE id = ?
                """, .integer(counts.accepted), .integer(counts.retrying), .integer(counts.rejected),
                .integer(counts.unregistered), .integer(counts.expired), .integer(counts.filtered),
                .integer(counts.cancelled), .integer(campaign.row))
            for (reason, devices) in tally.reasons where devices != 0 {
                try connection.run(
                    """
                    INSERT INTO campaign_reason (campaign_id, kind, reason, devices) VALUES (?, ?, ?, max(?4, 0))
                    ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET devices = devices + ?4
                    """, .integer(campaign.row), .text(reason.isRejection ? "rejected" : "filtered"),
                    .text(reason.text), .integer(devices))
            }
        }
    }

    // MARK: Rows

    /// Returns how many rows are new.
    private func write(_ batch: LedgerCommit, into tally: inout Tally) throws -> Int64 {
        var inserted: Int64 = 0
        let isRetry = batch.shard == nil
        // A shard's rows are new, but after a crash between two owners. One look at the range tells.
        let older = isRetry ? [:] : try oldRows(in: batch)
        defer {
            insert.clear()
            replace.clear()
        }
        try unsafe batch.devices.bytes.withUnsafeBytes { arena in
            for row in batch.rows {
                let old = isRetry ? try oldRow(row.device, batch.campaign) : older.isEmpty ? nil : older[row.device]
                var (state, next) = (row.state, row.nextAttemptAt)
                if state == .retrying, let rest = tally.rest {
                    // Sent and failed for now, but its campaign is over: it is not tried again.
                    (state, next) = (rest, nil)
                }
                let statement = old == nil ? insert : replace
                statement.bind(1, Int64(state.rawValue))
                statement.bind(2, Int64(row.attempts))
                statement.bind(3, row.reason)
                unsafe statement.bind(4, row.telephone, of: arena)
                statement.bind(5, next?.milliseconds)
                statement.bind(6, now.milliseconds)
                statement.bind(7, batch.campaign.row)
                statement.bind(8, row.device)
                try statement.run()
                if let old {
                    Self.count(old.state, old.reason, -1, &tally)
                } else {
                    inserted += 1
                }
                Self.count(state, row.reason, 1, &tally)
            }
        }
        return inserted
    }

    @inline(__always)
    private static func count(_ state: DeliveryState, _ reason: String?, _ devices: Int64, _ tally: inout Tally) {
        if state == .accepted {
            tally.counts.accepted += devices
            return
        }
        tally.counts[state] += devices
        if state == .rejected || state == .filtered {
            tally.reasons[Reason(isRejection: state == .rejected, text: reason ?? "unknown"), default: 0] += devices
        }
    }

    private func oldRows(in batch: LedgerCommit) throws -> [Int64: OldRow] {
        guard let first = batch.rows.first, let last = batch.rows.last else { return [:] }
        let rows = try connection.all(
            "SELECT device_id, state, reason FROM delivery WHERE campaign_id = ? AND device_id BETWEEN ? AND ?",
            .integer(batch.campaign.row), .integer(first.device), .integer(last.device)
        ) { ($0.integer(0), Self.oldRow($0, state: 1, reason: 2)) }
        return Dictionary(rows, uniquingKeysWith: { _, last in last })
    }

    private func oldRow(_ device: Int64, _ campaign: CampaignKey) throws -> OldRow? {
        try connection.first(
            "SELECT state, reason FROM delivery WHERE campaign_id = ? AND device_id = ?", .integer(campaign.row),
            .integer(device)
        ) { Self.oldRow($0, state: 0, reason: 1) }
    }

    private static func oldRow(_ row: Statement, state: Int32, reason: Int32) -> OldRow {
        OldRow(
            state: DeliveryState(rawValue: UInt8(truncatingIfNeeded: row.integer(state))) ?? .cancelled,
            reason: row.optionalText(reason))
    }

    // MARK: Shards and campaigns

    private func advance(_ number: Int, _ batch: LedgerCommit, inserted: Int64, tally: inout Tally) throws {
        let shard = try connection.first(
            "SELECT remaining, done FROM shard WHERE campaign_id = ? AND number = ?", .integer(batch.campaign.row),
            .integer(number)
        ) { (remaining: $0.integer(0), isDone: $0.integer(1) != 0) }
        guard let shard else { throw SQLiteFailure.missing("shard \(number) of campaign \(batch.campaign.row)") }
        let taken = min(shard.remaining, inserted)
        if shard.isDone, let rest = tally.rest { tally.counts[rest] -= taken }
        let ends = batch.shardDone && !shard.isDone
        try connection.run(
            """
            UPDATE shard SET remaining = ?1, cursor = min(last, max(cursor, ?2)) WHERE campaign_id = ?3 AND number = ?4
            """, .integer(ends ? 0 : shard.remaining - taken), .integer(batch.shardDone ? .max : batch.cursor),
            .integer(batch.campaign.row), .integer(number))
        if ends {
            try connection.run(
                """
                UPDATE shard SET done = 1, lease_owner = NULL, lease_until = NULL WHERE campaign_id = ? AND number = ?
                """, .integer(batch.campaign.row), .integer(number))
        }
    }

    private func tally(of campaign: CampaignKey) throws -> Tally {
        if let tally = tallies[campaign] { return tally }
        guard let state = try CampaignTable.state(of: campaign, connection) else {
            throw SQLiteFailure.missing("campaign \(campaign.row)")
        }
        switch state {
        case .waiting, .running, .paused, .suspended: return Tally(rest: nil)
        case .cancelled, .superseded: return Tally(rest: .cancelled)
        case .completed: return Tally(rest: .expired)
        }
    }
}
