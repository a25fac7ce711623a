// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import StoreSQL

/// Writes a campaign's batches of outcomes within one transaction, each kind of row by one statement for all of them:
/// uneventful outcomes as packed batches, the others as rows, counts once at the end.
///
/// The run's row is locked, so that no other relay writes outcomes of the campaign at the same time.
struct CommitWriter {
    private let session: PostgresSession
    private let run: RunTable.Run
    private let rule: LedgerRule
    private let now: Timestamp
    /// Devices of users who were erased while a push to them may have been on its way.
    private let erased: Set<Int64>
    private var tally = OutcomeTally()

    /// A row to write.
    private struct NewRow {
        var device: Int64
        var new: LedgerRule.Row
        var attempts: Int64
        var reason: String?
        /// In the arena of the batch at place `batch`.
        var telephone: ByteSlice
        var batch: Int
        var isErased = false
        var next: Timestamp?
        var channel: Channel
    }

    /// The outcomes that a step writes.
    private struct Outcomes {
        var packed: [DeliveryPacker] = []
        var rows: [NewRow] = []
        /// Rows that keep naming their users.
        var reminders: [NewRow] = []
        var givenBack: [Int64] = []
    }

    init(_ session: PostgresSession, _ run: RunTable.Run, of batches: [LedgerCommit], at now: Timestamp) throws {
        (self.session, self.run, self.now) = (session, run, now)
        rule = LedgerRule(ended: run.ended)
        erased = try Self.erased(of: batches, session)
    }

    // MARK: Tokens

    /// Records what the answers prove about tokens.
    ///
    /// - Returns: the retired devices, by app. The caller must give them their places (`DeadDevices`) at the end of the
    ///   transaction.
    static func recordTokens(of batches: [LedgerCommit], _ session: PostgresSession) throws -> [Int64: [Int64]] {
        let retirements = batches.flatMap(\.retirements)
        var retired: [Int64: [Int64]] = [:]
        if !retirements.isEmpty {
            let found = try session.run(retire) { values in
                values.add(retirements.map(\.device))
                values.add(retirements.map(\.deadSince.milliseconds))
                values.add(retirements.map(\.registeredAt.milliseconds))
            }
            found.each { retired[$0.integer(), default: []].append($0.integer()) }
        }
        let corrections = batches.flatMap(\.corrections)
        if !corrections.isEmpty {
            try session.run(correct) { values in
                values.add(corrections.map(\.device))
                values.add(corrections.map { Int64($0.channel.rawValue) })
                values.add(corrections.map(\.registeredAt.milliseconds))
            }
        }
        for batch in batches {
            for doubt in batch.doubts { try TokenDoubtTable.put(doubt, of: batch.campaign, session) }
        }
        return retired
    }

    private static func erased(of batches: [LedgerCommit], _ session: PostgresSession) throws -> Set<Int64> {
        // Usually no device was erased.
        guard try !session.run(anyErased, { _ in }).isEmpty else { return [] }
        let pushed = batches.flatMap { batch in
            batch.rows.filter { !$0.telephone.isAbsent }.map { ($0.device, batch.devices.string($0.telephone)) }
        }
        let found = try session.run(isErased) { values in
            values.add(pushed.map(\.0))
            values.add(pushed.map { Optional($0.1) })
        }
        return Set(found.all { $0.integer() })
    }

    // MARK: Batches

    mutating func record(_ batches: [LedgerCommit]) throws {
        for batch in batches where batch.campaign != run.campaign {
            throw PostgresFailure(.refused("23514"), "a batch is of another campaign than its run")
        }
        // Writes all at once, unless two batches may have the same device: then the later one must see what the earlier has written.
        var last = Int64.min
        let areApart = batches.sorted { $0.first < $1.first }.allSatisfy { batch in
            defer { last = max(last, batch.last) }
            return batch.first > last
        }
        if areApart { try write(batches) } else { for batch in batches { try write([batch]) } }
        for batch in batches { tally.count(answersIn: batch.rows) }
        try moveShards(of: batches)
        for batch in batches { try WaveTable.add(batch.waves, to: run.campaign, session) }
        try LatencyTable.add(batches, to: run.campaign, session)
    }

