// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL
import Synchronization

extension SQLiteStore {
    package func readDevices(
        _ app: AppKey, channel: Channel, after: Int64, through last: Int64, limit: Int,
        of slice: WaveSlice?, without campaign: CampaignKey?, into rows: inout DeviceRows
    ) throws {
        rows.removeAll()
        try readOnce("reading a batch of devices") { connection in
            try holdPast(connection)
            guard let app = try AppTable.id(of: app, connection) else { return }
            let statement = try connection.prepared(
                LedgerSQL.readDevices(of: channel, withoutRows: campaign != nil))
            defer { statement.reset() }
            statement.bind(1, after)
            statement.bind(2, last)
            statement.bind(3, app)
            // For one wave, the range is read until enough of its devices are found.
            statement.bind(4, slice.map { !$0.isLast } ?? false ? -1 : Int64(max(limit, 0)))
            if let campaign { statement.bind(5, campaign.row) }
            guard let slice else {
                while try statement.step() { statement.readDevice(into: &rows, attempts: 0) }
                return
            }
            while try rows.count < limit && statement.step() {
                guard slice.isLast || statement.wave(of: BatchColumn.telephone, by: slice.draw) == slice.number else {
                    continue
                }
                statement.readDevice(into: &rows, attempts: 0, wave: slice.number)
            }
        }
    }

    package func readDueRetries(
        _ campaign: CampaignKey, channel: Channel, at now: Timestamp, limit: Int, waves: WaveDraw?,
        into rows: inout DeviceRows
    ) throws {
        rows.removeAll()
        try readOnce("reading due retries") { connection in
            try holdPast(connection)
            let statement = try connection.prepared(LedgerSQL.readDueRetries)
            defer { statement.reset() }
            statement.bind(1, campaign.row)
            statement.bind(2, Int64(channel.rawValue))
            statement.bind(3, now.milliseconds)
            statement.bind(4, Int64(max(limit, 0)))
            while try statement.step() {
                let wave =
                    statement.isNull(BatchColumn.token)
                    ? Int(UInt8.max) : waves.map { statement.wave(of: BatchColumn.telephone, by: $0) } ?? 0
                statement.readDevice(
                    into: &rows, attempts: UInt16(clamping: statement.integer(BatchColumn.attempts)), wave: wave,
                    again: RequeueReasons(rawValue: UInt8(truncatingIfNeeded: statement.integer(BatchColumn.again))))
            }
        }
    }

    package func nextRetry(_ campaign: CampaignKey, channel: Channel) throws -> Timestamp? {
        try readOnce("looking for the next retry") { connection in
            try connection.first(LedgerSQL.nextRetry, campaign.row, channel) {
                $0.optionalTime()
            } ?? nil
        }
    }

    package func commit(_ batches: [LedgerCommit], of lease: RunLease, at now: Timestamp) throws -> Bool {
        do {
            return try write("recording outcomes") { connection in
                for batch in batches { try OutcomeRecorder.recordTokens(of: batch, at: now, connection) }
                switch try RunTable.find(lease, membership.memory, connection) {
                case .over: return false
                case .recorded: return true
                case .next(let run):
                    var recorder = try OutcomeRecorder(connection, run, at: now, erased: erased.withLock { $0 })
                    for batch in batches { try recorder.record(batch) }
                    try recorder.finish()
                    return true
                }
            }
        } catch {
            // Outcomes that could not be recorded are still on their way, so the erasures are remembered longer.
            let now = options.ticks()
            erased.withLock { erased in erased = erased.mapValues { _ in now } }
            throw error
        }
    }
}

