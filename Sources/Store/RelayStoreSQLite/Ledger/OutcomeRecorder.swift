// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Registry
import RelayEngine
import RelayStore
import Requirements
import StoreSQL

/// Writes a campaign's batches of outcomes within one transaction: uneventful outcomes as a batch, other new rows many at a
/// time, counts once at the end.
struct OutcomeRecorder {
    private let connection: SQLiteConnection
    private let run: RunTable.Run
    private let rule: LedgerRule
    private let now: Timestamp
    /// Devices of users who were erased while a push to them may have been on its way.
    private let erased: [Int64: MonotonicTime]
    private let insert: Statement
    private let insertMany: Statement
    private let replace: Statement
    private let giveBack: Statement
    private var tally = OutcomeTally()
    private var packer = DeliveryPacker()

    init(
        _ connection: SQLiteConnection, _ run: RunTable.Run, at now: Timestamp, erased: [Int64: MonotonicTime]
    ) throws {
        self.connection = connection
        self.run = run
        rule = LedgerRule(ended: run.ended)
        self.now = now
        self.erased = erased
        insert = try connection.prepared(Self.insertion(rows: 1))
        insertMany = try connection.prepared(Self.insertMany)
        giveBack = try connection.prepared(
            """
            UPDATE delivery SET state = 2, reason = NULL, next_attempt_at = NULL, environment = 0, updated_at = ?2, again = 0
            WHERE campaign_id = ?1 AND device_id = ?3
            """)
        replace = try connection.prepared(
            """
            UPDATE delivery SET state = ?4, attempts = ?5, reason = ?6, next_attempt_at = ?8, environment = ?9,
                updated_at = ?2, again = ?10, telephone = iif(?11, telephone, ?7)
            WHERE campaign_id = ?1 AND device_id = ?3
            """)
    }

    /// Rows that one run of a statement inserts. A run opens and closes the table and its indexes, which costs more than
    /// inserting a row does; beyond some dozens there is nothing left to gain.
    private static let rowsAtOnce = 50
    private static let insertMany = insertion(rows: rowsAtOnce)

    private static func insertion(rows: Int) -> SQL {
        repeatElement(", (?1, ?2, ?, ?, ?, ?, ?, ?, ?)", count: rows - 1).reduce(
            """
            INSERT INTO delivery (campaign_id, updated_at, device_id, state, attempts, reason, telephone, next_attempt_at,
                environment)
            VALUES (?1, ?2, ?, ?, ?, ?, ?, ?, ?)
            """, +)
    }

    mutating func record(_ batch: LedgerCommit) throws {
        guard batch.campaign == run.campaign else {
            throw SQLiteFailure(code: SQLITE_CONSTRAINT, message: "a batch is of another campaign than its run")
        }
        let batch = erased.isEmpty ? batch : try withoutErased(batch)
        try write(batch)
        tally.count(answersIn: batch.rows)
        if let before = batch.shard, let after = batch.advanced { try move(before, to: after) }
        try WaveTable.add(batch.waves, to: batch.campaign, connection)
        try LatencyTable.add(CollectionOfOne(batch), to: batch.campaign, connection)
    }

    private static let retire: SQL = """
        UPDATE device AS d SET retired_at = ?1 WHERE d.id = ?2 AND \(DeadTable.dies(at: "?1", registered: "?3"))
        """

    /// Records what the batch's answers prove about tokens.
    static func recordTokens(of batch: LedgerCommit, at now: Timestamp, _ connection: SQLiteConnection) throws {
        var retired: [Int64] = []
        for retirement in batch.retirements {
            let changed = try connection.run(
                Self.retire, retirement.deadSince, retirement.device, retirement.registeredAt)
            if changed > 0 { retired.append(retirement.device) }
        }
        if let first = retired.first,
            let app = try connection.integer("SELECT app_id FROM device WHERE id = ?", first)
        {
            // A campaign has one app.
            try DeadDevices.place(retired, of: app, at: now, connection)
        }
        for correction in batch.corrections {
            try connection.run(
                "\(DeviceTable.changeEnvironment) AND registered_at = ?3", correction.channel,
                correction.device, correction.registeredAt)
        }
        for doubt in batch.doubts { try TokenDoubtTable.put(doubt, of: batch.campaign, connection) }
    }