    private mutating func write(_ batches: [LedgerCommit]) throws {
        let older = try oldRows(of: batches)
        var outcomes = Outcomes()
        for (place, batch) in batches.enumerated() { try sort(batch, at: place, older, into: &outcomes) }
        if !outcomes.packed.isEmpty { try insert(outcomes.packed) }
        if !outcomes.rows.isEmpty { try write(outcomes.rows, Self.writeRows, of: batches) }
        if !outcomes.reminders.isEmpty { try write(outcomes.reminders, Self.writeReminders, of: batches) }
        if !outcomes.givenBack.isEmpty {
            try session.run(Self.giveBack) { values in
                values.add(run.campaign.row)
                values.add(now.milliseconds)
                values.add(outcomes.givenBack)
            }
        }
    }

    /// Decides how each outcome of a batch is kept, and counts it.
    private mutating func sort(
        _ batch: LedgerCommit, at place: Int, _ older: [Int64: RecordedOutcome], into outcomes: inout Outcomes
    ) throws {
        let packs = batch.packs
        var packer = DeliveryPacker()
        var before = Int64.min
        for row in batch.rows {
            guard row.device > before else {
                throw PostgresFailure(.refused("23514"), "the devices of a batch do not come in ascending order")
            }
            before = row.device
            let old = older.isEmpty ? nil : older[row.device]
            let verdict = rule.judge(row.outcome, over: old, packs: packs)
            tally.count(verdict, row.reason, over: old)
            switch verdict {
            case .packed(let outcome):
                append(row, outcome, of: batch, to: &packer)
                if packer.count == DeliveryBatch.limit { take(&packer, into: &outcomes) }
            case .givenBack: outcomes.givenBack.append(row.device)
            case .row(let new):
                let written = NewRow(
                    device: row.device, new: new, attempts: Int64(row.attempts), reason: row.reason,
                    telephone: row.telephone, batch: place, isErased: erased.contains(row.device),
                    next: new.isScheduled ? row.nextAttemptAt : nil,
                    channel: new.isScheduled ? row.channel : .production)
                if new.keepsUser { outcomes.reminders.append(written) } else { outcomes.rows.append(written) }
            }
        }
        take(&packer, into: &outcomes)
    }

    private func append(
        _ row: LedgerRow, _ outcome: PlainOutcome, of batch: LedgerCommit, to packer: inout DeliveryPacker
    ) {
        guard erased.isEmpty || !erased.contains(row.device) else {
            var text = Delivery.erased
            text.withUTF8 { unsafe packer.append(row.device, outcome, telephone: UnsafeRawBufferPointer($0)) }
            return
        }
        unsafe batch.devices.bytes.withUnsafeBytes { arena in
            unsafe packer.append(
                row.device, outcome,
                telephone: row.telephone.isAbsent
                    ? nil : UnsafeRawBufferPointer(rebasing: arena[row.telephone.range]))
        }
    }

    private mutating func take(_ packer: inout DeliveryPacker, into outcomes: inout Outcomes) {
        guard packer.count > 0 else { return }
        tally.count(packer)
        outcomes.packed.append(packer)
        packer = DeliveryPacker()
    }

    // MARK: Recorded outcomes

    /// With more ids than this for each device of a batch, looking up each device costs less than reading the range.
    private static let sparse: Int64 = 8

    private func oldRows(of batches: [LedgerCommit]) throws -> [Int64: RecordedOutcome] {
        let batches = batches.filter { !$0.rows.isEmpty }
        let packing = batches.filter { $0.shard?.packs == true }
        // Ranges are read only for these: for a few sandbox devices among many of production, or for a small wave, a
        // range would hold the rows of all other devices.
        let dense = batches.filter {
            $0.shard != nil && ($0.shard?.packs == true || ($0.last - $0.first) / Int64($0.rows.count) <= Self.sparse)
        }
        if !packing.isEmpty { try unpack(packing.map { ($0.first, $0.last) }) }
        let retries = batches.filter { $0.shard == nil }.flatMap { $0.rows.map(\.device) }
        // Another owner may have recorded it since the retry was read. A packed batch around the device need not contain it.
        if !retries.isEmpty { try unpackDevices(retries) }
        var older: [Int64: RecordedOutcome] = [:]
        if !dense.isEmpty {
            try add(to: &older, Self.rowsBetween) { values in
                values.add(dense.map(\.first))
                values.add(dense.map(\.last))
            }
        }
        let single =
            retries
            + batches.filter { batch in
                batch.shard.map { !$0.packs } ?? false
                    && (batch.last - batch.first) / Int64(batch.rows.count) > Self.sparse
            }.flatMap { $0.rows.map(\.device) }
        if !single.isEmpty { try add(to: &older, Self.rowsOf) { $0.add(single) } }
        return older
    }

