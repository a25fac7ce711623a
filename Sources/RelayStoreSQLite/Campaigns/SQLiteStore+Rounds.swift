// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension SQLiteStore {
    /// Rows or batched devices that are looked at in one step, and devices of one transaction: about ten milliseconds.
    private static let step = 1000
    /// Batches that are looked at in one step where nobody is to be reminded.
    private static let batchesAtOnce = 16

    package func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered {
        // Looked at beside the writer, and judged there; what is written is short.
        let found = try read("looking for devices to send to again") { connection -> RoundStep? in
            guard let round = try RoundTable.open(campaign, connection) else { return nil }
            var step = RoundStep(round, cursor: round.cursor)
            guard round.retrying < most else { return step }
            step.isFull = false
            switch (round.kind, round.isAtBatches) {
            case (.retry, _): try step.findRows(of: campaign, limit: Self.step, connection)
            case (.reminder, false):
                try step.findAccepted(of: campaign, limit: Self.step, wants: wants, connection)
            case (.reminder, true):
                try step.findPacked(of: campaign, batches: Self.batchesAtOnce, wants: wants, connection)
            }
            return step
        }
        guard let found else { return Gathered(.done) }
        guard !found.isFull else { return Gathered(.full) }
        return try write("putting devices in line again") { connection in
            // Paused, ended or moved on meanwhile: the next step looks anew.
            guard let round = try RoundTable.open(campaign, connection) else { return Gathered(.done) }
            guard round.cursor == found.round.cursor, round.isAtBatches == found.round.isAtBatches else {
                return Gathered(.more)
            }
            return try found.write(of: campaign, at: now, connection)
        }
    }
}

/// One step of putting devices in line: what was found, and then what is written of it.
private struct RoundStep {
    let round: RoundTable.Open
    /// Everybody up to here was looked at.
    var cursor: Int64
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

    /// Rows with one of the outcomes that are sent again, ascending by device.
    mutating func findRows(of campaign: CampaignKey, limit: Int, _ connection: SQLiteConnection) throws {
        var found: [(device: Int64, environment: PushEnvironment)] = []
        for state in round.states {
            found += try connection.all(
                """
                SELECT d.device_id, v.environment FROM delivery AS d INDEXED BY delivery_rare
                    CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
                WHERE d.campaign_id = ?1 AND d.state = ?2 AND d.state > 2 AND d.state <> 7 AND d.device_id > ?3
                ORDER BY d.device_id LIMIT ?4
                """, campaign.row, state, round.cursor, limit
            ) { ($0.integer(0), $0.environment(1)) }
        }
        found.sort { $0.device < $1.device }
        for (device, environment) in found.prefix(limit) { devices[device] = environment }
        isLast = found.count < limit
        if let last = found.prefix(limit).last?.device { cursor = last }
    }

    /// Devices whose push was accepted, and that have a row.
    mutating func findAccepted(
        of campaign: CampaignKey, limit: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ connection: SQLiteConnection
    ) throws {
        let statement = try connection.prepared(
            """
            SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at
            FROM delivery AS d CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
            WHERE d.campaign_id = ?1 AND d.device_id > ?2 AND d.state = 2 AND v.removed_at IS NULL
            ORDER BY d.device_id LIMIT ?3
            """)
        defer { statement.reset() }
        statement.bind(1, campaign.row)
        statement.bind(2, round.cursor)
        statement.bind(3, Int64(limit))
        var rows = DeviceRows()
        while try statement.step() { statement.readDevice(into: &rows, attempts: 0) }
        take(rows, wants)
        isLast = rows.count < limit
        if let last = rows.rows.last?.id { cursor = last }
    }

