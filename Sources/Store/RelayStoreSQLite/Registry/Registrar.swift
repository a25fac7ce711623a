// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
package import Requirements
import StoreSQL
import UpgradeRules

/// Registers devices one after another within one transaction: at most two statements a device, and one where nothing changes; no
/// allocation for its texts.
package struct Registrar: DeviceRegistrar {
    private let connection: SQLiteConnection
    private let rule: DeviceRule
    private let find: Statement
    private let insert: Statement
    private let refresh: Statement
    private let replace: Statement
    /// Statements that each change one text, one of those that `refresh` and `replace` leave alone.
    private let others: [(field: DeviceField, change: Statement)]
    private var counts = UpsertCounts()
    private var apps: [AppKey: Int64] = [:]
    private var lastApp: (key: AppKey, id: Int64)?
    private var upgrades = UpgradeMarks()
    private var tally = RegistryTally()
    /// Devices of each app whose tokens this transaction found dead, in the order in which they came.
    private var retired: [Int64: [Int64]] = [:]

    /// Columns of `find`, in its order.
    private enum Column {
        static let id: Int32 = 0
        static let removed: Int32 = 1
        static let channel: Int32 = 2
        static let registered: Int32 = 3
        static let retired: Int32 = 4
        static let seen: Int32 = 5
        /// The first text's column; the others follow in the order of `DeviceField.texts`.
        static let texts: Int32 = 6
        static let telephone = text(.telephone)
        static let version = text(.version)

        static func text(_ field: DeviceField) -> Int32 { texts + Int32(field.slot) }

        // A run has these, too.
        static let hash = texts + Int32(DeviceField.texts.count)
        static let app = hash + 1
        static let token = hash + 2
    }

    private static let columns: SQL = """
        id, removed_at, environment, registered_at, retired_at, seen_at, \(DeviceField.texts.map(\.sql))
        """
    /// The devices of a run: those behind an id, and those before one, from it on.
    private static let behind: SQL = "\(run) WHERE id > ?1 ORDER BY id"
    private static let before: SQL = "\(run) WHERE id < ?1 ORDER BY id DESC"
    private static let run: SQL = "SELECT \(columns), token_hash, app_id, token FROM device"

    init(_ connection: SQLiteConnection, at now: Timestamp, from source: RegistrationSource) throws {
        self.connection = connection
        rule = DeviceRule(source, at: now)
        find = try connection.prepared("SELECT \(Self.columns) FROM device \(DeviceTable.isToken)")
        insert = try connection.prepared(
            """
            INSERT INTO device (app_id, token, environment, registered_at, token_hash, retired_at, seen_at,
                \(DeviceField.texts.map(\.sql)))
            VALUES (?, ?, ?, ?, ?, ?, ?, \(DeviceField.texts.map { _ in "?" }))
            """)
        // Does not name an indexed column: SQLite would delete and insert the index's entry even for an equal value.
        refresh = try connection.prepared(
            """
            UPDATE device SET version = iif(?4, version, ?1), registered_at = ?2, retired_at = ?5, seen_at = ?6 WHERE id = ?3
            """)
        replace = try connection.prepared(
            """
            UPDATE device SET version = iif(?4, version, ?1), registered_at = ?2, retired_at = ?5, seen_at = ?6,
                telephone = ?7, removed_at = NULL
            WHERE id = ?3
            """)
        others = try DeviceField.texts.filter { $0 != .telephone && $0 != .version }.map { field in
            (field, try connection.prepared("UPDATE device SET \(field.sql) = ?1 WHERE id = ?2"))
        }
    }

    /// The app is not used here: each batch names its own.
    package init(
        _ connection: SQLiteConnection, _ app: AppKey, at now: Timestamp, from source: RegistrationSource
    ) throws {
        try self.init(connection, at: now, from: source)
    }

    package mutating func register(_ batch: RegistrationBatch) throws {
        var walk = ImportWalk(rowByRow: DeviceTable.keys(of: batch))
        try register(batch, &walk, untilWork: .max)
    }

    /// The work done so far, in written devices. An unchanged device costs only a look-up: 2 µs instead of 10.
    var work: Int { counts.inserted + counts.updated + counts.unchanged / 4 + upgrades.work }

    /// Registers rows of a batch until all are done, or `work` has reached `limit`. The batch's bytes are borrowed once
    /// for all rows.
    mutating func register(_ batch: RegistrationBatch, _ walk: inout ImportWalk, untilWork limit: Int) throws {
        let app = try appID(batch.app)
        defer { clear() }
        let bytes = batch.bytes
        try unsafe bytes.withUnsafeBytes { bytes in
            while work < limit, let row = walk.anchor {
                if walk.run == nil {
                    walk.found(unsafe try id(of: batch.rows[row], app: app, of: bytes))
                }
                unsafe try scan(batch.rows, &walk, app: app, of: bytes, untilWork: limit)
            }
            while work < limit, let keyed = walk.next() {
                unsafe try register(batch.rows[Int(keyed.row)], hash: keyed.hash, app: app, of: bytes)
            }
        }
    }

    /// The device of a row, if it is known.
    @unsafe private func id(
        of row: RegistrationBatch.Row, app: Int64, of bytes: UnsafeRawBufferPointer
    ) throws -> Int64? {
        unsafe bindKey(of: row, hash: DeviceTable.hash(of: row, of: bytes), app: app, of: bytes)
        defer { find.reset() }
        return try find.step() ? find.integer(Column.id) : nil
    }

    /// Registers the rows whose devices it meets on the walk's run.
    @unsafe private mutating func scan(
        _ rows: [RegistrationBatch.Row], _ walk: inout ImportWalk, app: Int64, of bytes: UnsafeRawBufferPointer,
        untilWork limit: Int
    ) throws {
        guard let run = walk.run else { return }
        let scan = try connection.prepared(run.isBack ? Self.before : Self.behind)
        scan.bind(1, run.from)
        defer { scan.reset() }
        while work < limit, walk.run?.isBack == run.isBack {
            guard try scan.step() else { return walk.endRun() }
            let device = scan.integer(Column.id)
            if let place = walk.place(of: scan.integer(Column.hash)), scan.integer(Column.app) == app,
                unsafe scan.equals(Column.token, rows[walk.row(at: place)].token, of: bytes)
            {
                unsafe try update(rows[walk.row(at: place)], in: scan, app: app, of: bytes)
                walk.met(device, at: place)
            } else {
                walk.passed(device)
            }
        }
    }

    @unsafe private func bindKey(
        of row: RegistrationBatch.Row, hash: Int64, app: Int64, of bytes: UnsafeRawBufferPointer
    ) {
        find.bind(1, app)
        unsafe find.bind(2, row.token, of: bytes)
        find.bind(3, hash)
    }

    /// Leaves texts bound that are borrowed from `bytes`: `clear()` must follow before `bytes` goes.
    @unsafe private mutating func register(
        _ row: RegistrationBatch.Row, hash: Int64, app: Int64, of bytes: UnsafeRawBufferPointer
    ) throws {
        unsafe bindKey(of: row, hash: hash, app: app, of: bytes)
        defer { find.reset() }
        guard try find.step() else {
            insert.bind(1, app)
            unsafe insert.bind(2, row.token, of: bytes)
            insert.bind(3, Int64(row.channel.rawValue))
            let life = rule.begin(row.observation)
            insert.bind(4, life.registered.milliseconds)
            insert.bind(5, hash)
            insert.bind(6, life.dead?.milliseconds)
            insert.bind(7, life.seen?.milliseconds)
            for slot in row.texts.slots { unsafe insert.bind(8 + Int32(slot), row.texts.value(at: slot), of: bytes) }
            try insert.run()
            counts.inserted += 1
            tally.gained(1, app: app)
            unsafe tally.came(row.texts[.version], of: bytes, app: app)
            if life.dead != nil { retired[app, default: []].append(connection.lastInsertedRow) }
            return
        }
        unsafe try update(row, in: find, app: app, of: bytes)
    }

    /// Judges the device in a statement's current row, and writes what a row of the batch changes.
    @unsafe private mutating func update(
        _ row: RegistrationBatch.Row, in found: Statement, app: Int64, of bytes: UnsafeRawBufferPointer
    ) throws {
        let known = unsafe Self.known(found, row, of: bytes)
        let verdict = rule.judge(row.observation, known) { field in
            unsafe Self.isOlder(row.texts[field], of: bytes, than: found.version(Column.text(field)))
        }
        if case .update(let update) = verdict { unsafe try write(update, of: row, bytes, in: found, app: app) }
        counts.count(verdict)
    }

    /// The device in a statement's current row, compared with a row of the batch.
    private static func known(
        _ find: Statement, _ row: RegistrationBatch.Row, of bytes: UnsafeRawBufferPointer
    ) -> DeviceRule.Known {
        let life = DeviceLife(
            registered: find.time(Column.registered), dead: find.optionalTime(Column.retired),
            seen: find.optionalTime(Column.seen),
            wasRemoved: !find.isNull(Column.removed))
        var differing = DeviceFieldSet.texts { slot in
            unsafe !find.equals(Column.texts + Int32(slot), row.texts.value(at: slot), of: bytes)
        }
        if find.integer(Column.channel) != Int64(row.channel.rawValue) { differing.insert(.environment) }
        // Read only where absent texts may decide.
        let absent: DeviceFieldSet =
            differing.isDisjoint(with: .reported) ? [] : .texts { find.isNull(Column.texts + Int32($0)) }
        return DeviceRule.Known(life, differing: differing, absent: absent)
    }

    private mutating func write(
        _ update: DeviceRule.Update, of row: RegistrationBatch.Row, _ bytes: UnsafeRawBufferPointer,
        in find: Statement, app: Int64
    ) throws {
        let (id, writes, life) = (find.integer(Column.id), update.writes, update.life)
        if update.isHandedOver, let former = find.optionalText(Column.telephone) {
            try DeviceTable.remember(former, of: id, app, connection)
        }
        if update.mayUpgrade, let version = unsafe Self.version(row.texts[.version], of: bytes) {
            try upgrades.saw(version, after: find.version(Column.version), device: id, app: app, connection)
        }
        if update.leavesVersion { tally.left(find.optionalText(Column.version), app: app) }
        if update.joinsVersion {
            if writes.contains(.version) {
                unsafe tally.came(row.texts[.version], of: bytes, app: app)
            } else {
                tally.came(find.optionalText(Column.version), app: app)
            }
        }
        if update.isBack { tally.gained(1, app: app) }
        let statement = writes.contains(.telephone) ? replace : refresh
        unsafe statement.bind(1, row.texts[.version], of: bytes)
        statement.bind(2, life.registered.milliseconds)
        statement.bind(3, id)
        statement.bind(4, writes.contains(.version) ? 0 : 1)
        statement.bind(5, life.dead?.milliseconds)
        statement.bind(6, life.seen?.milliseconds)
        if writes.contains(.telephone) { unsafe statement.bind(7, row.texts[.telephone], of: bytes) }
        try statement.run()
        for (field, change) in others where writes.contains(field) {
            unsafe change.bind(1, row.texts[field], of: bytes)
            change.bind(2, id)
            try change.run()
        }
        if writes.contains(.environment) { try connection.run(DeviceTable.changeEnvironment, row.channel, id) }
        switch update.death {
        case .same: break
        case .began: retired[app, default: []].append(id)
        case .ended: try DeadDevices.forget(id, connection)
        }
    }

    /// Whether a row's version is older than the device's.
    private static func isOlder(_ slice: ByteSlice, of bytes: UnsafeRawBufferPointer, than known: Version?) -> Bool {
        guard let reported = unsafe version(slice, of: bytes), let known else { return false }
        return reported < known
    }

    private static func version(_ slice: ByteSlice, of bytes: UnsafeRawBufferPointer) -> Version? {
        guard !slice.isAbsent else { return nil }
        return unsafe try? Version(String(decoding: bytes[slice.range], as: UTF8.self))
    }

    private func clear() {
        find.clear()
        insert.clear()
        refresh.clear()
        replace.clear()
        for other in others { other.change.clear() }
    }

    /// Writes the collected counts.
    package mutating func finish() throws -> UpsertCounts {
        try upgrades.store(connection)
        try tally.store(connection)
        for (app, devices) in retired.sorted(by: { $0.key < $1.key }) {
            try DeadDevices.place(devices, of: app, at: rule.now, connection)
        }
        return counts
    }

    private mutating func appID(_ app: AppKey) throws -> Int64 {
        if let lastApp, lastApp.key == app { return lastApp.id }
        let id = try apps[app] ?? AppTable.idMade(for: app, connection)
        apps[app] = id
        lastApp = (app, id)
        return id
    }
}
