// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

extension PostgresStore {
    /// Rows or batched devices that are looked at in one step, and devices of one transaction.
    private static let step = 1000
    /// Batches that are looked at in one step where nobody is to be reminded.
    private static let batchesAtOnce = 16

    package func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered {
        // Looked at beside who commits; what is written is short.
        let found = try look(.long, "looking for devices to send to again", isSnapshot: true) { session -> LineStep? in
            guard let round = try RoundTable.open(campaign, session) else { return nil }
            var step = LineStep(round, cursor: round.cursor)
            guard round.retrying < most else { return step }
            step.isFull = false
            switch (round.kind, round.isAtBatches) {
            case (.retry, _): try step.findRows(of: campaign, limit: Self.step, session)
            case (.reminder, false): try step.findAccepted(of: campaign, limit: Self.step, wants: wants, session)
            case (.reminder, true):
                try step.findPacked(of: campaign, batches: Self.batchesAtOnce, wants: wants, session)
            }
            return step
        }
        guard let found else { return Gathered(.done) }
        guard !found.isFull else { return Gathered(.full) }
        return try write(.long, "putting devices in line again", lock: .campaign(campaign)) { session in
            // Paused, ended or moved on meanwhile: the next step looks anew.
            guard let round = try RoundTable.open(campaign, session) else { return Gathered(.done) }
            guard round.cursor == found.round.cursor, round.isAtBatches == found.round.isAtBatches else {
                return Gathered(.more)
            }
            return try found.write(of: campaign, at: now, session)
        }
    }
}

/// One step of putting devices in line: what was found, and then what is written of it.
struct LineStep {
    let round: RoundTable.Open
    /// Everybody up to here was looked at.
    private(set) var cursor: Int64
    /// As many as may be are in line.
    var isFull = true
    /// Nobody comes behind the cursor.
    private var isLast = false
    /// Who is put in line, and by which service.
    private var devices: [Int64: PushEnvironment] = [:]
    /// Whose batch ends here; nil: they have rows.
    private var batch: Int64?

    init(_ round: RoundTable.Open, cursor: Int64) {
        self.round = round
        self.cursor = cursor
    }

    // MARK: Finding

    /// What has one outcome, ascending by device.
    static let rows = PostgresStatement(
        """
        SELECT d.device_id, v.environment FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.state = $2 AND d.state > 2 AND d.state <> 7 AND d.device_id > $3
        ORDER BY d.device_id LIMIT $4
        """, isReadOnly: true)
    /// Devices whose push was accepted, and that have a row. Seven columns as `BatchReader` reads them.
    static let accepted = PostgresStatement(
        """
        SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at
        FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.device_id > $2 AND d.state = 2 AND v.removed_at IS NULL
        ORDER BY d.device_id LIMIT $3
        """, isReadOnly: true)
    static let devices = PostgresStatement(
        """
        SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at
        FROM device WHERE id = ANY ($1) AND removed_at IS NULL ORDER BY id
        """, isReadOnly: true)

    mutating func findRows(of campaign: CampaignKey, limit: Int, _ session: PostgresSession) throws {
        var found: [(device: Int64, environment: PushEnvironment)] = []
        for state in round.states {
            let rows = try session.run(Self.rows) { values in
                values.add(campaign.row)
                values.add(Int64(state.rawValue))
                values.add(round.cursor)
                values.add(Int64(limit))
            }
            for row in 0..<rows.count {
                found.append((rows.integer(row, 0), rows.integer(row, 1) == 0 ? .production : .sandbox))
            }
        }
        found.sort { $0.device < $1.device }
        for (device, environment) in found.prefix(limit) { devices[device] = environment }
        isLast = found.count < limit
        if let last = found.prefix(limit).last?.device { cursor = last }
    }

    mutating func findAccepted(
        of campaign: CampaignKey, limit: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ session: PostgresSession
    ) throws {
        let found = try session.run(Self.accepted) { values in
            values.add(campaign.row)
            values.add(round.cursor)
            values.add(Int64(limit))
        }
        let rows = BatchReader.rows(of: found)
        take(rows, wants)
        isLast = rows.count < limit
        if let last = rows.rows.last?.id { cursor = last }
    }

    /// Devices of a batch; of several, where nobody of the first ones is wanted.
    mutating func findPacked(
        of campaign: CampaignKey, batches: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ session: PostgresSession
    ) throws {
        for _ in 0..<batches {
            let next = try session.first(
                """
                SELECT \(DeliveryBatch.columns) FROM delivery_batch WHERE campaign_id = ? AND last > ? AND accepted > 0
                ORDER BY last LIMIT 1
                """, campaign.row, cursor, row: { DeliveryBatch($0) })
            guard let next else {
                isLast = true
                return
            }
            let accepted = try next.entries().filter { $0.outcome == .accepted }.map(\.device)
            let found = try session.run(Self.devices) { $0.add(accepted) }
            cursor = next.last
            take(BatchReader.rows(of: found), wants)
            guard devices.isEmpty else {
                batch = next.last
                return
            }
        }
    }

    private mutating func take(_ rows: DeviceRows, _ wants: (DeviceRow, borrowing DeviceRows) -> Bool) {
        for row in rows.rows where wants(row, rows) { devices[row.id] = row.environment }
    }