/// The ledger's statements whose plans matter; a test looks at them with EXPLAIN QUERY PLAN.
package enum LedgerSQL {
    /// A batch of devices of one channel.
    ///
    /// - Parameter withoutRows: only those without a row of their own in the ledger of a campaign (?5).
    package static func readDevices(of channel: Channel, withoutRows: Bool = false) -> SQL {
        (withoutRows ? batchesWithoutRows : batches)[min(Int(channel.rawValue), batches.count - 1)]
    }

    private static let batches = Channel.allCases.map { readDevices(of: $0, where: "") }
    private static let batchesWithoutRows = Channel.allCases.map { readDevices(of: $0, where: hasNoRow) }

    private static let hasNoRow: SQL =
        "AND NOT EXISTS (SELECT 1 FROM delivery AS r WHERE r.campaign_id = ?5 AND r.device_id = device.id)"

    /// "NOT INDEXED … the INTEGER PRIMARY KEY can still be used to look up entries" (sqlite.org/lang_indexedby.html): the
    /// rowid range alone, which reads the table's pages in order. The planner would otherwise choose an index over (app,
    /// token): 70 µs a row instead of 0.14.
    private static func readDevices(of channel: Channel, where condition: SQL) -> SQL {
        """
        SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at, os_version
        FROM device \(channel.index.map(SQLDialect.sqlite.indexed(by:)) ?? SQLDialect.sqlite.notIndexed)
        WHERE id > ?1 AND id <= ?2 AND app_id = ?3 AND removed_at IS NULL
            AND \(channel.isChannel(of: DeviceTable.plannedEnvironment)) \(condition)
        ORDER BY id LIMIT ?4
        """
    }

    /// The time at which the next retry of a campaign (?1) by a channel (?2) is due.
    package static let nextRetry: SQL = """
        SELECT min(next_attempt_at) FROM delivery INDEXED BY delivery_retry
        WHERE campaign_id = ?1 AND environment = ?2 AND state = 3 AND \(mayGoOn)
        """

    /// Whether a campaign (?1) is still open: the retries that a cancelled or superseded campaign left out stay as they
    /// are.
    private static let mayGoOn: SQL = "(SELECT n.ended IS NULL FROM campaign_run AS n WHERE n.campaign_id = ?1)"

    /// Takes the rows that have been due longest first, from the index, and sorts only those. LEFT JOIN: without it, a
    /// row whose device is gone would stay due for ever. Finds none for a campaign that is over: its sender may not
    /// have noticed yet.
    package static let readDueRetries: SQL = """
        SELECT r.device_id, d.token, d.telephone, d.version, d.environment, d.retired_at IS NOT NULL, d.registered_at,
            d.os_version, r.attempts, r.again
        FROM (SELECT device_id, attempts, again FROM delivery INDEXED BY delivery_retry
              WHERE campaign_id = ?1 AND environment = ?2 AND state = 3 AND next_attempt_at <= ?3 AND \(mayGoOn)
              ORDER BY next_attempt_at LIMIT ?4) AS r
            LEFT JOIN device AS d ON d.id = r.device_id AND d.\(CampaignTable.isOfItsApp)
        ORDER BY r.device_id
        """
}

/// The places of the columns in the ledger's statements that read batches. They are not read in this order.
private enum BatchColumn {
    static let id: Int32 = 0
    static let token: Int32 = 1
    static let telephone: Int32 = 2
    static let version: Int32 = 3
    static let channel: Int32 = 4
    static let isDead: Int32 = 5
    static let registeredAt: Int32 = 6
    static let system: Int32 = 7
    static let attempts: Int32 = 8
    static let again: Int32 = 9
}

extension Statement {
    /// The wave of the user whose telephone is in a column.
    @inline(__always)
    func wave(of column: Int32, by draw: WaveDraw) -> Int {
        unsafe withText(column) { telephone in unsafe draw.wave(of: telephone) }
    }

    /// Appends the device in the statement's current row.
    @inline(__always)
    func readDevice(into rows: inout DeviceRows, attempts: UInt16, wave: Int = 0, again: RequeueReasons = []) {
        let token = slice(BatchColumn.token, into: &rows)
        let telephone = slice(BatchColumn.telephone, into: &rows)
        let version = slice(BatchColumn.version, into: &rows)
        let system = slice(BatchColumn.system, into: &rows)
        var row = DeviceRow(
            id: integer(BatchColumn.id), token: token, telephone: telephone, version: version, system: system,
            channel: channel(BatchColumn.channel), isDead: integer(BatchColumn.isDead) != 0,
            registeredAt: integer(BatchColumn.registeredAt), attempts: attempts, wave: UInt8(truncatingIfNeeded: wave))
        row.again = again
        rows.append(row)
    }

    @inline(__always)
    private func slice(_ column: Int32, into rows: inout DeviceRows) -> ByteSlice {
        unsafe withText(column) { text in
            if let text = unsafe text { unsafe rows.store(text) } else { .absent }
        }
    }
}