    /// Writes the collected counts.
    func finish() throws { try tally.store(of: run.campaign, connection) }

    // MARK: Rows

    /// A telephone was erased while the push was on its way if its device neither has it nor is known to have had it.
    private func withoutErased(_ batch: LedgerCommit) throws -> LedgerCommit {
        var batch = batch
        for index in batch.rows.indices where erased[batch.rows[index].device] != nil {
            let telephone = batch.rows[index].telephone
            guard !telephone.isAbsent else { continue }
            let isKnown = try connection.exists(
                """
                SELECT 1 WHERE EXISTS (SELECT 1 FROM device WHERE id = ?1 AND telephone = ?2)
                    OR EXISTS (SELECT 1 FROM former_telephone WHERE telephone = ?2 AND device_id = ?1)
                """, batch.rows[index].device, batch.devices.string(telephone))
            guard !isKnown else { continue }
            var erased = Delivery.erased
            batch.rows[index].telephone = erased.withUTF8 { text in
                unsafe batch.devices.store(UnsafeRawBufferPointer(text))
            }
        }
        return batch
    }

    private mutating func write(_ batch: LedgerCommit) throws {
        let older = try oldRows(of: batch)
        // Only retries, and devices that two waves or two channels have reached, are recorded already.
        guard !older.isEmpty else { return try insert(batch.rows, of: batch) }
        try insert(batch.rows.filter { older[$0.device] == nil }, of: batch)
        begin([replace, giveBack], of: batch.campaign)
        defer { for statement in [replace, giveBack] { statement.clear() } }
        try unsafe batch.devices.bytes.withUnsafeBytes { arena in
            for row in batch.rows {
                guard let old = older[row.device] else { continue }
                let verdict = rule.judge(row.outcome, over: old, packs: false)
                tally.count(verdict, row.reason, over: old)
                guard case .row(let new) = verdict else {
                    giveBack.bind(3, row.device)
                    try giveBack.run()
                    continue
                }
                unsafe bind(row, as: new, from: 3, to: replace, arena)
                replace.bind(10, Int64(new.again.rawValue))
                replace.bind(11, new.keepsUser ? 1 : 0)
                try replace.run()
            }
        }
    }

    private mutating func insert(_ rows: [LedgerRow], of batch: LedgerCommit) throws {
        let packs = LedgerRule.packs(
            batch.shard?.packs, cursor: batch.cursor, isDone: batch.shardDone, last: rows.last?.device)
        var others: [LedgerRow] = []
        var before = Int64.min
        try unsafe batch.devices.bytes.withUnsafeBytes { arena in
            for index in rows.indices {
                let device = rows[index].device
                guard device > before else {
                    throw SQLiteFailure(
                        code: SQLITE_CONSTRAINT, message: "the devices of a batch do not come in ascending order")
                }
                before = device
                guard case .packed(let outcome) = rule.judge(rows[index].outcome, over: nil, packs: packs) else {
                    others.append(rows[index])
                    continue
                }
                let telephone = rows[index].telephone
                unsafe packer.append(
                    device, outcome,
                    telephone: telephone.isAbsent ? nil : UnsafeRawBufferPointer(rebasing: arena[telephone.range]))
                if packer.count == DeliveryBatch.limit { try insertPacked() }
            }
            try insertPacked()
            unsafe try insert(others, arena)
        }
    }

    private mutating func insertPacked() throws {
        tally.count(packer)
        try DeliveryBatchTable.insert(&packer, of: run.campaign, at: now, connection)
    }

    private mutating func insert(_ rows: [LedgerRow], _ arena: UnsafeRawBufferPointer) throws {
        begin([insert, insertMany], of: run.campaign)
        defer { for statement in [insert, insertMany] { statement.clear() } }
        var rest = rows[...]
        while !rest.isEmpty {
            let isMany = rest.count >= Self.rowsAtOnce
            let statement = isMany ? insertMany : insert
            var index: Int32 = 3
            for row in rest.prefix(isMany ? Self.rowsAtOnce : 1) {
                let verdict = rule.judge(row.outcome, over: nil, packs: false)
                guard case .row(let new) = verdict else { continue }
                unsafe bind(row, as: new, from: index, to: statement, arena)
                tally.count(verdict, row.reason)
                index += 7
            }
            try statement.run()
            rest = rest.dropFirst(isMany ? Self.rowsAtOnce : 1)
        }
    }