    /// Devices of a batch; of several, where nobody of the first ones is wanted.
    mutating func findPacked(
        of campaign: CampaignKey, batches: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ connection: SQLiteConnection
    ) throws {
        let find = try connection.prepared(
            """
            SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at
            FROM device WHERE id = ?2 AND \(CampaignTable.isOfItsApp) AND removed_at IS NULL
            """)
        defer { find.reset() }
        var rows = DeviceRows()
        for _ in 0..<batches {
            let next = try connection.first(
                """
                SELECT \(DeliveryBatch.columns) FROM delivery_batch WHERE campaign_id = ? AND last > ? AND accepted > 0
                ORDER BY last LIMIT 1
                """, campaign.row, cursor, row: DeliveryBatch.init)
            guard let next else {
                isLast = true
                return
            }
            rows.removeAll()
            for entry in try next.entries() where entry.outcome == .accepted {
                find.bind(1, campaign.row)
                find.bind(2, entry.device)
                if try find.step() { find.readDevice(into: &rows, attempts: 0) }
                find.reset()
            }
            cursor = next.last
            take(rows, wants)
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

    func write(of campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection) throws -> Gathered {
        var gathered = Gathered(.more)
        gathered.environments = Set(devices.values)
        if let batch {
            gathered.devices = try DeliveryBatchTable.remind(
                devices, ofBatchUpTo: batch, of: campaign, at: now, connection)
            try RunTable.move(gathered.devices, from: .accepted, to: .retrying, of: campaign, connection)
        } else {
            gathered.devices = try putRowsInLine(of: campaign, at: now, connection)
        }
        let opensBatches = isLast && round.kind == .reminder && !round.isAtBatches
        try RoundTable.advance(
            round, of: campaign, to: opensBatches ? 0 : cursor, atBatches: round.isAtBatches || opensBatches,
            devices: gathered.devices, connection)
        guard isLast, !opensBatches else { return gathered }
        gathered.progress = .done
        guard round.kind == .retry, let opened = try openShards(of: campaign, connection) else {
            try RoundTable.end(campaign, at: now, connection)
            return gathered
        }
        try RoundTable.end(campaign, devices: opened, at: now, connection)
        gathered.opensShards = true
        gathered.devices += opened
        return gathered
    }

    private func putRowsInLine(
        of campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws -> Int64 {
        let again: SentAgain = round.kind == .reminder ? [.untried, .reminder] : .untried
        var counts = CampaignCounts()
        var reasons: [String: Int64] = [:]
        for (device, environment) in devices.sorted(by: { $0.key < $1.key }) {
            let old = try connection.first(
                "SELECT state, reason FROM delivery WHERE campaign_id = ? AND device_id = ?", campaign.row, device
            ) { (state: $0.state(0), reason: $0.optionalText(1)) }
            guard let old, let state = old.state, round.states.contains(state) else { continue }
            try connection.run(
                """
                UPDATE delivery SET state = 3, reason = NULL, next_attempt_at = ?3, environment = ?4, updated_at = ?3,
                    again = ?5
                WHERE campaign_id = ?1 AND device_id = ?2
                """, campaign.row, device, now, environment, again)
            counts[state] -= 1
            counts.retrying += 1
            if state == .rejected { reasons[old.reason ?? "unknown", default: 0] += 1 }
        }
        for (reason, devices) in reasons.sorted(by: { $0.key < $1.key }) {
            try connection.run(
                """
                UPDATE campaign_reason SET devices = devices - ?
                WHERE campaign_id = ? AND kind = 'rejected' AND reason = ?
                """, devices, campaign.row, reason)
        }
        try RunTable.add(counts, to: campaign, connection)
        return counts.retrying
    }

    /// Those that the campaign had not come to when it ended are pending again. Where it had not even been cut into shards, it
    /// is as if it began now, with the audience of now.
    ///
    /// - Returns: how many; nil where there is no such shard.
    private func openShards(of campaign: CampaignKey, _ connection: SQLiteConnection) throws -> Int64? {
        guard let rest = try RunTable.rest(of: campaign, connection), round.states.contains(rest) else { return nil }
        // As `CampaignTable.settleRest` makes them, and no plan does: two over everyone, all counted in the first.
        let isUnplanned =
            try connection.exists(
                """
                SELECT 1 FROM shard WHERE campaign_id = ?1 AND number = 1 AND environment = 1 AND cursor = 0 AND remaining = 0
                    AND 2 = (SELECT count(*) FROM shard WHERE campaign_id = ?1)
                    AND NOT EXISTS (SELECT 1 FROM shard WHERE campaign_id = ?1 AND cursor > 0)
                """, campaign.row)
        let left = try connection.integer(
            "SELECT sum(remaining) FROM shard WHERE campaign_id = ? AND cursor < last HAVING count(*) > 0", campaign.row
        )
        var counts = CampaignCounts()
        counts[rest] -= left ?? 0
        if isUnplanned {
            try connection.run("DELETE FROM shard WHERE campaign_id = ?", campaign.row)
            try connection.run("UPDATE campaign SET planned_at = NULL WHERE id = ?", campaign.row)
        } else {
            counts.pending = left ?? 0
        }
        try RunTable.add(counts, to: campaign, connection)
        try RunTable.settle(campaign, as: nil, connection)
        return left ?? (isUnplanned ? 0 : nil)
    }
}
