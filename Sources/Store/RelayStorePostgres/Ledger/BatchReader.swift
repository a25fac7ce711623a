// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The fan-out's batches: devices of a shard, and due retries.
enum BatchReader {
    /// The places of its statements' columns. They are not read in this order.
    private enum Column {
        static let id = 0
        static let token = 1
        static let telephone = 2
        static let version = 3
        static let channel = 4
        static let isDead = 5
        static let registeredAt = 6
        static let system = 7
        static let attempts = 8
        static let again = 9
    }

    /// The statement for a batch of devices, for each channel. It reads in the order of the primary key or, for a
    /// channel other than the first, of the index of that channel's few devices: the comparison of rows allows no other
    /// index.
    static let batches = Channel.allCases.map { devices("= \($0.rawValue)") }
    /// The same without devices that have a row in the ledger of a campaign ($6): those of its canary.
    static let batchesWithoutRows = Channel.allCases.map { devices("= \($0.rawValue) \(hasNoRow)") }

    private static let hasNoRow =
        "AND NOT EXISTS (SELECT FROM delivery AS r WHERE r.campaign_id = $6 AND r.device_id = device.id)"

    private static func devices(_ condition: String) -> PostgresStatement {
        let app = "(SELECT a.id FROM app AS a WHERE a.name = $1 AND a.platform = $2)"
        return PostgresStatement(
            composed: """
                SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at, os_version
                FROM device
                WHERE (app_id, id) > (\(app), $3) AND (app_id, id) <= (\(app), $4) AND removed_at IS NULL
                    AND coalesce(planned_environment, environment) \(condition)
                ORDER BY app_id, id LIMIT $5
                """, isReadOnly: true)
    }

    /// Takes the rows that have been due longest first, from the index, and sorts only those. LEFT JOIN: without it, a
    /// row whose device is gone would stay due for ever. Finds none for a campaign that is over: its sender may not
    /// have noticed yet.
    static let dueRetries = PostgresStatement(
        """
        SELECT r.device_id, d.token, d.telephone, d.version, d.environment, d.retired_at IS NOT NULL, d.registered_at,
            d.os_version, r.attempts, r.again
        FROM (SELECT device_id, attempts, again FROM delivery
              WHERE campaign_id = $1 AND environment = $2 AND state = 3 AND next_attempt_at <= $3
                  AND (SELECT c.finished_at IS NULL FROM campaign AS c WHERE c.id = $1)
              ORDER BY next_attempt_at LIMIT $4) AS r
            LEFT JOIN device AS d ON d.id = r.device_id
                AND d.app_id IS NOT DISTINCT FROM (SELECT c.app_id FROM campaign AS c WHERE c.id = $1)
        ORDER BY r.device_id
        """, isReadOnly: true)

    /// nil for a campaign that is over.
    static let nextRetry = PostgresStatement(
        """
        SELECT min(next_attempt_at) FROM delivery
        WHERE campaign_id = $1 AND environment = $2 AND state = 3
            AND (SELECT c.finished_at IS NULL FROM campaign AS c WHERE c.id = $1)
        """, isReadOnly: true)

    /// The number of devices that one query reads where most of them may be of another wave.
    private static let page = 2000

    /// See `Ledger.readDevices`.
    static func readDevices(
        _ connection: PostgresConnection, app: AppKey, channel: Channel, after: Int64, through last: Int64,
        limit: Int, of slice: WaveSlice?, without campaign: CampaignKey?, into rows: inout DeviceRows,
        until deadline: MonotonicTime
    ) throws(PostgresFailure) {
        rows.removeAll()
        guard limit > 0 else { return }
        let statement = (campaign == nil ? batches : batchesWithoutRows)[min(Int(channel.rawValue), batches.count - 1)]
        // For one wave, the range is read until enough of its devices are found.
        let draw = slice.flatMap { $0.isLast ? nil : $0.draw }
        let most = draw == nil ? limit : max(limit, page)
        var after = after
        while true {
            let found = try connection.run(statement, until: deadline) { values in
                values.add(app.app)
                values.add(app.platform.rawValue)
                values.add(after)
                values.add(last)
                values.add(Int64(most))
                if let campaign { values.add(campaign.row) }
            }
            for row in 0..<found.count where rows.count < limit {
                if let draw, let slice {
                    let wave = unsafe found.withBytes(row, Column.telephone) { telephone in
                        unsafe draw.wave(of: found.isNull(row, Column.telephone) ? nil : telephone)
                    }
                    guard wave == slice.number else { continue }
                }
                append(row, of: found, wave: slice?.number ?? 0, to: &rows)
            }
            guard draw != nil, rows.count < limit, found.count == most else { return }
            after = found.integer(found.count - 1, Column.id)
        }
    }

    /// See `Ledger.readDueRetries`.
    static func readDueRetries(
        _ connection: PostgresConnection, _ campaign: CampaignKey, channel: Channel, at now: Timestamp,
        limit: Int, waves: WaveDraw?, into rows: inout DeviceRows, until deadline: MonotonicTime
    ) throws(PostgresFailure) {
        rows.removeAll()
        let found = try connection.run(dueRetries, until: deadline) { values in
            values.add(campaign.row)
            values.add(Int64(channel.rawValue))
            values.add(now.milliseconds)
            values.add(Int64(max(limit, 0)))
        }
        for row in 0..<found.count {
            let isGone = found.isNull(row, Column.token)
            let wave = unsafe found.withBytes(row, Column.telephone) { telephone in
                unsafe waves?.wave(of: found.isNull(row, Column.telephone) ? nil : telephone) ?? 0
            }
            append(
                row, of: found, wave: isGone ? Int(UInt8.max) : wave,
                attempts: UInt16(clamping: found.integer(row, Column.attempts)),
                again: RequeueReasons(rawValue: UInt8(truncatingIfNeeded: found.integer(row, Column.again))), to: &rows)
        }
    }

    /// All rows of a result.
    static func rows(of found: borrowing PostgresRows) -> DeviceRows {
        var rows = DeviceRows()
        for row in 0..<found.count { append(row, of: found, wave: 0, to: &rows) }
        return rows
    }

    @inline(__always)
    private static func append(
        _ row: Int, of found: borrowing PostgresRows, wave: Int, attempts: UInt16 = 0, again: RequeueReasons = [],
        to rows: inout DeviceRows
    ) {
        let token = unsafe found.withBytes(row, Column.token) { unsafe PackedToken.unpack($0, into: &rows) }
        let telephone = text(row, Column.telephone, of: found, into: &rows)
        let version = text(row, Column.version, of: found, into: &rows)
        let system = text(row, Column.system, of: found, into: &rows)
        var device = DeviceRow(
            id: found.integer(row, Column.id), token: token, telephone: telephone, version: version, system: system,
            channel: found.channel(row, Column.channel),
            isDead: found.bool(row, Column.isDead),
            registeredAt: found.integer(row, Column.registeredAt), attempts: attempts,
            wave: UInt8(truncatingIfNeeded: wave))
        device.again = again
        rows.append(device)
    }

    @inline(__always)
    private static func text(
        _ row: Int, _ column: Int, of found: borrowing PostgresRows, into rows: inout DeviceRows
    ) -> ByteSlice {
        unsafe found.withBytes(row, column) { text in
            if unsafe text.isEmpty, found.isNull(row, column) { return .absent }
            return unsafe rows.store(text)
        }
    }
}