    /// Binds the values that all rows of a campaign share.
    private func begin(_ statements: [Statement], of campaign: CampaignKey) {
        for statement in statements {
            statement.bind(1, campaign.row)
            statement.bind(2, now.milliseconds)
        }
    }

    /// Binds a row's own seven values. The arena is borrowed until the statement is cleared or bound anew.
    @inline(__always)
    private func bind(
        _ row: LedgerRow, as new: LedgerRule.Row, from index: Int32, to statement: Statement,
        _ arena: UnsafeRawBufferPointer
    ) {
        let next = new.isScheduled ? row.nextAttemptAt : nil
        statement.bind(index, row.device)
        statement.bind(index + 1, Int64(new.state.rawValue))
        statement.bind(index + 2, Int64(row.attempts))
        statement.bind(index + 3, row.reason)
        unsafe statement.bind(index + 4, row.telephone, of: arena)
        statement.bind(index + 5, next?.milliseconds)
        statement.bind(index + 6, next == nil ? 0 : Int64(row.channel.rawValue))
    }

    /// The recorded outcomes of a batch's devices. One query over the range finds those of a shard's batch, unless the
    /// batch is sparse.
    private func oldRows(of batch: LedgerCommit) throws -> [Int64: RecordedOutcome] {
        guard let first = batch.rows.first?.device, let last = batch.rows.last?.device else { return [:] }
        if batch.shard?.packs == true {
            try DeliveryBatchTable.unpack(from: first, through: last, of: batch.campaign, connection)
        } else if batch.shard == nil || (last - first) / Int64(batch.rows.count) > Self.sparse {
            // For a few sandbox devices among many of production, or for a small wave, the range would hold the rows of
            // all other devices.
            return try batch.rows.reduce(into: [:]) { rows, row in
                rows[row.device] = try oldRow(row.device, batch.campaign, mayBePacked: batch.shard == nil)
            }
        }
        let rows = try connection.all(
            """
            SELECT device_id, \(RecordedOutcome.columns) FROM delivery
            WHERE campaign_id = ? AND device_id BETWEEN ? AND ?
            """, batch.campaign.row, first, last
        ) { ($0.integer(), RecordedOutcome.read(&$0)) }
        return Dictionary(rows, uniquingKeysWith: { _, last in last })
    }

    /// With more ids than this for each device of a batch, looking up each device costs less than reading the range.
    private static let sparse: Int64 = 8

    private func oldRow(_ device: Int64, _ campaign: CampaignKey, mayBePacked: Bool) throws -> RecordedOutcome? {
        let old = try connection.first(
            RecordedOutcome.self, "FROM delivery WHERE campaign_id = ? AND device_id = ?", campaign.row, device)
        // Another owner may have recorded it since the retry was read. A packed batch around the device need not contain it.
        guard old == nil, mayBePacked,
            try DeliveryBatchTable.outcome(of: device, in: campaign.row, connection) != nil
        else { return old }
        try DeliveryBatchTable.unpack(from: device, through: device, of: campaign, connection)
        return try oldRow(device, campaign, mayBePacked: false)
    }

    /// Moves a shard's cursor, and subtracts the devices that it passed from the count of those that the campaign has
    /// not reached yet.
    private mutating func move(_ before: ShardRange, to after: ShardRange) throws {
        let moved = try connection.run(
            "UPDATE shard SET cursor = ?, remaining = ? WHERE campaign_id = ? AND number = ? AND cursor = ?",
            after.cursor, after.remaining, run.campaign.row, before.number, before.cursor)
        guard moved == 1 else {
            throw SQLiteFailure(
                code: SQLITE_CONSTRAINT,
                message: "shard \(before.number) of campaign \(run.campaign.row) is not where its batch begins")
        }
        tally.counts[run.rest ?? .pending] -= before.remaining - after.remaining
    }
}
