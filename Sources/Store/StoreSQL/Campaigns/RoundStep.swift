// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements

/// One step of putting devices in line: first the devices are found, then their rows are written. A driver reads the
/// devices, and moves their rows.
struct RoundStep {
    /// Rows or batched devices that are looked at in one step, and devices of one transaction: about ten milliseconds.
    static let most = 1000
    /// Batches that are looked at in one step where no device is reminded.
    private static let mostBatches = 16

    let round: RoundTable.Open
    /// All devices up to this one were looked at.
    private(set) var cursor: Int64
    /// Whether as many devices are in line as the caller allows.
    var isFull = true
    /// Whether no device comes behind the cursor.
    private var isLast = false
    /// The devices that are put in line, with their push services.
    private var devices: [Int64: Channel] = [:]
    /// The last device of the batch that they are in; nil: they have rows.
    private var batch: Int64?

    init(_ round: RoundTable.Open, cursor: Int64) {
        self.round = round
        self.cursor = cursor
    }

    // MARK: Finding

    /// Takes devices whose rows have one of the outcomes that are sent again.
    ///
    /// - Parameter limit: how many of each outcome were looked for.
    mutating func take(_ found: [RoundTable.Device], limit: Int) {
        let next = found.sorted { $0.device < $1.device }.prefix(limit)
        for (device, channel) in next { devices[device] = channel }
        isLast = found.count < limit
        if let last = next.last?.device { cursor = last }
    }

    /// Takes devices with a row for an accepted push, ascending.
    ///
    /// - Parameter limit: how many were looked for.
    mutating func take(
        accepted rows: DeviceRows, limit: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) {
        take(rows, wants)
        isLast = rows.count < limit
        if let last = rows.rows.last?.id { cursor = last }
    }

    /// Takes the wanted devices of the first batch that has any, out of the next `mostBatches`.
    ///
    /// - Parameter read: reads some devices, ascending, without those that were removed.
    mutating func findPacked(
        of campaign: CampaignKey, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ connection: some SQLConnection, read: ([Int64]) throws -> DeviceRows
    ) throws {
        for _ in 0..<Self.mostBatches {
            let next = try connection.first(
                DeliveryBatch.self,
                """
                FROM delivery_batch WHERE campaign_id = ? AND last > ? AND accepted > 0 ORDER BY last LIMIT 1
                """, campaign.row, cursor)
            guard let next else {
                isLast = true
                return
            }
            let accepted = try next.entries().filter { $0.outcome == .accepted }.map(\.device)
            cursor = next.last
            take(try read(accepted), wants)
            guard devices.isEmpty else {
                batch = next.last
                return
            }
        }
    }

    private mutating func take(_ rows: DeviceRows, _ wants: (DeviceRow, borrowing DeviceRows) -> Bool) {
        for row in rows.rows where wants(row, rows) { devices[row.id] = row.channel }
    }

    // MARK: Writing

    /// Must run within a transaction. Writes nothing where the round was paused, has ended or moved on since the step began:
    /// the next step looks anew.
    ///
    /// - Parameter putInLine: makes due now the rows of these devices, ascending, that still have one of the round's
    ///   outcomes, and returns the outcomes that they had.
    func write(
        of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection,
        putInLine: ([RoundTable.Device], RequeueReasons, RoundTable.Open) throws -> [(
            state: DeliveryState, reason: String?
        )]
    ) throws -> Gathered {
        guard let current = try RoundTable.open(campaign, connection) else { return Gathered(.done) }
        guard current.cursor == round.cursor, current.isAtBatches == round.isAtBatches else { return Gathered(.more) }
        var gathered = Gathered(.more)
        gathered.channels = Set(devices.values)
        if let batch {
            gathered.devices = try DeliveryBatchTable.remind(
                devices, ofBatchUpTo: batch, of: campaign, at: now, connection)
            try RunTable.move(gathered.devices, from: .accepted, to: .retrying, of: campaign, connection)
        } else if !devices.isEmpty {
            let sorted = devices.sorted { $0.key < $1.key }.map { (device: $0.key, channel: $0.value) }
            let old = try putInLine(sorted, round.kind == .reminder ? [.untried, .reminder] : .untried, current)
            try count(old, of: campaign, connection)
            gathered.devices = Int64(old.count)
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

    private func count(
        _ old: [(state: DeliveryState, reason: String?)], of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws {
        var counts = CampaignCounts()
        var reasons: [String: Int64] = [:]
        for (state, reason) in old {
            counts[state] -= 1
            counts.retrying += 1
            if state == .rejected { reasons[reason ?? "unknown", default: 0] += 1 }
        }
        for (reason, devices) in reasons.sorted(by: { $0.key < $1.key }) {
            try connection.run(
                """
                UPDATE campaign_reason SET devices = devices - ?
                WHERE campaign_id = ? AND kind = 'rejected' AND reason = ?
                """, devices, campaign.row, reason)
        }
        try RunTable.add(counts, to: campaign, connection)
    }

    /// Makes the devices that the campaign had not reached at its end pending again. A campaign that had not even been
    /// cut into shards goes on as if it began now, with the present audience.
    ///
    /// - Returns: the number of devices; nil where no shard is left.
    private func openShards(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> Int64? {
        guard let rest = try RunTable.rest(of: campaign, connection), round.states.contains(rest) else { return nil }
        // Shards as `CampaignTable.settleRest` makes them, and no plan does: one of each channel over all devices, which are
        // all counted in the first. Older releases knew of two channels.
        let isUnplanned =
            try connection.exists(
                """
                SELECT 1 FROM shard WHERE campaign_id = ?1 AND number = 1 AND environment = 1 AND cursor = 0 AND remaining = 0
                    AND (SELECT count(*) FROM shard WHERE campaign_id = ?1) IN (2, \(Channel.allCases.count))
                    AND NOT EXISTS (SELECT 1 FROM shard WHERE campaign_id = ?1 AND cursor > 0)
                """, campaign.row)
        let left: (devices: Int64, shards: Int64) =
            try connection.first(
                """
                SELECT CAST(coalesce(sum(remaining), 0) AS BIGINT), count(*) FROM shard
                WHERE campaign_id = ? AND cursor < last
                """, campaign.row
            ) { ($0.integer(), $0.integer()) } ?? (0, 0)
        var counts = CampaignCounts()
        counts[rest] -= left.devices
        if isUnplanned {
            try connection.run("DELETE FROM shard WHERE campaign_id = ?", campaign.row)
            try connection.run("UPDATE campaign SET planned_at = NULL WHERE id = ?", campaign.row)
        } else {
            counts.pending = left.devices
        }
        try RunTable.add(counts, to: campaign, connection)
        try RunTable.settle(campaign, as: nil, connection)
        return left.shards > 0 || isUnplanned ? left.devices : nil
    }
}
