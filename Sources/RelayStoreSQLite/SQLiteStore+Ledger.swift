// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

extension SQLiteStore {
    package func readDevices(
        _ app: AppKey, after: Int64, through last: Int64, limit: Int, of slice: WaveSlice?, into rows: inout DeviceRows
    ) throws {
        rows.removeAll()
        try readOnce("reading a batch of devices") { connection in
            guard let app = try AppTable.id(of: app, connection) else { return }
            let statement = try connection.prepared(slice == nil ? LedgerSQL.readDevices : LedgerSQL.readWave)
            defer { statement.reset() }
            statement.bind(1, after)
            statement.bind(2, last)
            statement.bind(3, app)
            // Of one wave, the range is read until enough of its devices were met.
            statement.bind(4, slice == nil ? Int64(max(limit, 0)) : -1)
            guard let slice else {
                while try statement.step() { statement.readDevice(into: &rows, attempts: 0) }
                return
            }
            while try rows.count < limit && statement.step() {
                guard slice.draw.wave(of: UInt64(bitPattern: statement.integer(7))) == slice.number else { continue }
                statement.readDevice(into: &rows, attempts: 0, wave: slice.number)
            }
        }
    }

    package func readDueRetries(
        _ campaign: CampaignKey, at now: Timestamp, limit: Int, waves: WaveDraw?, into rows: inout DeviceRows
    ) throws {
        rows.removeAll()
        try readOnce("reading due retries") { connection in
            let statement = try connection.prepared(LedgerSQL.readDueRetries)
            defer { statement.reset() }
            statement.bind(1, campaign.row)
            statement.bind(2, now.milliseconds)
            statement.bind(3, Int64(max(limit, 0)))
            while try statement.step() {
                let wave =
                    statement.isNull(8)
                    ? Int(UInt8.max) : waves?.wave(of: UInt64(bitPattern: statement.integer(8))) ?? 0
                statement.readDevice(into: &rows, attempts: UInt16(clamping: statement.integer(7)), wave: wave)
            }
        }
    }

    package func nextRetry(_ campaign: CampaignKey) throws -> Timestamp? {
        try readOnce("looking for the next retry") { connection in
            try connection.first(
                "SELECT min(next_attempt_at) FROM delivery INDEXED BY delivery_retry WHERE campaign_id = ? AND state = 3",
                .integer(campaign.row)
            ) { $0.optionalTime(0) } ?? nil
        }
    }

    package func commit(_ batches: [LedgerCommit], at now: Timestamp) throws {
        try write("recording outcomes") { connection in
            var recorder = try OutcomeRecorder(connection, at: now)
            for batch in batches { try recorder.record(batch) }
            try recorder.finish()
        }
    }

    package func goneDevices(of batch: LedgerCommit) throws -> Set<Int64> {
        try read("looking for devices that are gone") { connection in
            var gone: Set<Int64> = []
            for row in batch.rows {
                let isThere = try connection.first(
                    """
                    SELECT 1 WHERE EXISTS (SELECT 1 FROM device WHERE id = ?1)
                        OR EXISTS (SELECT 1 FROM delivery WHERE campaign_id = ?2 AND device_id = ?1)
                    """, .integer(row.device), .integer(batch.campaign.row)
                ) { _ in true }
                if isThere == nil { gone.insert(row.device) }
            }
            return gone
        }
    }
}

/// The ledger's statements whose plans matter; a test looks at them with EXPLAIN QUERY PLAN.
package enum LedgerSQL {
    /// "NOT INDEXED … the INTEGER PRIMARY KEY can still be used to look up entries" (sqlite.org/lang_indexedby.html):
    /// the rowid range alone, which reads the table's pages in order.
    package static let readDevices: SQL = "SELECT \(deviceColumns) \(deviceRange)"

    /// The same with what a device's wave is drawn from: a column more for each row that is read.
    package static let readWave: SQL = "SELECT \(deviceColumns), token_hash \(deviceRange)"

    private static let deviceColumns: SQL = """
        id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at
        """

    private static let deviceRange: SQL = """
        FROM device NOT INDEXED WHERE id > ? AND id <= ? AND app_id = ? AND removed_at IS NULL ORDER BY id LIMIT ?
        """

    /// Takes the longest due first, from the index; sorting only what was taken. LEFT: a row whose device has gone would stay
    /// due for ever.
    package static let readDueRetries: SQL = """
        SELECT r.device_id, d.token, d.telephone, d.version, d.environment, d.retired_at IS NOT NULL, d.registered_at,
            r.attempts, d.token_hash
        FROM (SELECT device_id, attempts FROM delivery INDEXED BY delivery_retry
              WHERE campaign_id = ? AND state = 3 AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT ?) AS r
            LEFT JOIN device AS d ON d.id = r.device_id
        ORDER BY r.device_id
        """
}

extension Statement {
    /// Appends the device that the statement stands on: id, token, telephone, version, environment, dead, registered.
    @inline(__always)
    fileprivate func readDevice(into rows: inout DeviceRows, attempts: UInt16, wave: Int = 0) {
        let token = slice(1, into: &rows)
        let telephone = slice(2, into: &rows)
        let version = slice(3, into: &rows)
        rows.append(
            DeviceRow(
                id: integer(0), token: token, telephone: telephone, version: version,
                environment: integer(4) == 0 ? .production : .sandbox, isDead: integer(5) != 0,
                registeredAt: integer(6), attempts: attempts, wave: UInt8(truncatingIfNeeded: wave)))
    }

    @inline(__always)
    private func slice(_ column: Int32, into rows: inout DeviceRows) -> ByteSlice {
        unsafe withText(column) { text in
            if let text = unsafe text { unsafe rows.store(text) } else { .absent }
        }
    }
}