    private func add(
        to older: inout [Int64: RecordedOutcome], _ statement: PostgresStatement,
        _ fill: (inout PostgresParameters) -> Void
    ) throws {
        let found = try session.run(statement) { values in
            values.add(run.campaign.row)
            fill(&values)
        }
        found.each { older[$0.integer()] = RecordedOutcome.read(&$0) }
    }

    private func unpack(_ ranges: [(first: Int64, last: Int64)]) throws {
        let found = try session.run(Self.overlaps) { values in
            values.add(run.campaign.row)
            values.add(ranges.map(\.first))
            values.add(ranges.map(\.last))
        }
        try found.each {
            try DeliveryBatchTable.unpack(from: $0.integer(), through: $0.integer(), of: run.campaign, session)
        }
    }

    private func unpackDevices(_ devices: [Int64]) throws {
        let found = try session.run(Self.overlaps) { values in
            values.add(run.campaign.row)
            values.add(devices)
            values.add(devices)
        }
        let packed = found.all { row in
            // Each range is one device.
            row.skip()
            return row.integer()
        }
        for device in packed {
            guard try DeliveryBatchTable.outcome(of: device, in: run.campaign.row, session) != nil else { continue }
            try DeliveryBatchTable.unpack(from: device, through: device, of: run.campaign, session)
        }
    }

    // MARK: Writing

    private func insert(_ packed: [DeliveryPacker]) throws {
        try session.run(Self.insertPacked) { values in
            values.add(run.campaign.row)
            values.add(now.milliseconds)
            values.add(packed.map(\.last))
            values.add(packed.map(\.first))
            values.add(packed.map(\.accepted))
            values.add(packed.map(\.filtered))
            values.add(packed.map { Optional($0.outcomes) })
            values.add(packed.map { Optional($0.telephones) })
        }
    }

    private func write(_ rows: [NewRow], _ statement: PostgresStatement, of batches: [LedgerCommit]) throws {
        try session.run(statement) { values in
            values.add(run.campaign.row)
            values.add(now.milliseconds)
            values.add(rows.lazy.map(\.device))
            values.add(rows.lazy.map { Int64($0.new.state.rawValue) })
            values.add(rows.lazy.map(\.attempts))
            values.add(rows.lazy.map(\.next?.milliseconds))
            values.add(rows.lazy.map { Int64($0.channel.rawValue) })
            values.add(rows.lazy.map { Int64($0.new.again.rawValue) })
            values.add(rows.lazy.map(\.reason))
            values.array(.text, count: rows.count) { fields in
                for row in rows {
                    if row.telephone.isAbsent {
                        fields.null()
                    } else if row.isErased {
                        fields.add(ErasedTelephone.text)
                    } else {
                        fields.add(batches[row.batch].devices.bytes[row.telephone.range])
                    }
                }
            }
        }
    }

    /// Moves the cursors, and subtracts the devices that they passed from the count of those that the campaign has not
    /// reached yet.
    private mutating func moveShards(of batches: [LedgerCommit]) throws {
        var moves: [Int: (before: ShardRange, after: ShardRange)] = [:]
        for batch in batches {
            guard let before = batch.shard, let after = batch.advanced else { continue }
            tally.counts[run.rest ?? .pending] -= before.remaining - after.remaining
            guard let earlier = moves[before.number] else {
                moves[before.number] = (before, after)
                continue
            }
            guard earlier.after.cursor == before.cursor else { throw Self.elsewhere(before, run) }
            moves[before.number] = (earlier.before, after)
        }
        guard !moves.isEmpty else { return }
        let sorted = moves.values.sorted { $0.before.number < $1.before.number }
        let moved = try session.run(Self.moveShards) { values in
            values.add(run.campaign.row)
            values.add(sorted.map { Int64($0.before.number) })
            values.add(sorted.map(\.before.cursor))
            values.add(sorted.map(\.after.cursor))
            values.add(sorted.map(\.after.remaining))
        }
        if moved.affected != sorted.count { throw Self.elsewhere(sorted[0].before, run) }
    }

    private static func elsewhere(_ shard: ShardRange, _ run: RunTable.Run) -> PostgresFailure {
        PostgresFailure(
            .refused("23514"),
            "shard \(shard.number) of campaign \(run.campaign.row), or one beside it, is not where its batch begins")
    }

    /// Writes the collected counts.
    func finish() throws { try tally.store(of: run.campaign, session) }
}

extension LedgerCommit {
    /// The first device of its rows, which ascend.
    fileprivate var first: Int64 { rows.first?.device ?? .max }
    fileprivate var last: Int64 { rows.last?.device ?? .min }
}