    // MARK: Writing

    func write(of campaign: CampaignKey, at now: Timestamp, _ session: PostgresSession) throws -> Gathered {
        var gathered = Gathered(.more)
        gathered.environments = Set(devices.values)
        if let batch {
            gathered.devices = try DeliveryBatchTable.remind(
                devices, ofBatchUpTo: batch, of: campaign, at: now, session)
            try RunTable.move(gathered.devices, from: .accepted, to: .retrying, of: campaign, session)
        } else {
            gathered.devices = try putRowsInLine(of: campaign, at: now, session)
        }
        let opensBatches = isLast && round.kind == .reminder && !round.isAtBatches
        try RoundTable.advance(
            round, of: campaign, to: opensBatches ? 0 : cursor, atBatches: round.isAtBatches || opensBatches,
            devices: gathered.devices, session)
        guard isLast, !opensBatches else { return gathered }
        gathered.progress = .done
        guard round.kind == .retry, let opened = try openShards(of: campaign, session) else {
            try RoundTable.end(campaign, at: now, session)
            return gathered
        }
        try RoundTable.end(campaign, devices: opened, at: now, session)
        gathered.opensShards = true
        gathered.devices += opened
        return gathered
    }

    static let lock = PostgresStatement(
        """
        SELECT device_id, state, reason FROM delivery WHERE campaign_id = $1 AND device_id = ANY ($2)
        ORDER BY device_id FOR UPDATE
        """)
    static let putInLine = PostgresStatement(
        """
        UPDATE delivery AS d SET state = 3, reason = NULL, next_attempt_at = $2, environment = n.environment::smallint,
            updated_at = $2, again = $3::smallint
        FROM unnest($4, $5) AS n (device, environment)
        WHERE d.campaign_id = $1 AND d.device_id = ANY ($4) AND d.device_id = n.device
        """)

    private func putRowsInLine(
        of campaign: CampaignKey, at now: Timestamp, _ session: PostgresSession
    ) throws -> Int64 {
        guard !devices.isEmpty else { return 0 }
        let again: SentAgain = round.kind == .reminder ? [.untried, .reminder] : .untried
        var counts = CampaignCounts()
        var reasons: [String: Int64] = [:]
        let locked = try session.run(Self.lock) { values in
            values.add(campaign.row)
            values.add(devices.keys.sorted())
        }
        var taken: [Int64] = []
        for row in 0..<locked.count {
            guard let state = DeliveryState(rawValue: UInt8(truncatingIfNeeded: locked.integer(row, 1))),
                round.states.contains(state)
            else { continue }
            taken.append(locked.integer(row, 0))
            counts[state] -= 1
            counts.retrying += 1
            if state == .rejected { reasons[locked.optionalText(row, 2) ?? "unknown", default: 0] += 1 }
        }
        try session.run(Self.putInLine) { values in
            values.add(campaign.row)
            values.add(now.milliseconds)
            values.add(Int64(again.rawValue))
            values.add(taken)
            values.add(taken.map { Int64(devices[$0]?.rawValue ?? 0) })
        }
        for (reason, devices) in reasons.sorted(by: { $0.key < $1.key }) {
            try session.run(
                """
                UPDATE campaign_reason SET devices = devices - ?
                WHERE campaign_id = ? AND kind = 'rejected' AND reason = ?
                """, devices, campaign.row, reason)
        }
        try RunTable.add(counts, to: campaign, session)
        return counts.retrying
    }

    /// Those that the campaign had not come to when it ended are pending again. Where it had not even been cut into shards, it
    /// is as if it began now, with the audience of now.
    ///
    /// - Returns: how many; nil where there is no such shard.
    private func openShards(of campaign: CampaignKey, _ session: PostgresSession) throws -> Int64? {
        guard let rest = try RunTable.rest(of: campaign, session), round.states.contains(rest) else { return nil }
        // As `CampaignTable.settleRest` makes them, and no plan does: two over everyone, all counted in the first.
        let isUnplanned =
            try session.exists(
                """
                SELECT 1 FROM shard WHERE campaign_id = ?1 AND number = 1 AND environment = 1 AND cursor = 0 AND remaining = 0
                    AND 2 = (SELECT count(*) FROM shard WHERE campaign_id = ?1)
                    AND NOT EXISTS (SELECT 1 FROM shard WHERE campaign_id = ?1 AND cursor > 0)
                """, campaign.row)
        let left: (devices: Int64, shards: Int64) =
            try session.first(
                """
                SELECT CAST(coalesce(sum(remaining), 0) AS bigint), count(*) FROM shard
                WHERE campaign_id = ? AND cursor < last
                """, campaign.row
            ) { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
        var counts = CampaignCounts()
        counts[rest] = -left.devices
        if isUnplanned {
            try session.run("DELETE FROM shard WHERE campaign_id = ?", campaign.row)
            try session.run("UPDATE campaign SET planned_at = NULL WHERE id = ?", campaign.row)
        } else {
            counts.pending = left.devices
        }
        try RunTable.add(counts, to: campaign, session)
        try RunTable.settle(campaign, as: nil, session)
        return left.shards > 0 || isUnplanned ? left.devices : nil
    }
}
