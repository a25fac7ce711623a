// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
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
    /// Statements that change one text each, which neither `refresh` nor `replace` changes.
    private let others: [(field: DeviceField, change: Statement)]
    private var counts = UpsertCounts()
    private var apps: [AppKey: Int64] = [:]
    private var lastApp: (key: AppKey, id: Int64)?
    private var upgrades = UpgradeTally()
    private var tally = RegistryTally()
    /// Devices of each app whose tokens this transaction found dead, in the order in which they came.
    private var retired: [Int64: [Int64]] = [:]

    /// Columns of `find`, in its order.
    private enum Column {
        static let id: Int32 = 0
        static let removed: Int32 = 1
        static let environment: Int32 = 2
        static let registered: Int32 = 3
        static let retired: Int32 = 4
        static let seen: Int32 = 5
        /// The first text's column; the others follow in the order of `DeviceField.texts`.
        static let texts: Int32 = 6
        static let telephone = text(.telephone)
        static let version = text(.version)

        static func text(_ field: DeviceField) -> Int32 { texts + Int32(field.slot) }
    }

    init(_ connection: SQLiteConnection, at now: Timestamp, from source: RegistrationSource) throws {
        self.connection = connection
        rule = DeviceRule(source, at: now)
        find = try connection.prepared(
            """
            SELECT id, removed_at, environment, registered_at, retired_at, seen_at, \(DeviceField.texts.map(\.sql))
            FROM device
            \(DeviceTable.isToken)
            """)
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
        _ = try register(batch, DeviceTable.keys(of: batch)[...], untilWork: .max)
    }

    /// The work done so far, in devices that are written. An unchanged device costs a look: 2 µs of 10.
    var work: Int { counts.inserted + counts.updated + counts.unchanged / 4 + upgrades.work }

    /// Registers rows of a batch until all are done, or `work` has come to `limit`. Their bytes are borrowed once for all of them.
    ///
    /// - Returns: the place in `order` to go on from.
    mutating func register(
        _ batch: RegistrationBatch, _ order: ArraySlice<DeviceTable.Keyed>, untilWork limit: Int
    ) throws -> Int {
        let app = try appID(batch.app)
        defer { clear() }
        let bytes = batch.bytes
        return try unsafe bytes.withUnsafeBytes { bytes in
            for (place, keyed) in zip(order.indices, order) {
                guard work < limit else { return place }
                try unsafe register(batch.rows[Int(keyed.row)], hash: keyed.hash, app: app, of: bytes)
            }
            return order.endIndex
        }
    }

    /// Leaves texts bound that are borrowed from `bytes`: `clear()` must follow before `bytes` goes.
    @unsafe private mutating func register(
        _ row: RegistrationBatch.Row, hash: Int64, app: Int64, of bytes: UnsafeRawBufferPointer
    ) throws {
        find.bind(1, app)
        unsafe find.bind(2, row.token, of: bytes)
        find.bind(3, hash)
        defer { find.reset() }
        guard try find.step() else {
            insert.bind(1, app)
            unsafe insert.bind(2, row.token, of: bytes)
            insert.bind(3, Int64(row.environment.rawValue))
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
        let id = find.integer(Column.id)
        let known = unsafe known(row, of: bytes)
        let verdict = rule.judge(row.observation, known) { field in
            unsafe isOlder(row.texts[field], of: bytes, than: Column.text(field))
        }
        switch verdict {
        case .unchanged(let isVersionKept):
            counts.unchanged += 1
            if isVersionKept { counts.versionsKept += 1 }
        case .update(let update):
            unsafe try write(update, of: row, bytes, id: id, app: app)
        }
    }

    /// The device that `find` stands on, compared with a row.
    private func known(_ row: RegistrationBatch.Row, of bytes: UnsafeRawBufferPointer) -> DeviceRule.Known {
        let life = DeviceLife(
            registered: find.time(Column.registered), dead: find.optionalTime(Column.retired),
            seen: find.optionalTime(Column.seen),
            wasRemoved: !find.isNull(Column.removed))
        var differing = DeviceFieldSet.texts { slot in
            unsafe !find.equals(Column.texts + Int32(slot), row.texts.value(at: slot), of: bytes)
        }
        if find.integer(Column.environment) != Int64(row.environment.rawValue) { differing.insert(.environment) }
        // Read only where it may decide.
        let absent: DeviceFieldSet =
            differing.isDisjoint(with: .reported) ? [] : .texts { find.isNull(Column.texts + Int32($0)) }
        return DeviceRule.Known(life, differing: differing, absent: absent)
    }

    private mutating func write(
        _ update: DeviceRule.Update, of row: RegistrationBatch.Row, _ bytes: UnsafeRawBufferPointer, id: Int64,
        app: Int64
    ) throws {
        let (writes, life) = (update.writes, update.life)
        if update.isHandedOver, let former = find.optionalText(Column.telephone) {
            try DeviceTable.remember(former, of: id, app, connection)
        }
        if writes.contains(.version), let version = unsafe Self.version(row.texts[.version], of: bytes) {
            try upgrades.saw(version, after: find.version(Column.version), device: id, app: app, connection)
        }
        if !update.isBack, writes.contains(.version) { tally.left(find.version(Column.version), app: app) }
        if writes.contains(.version) {
            unsafe tally.came(row.texts[.version], of: bytes, app: app)
        } else if update.isBack {
            tally.came(find.version(Column.version), app: app)
        }
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
        if writes.contains(.environment) { try connection.run(DeviceTable.changeEnvironment, row.environment, id) }
        switch update.death {
        case .same: break
        case .began: retired[app, default: []].append(id)
        case .ended: try DeadDevices.forget(id, connection)
        }
        counts.updated += 1
        if update.isVersionKept { counts.versionsKept += 1 }
        if update.isBack { tally.gained(1, app: app) }
    }

    /// Whether the row's version is older than the one in a column of the device that `find` stands on.
    private func isOlder(_ slice: ByteSlice, of bytes: UnsafeRawBufferPointer, than column: Int32) -> Bool {
        guard let told = unsafe Self.version(slice, of: bytes), let known = find.version(column) else { return false }
        return told < known
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

/// Devices that have reached a campaign's requirement since the campaign listed them.
struct UpgradeTally: UpgradeTallying {
    private var requirements: [Int64: [Requirement]] = [:]
    /// Whether the transaction also notifies devices at login, which the campaigns' counts show only at its end.
    private let tells: Bool
    private var upgraded: [Int64: Upgraded] = [:]
    /// The work done so far, in the cost of registering a device.
    private(set) var work = 0

    /// The requirement of one campaign of the app.
    private struct Requirement {
        var campaign: Int64
        var target: UpgradeTarget
        /// Whether any device was notified at login: if not, none is looked for.
        var hasTold: Bool
    }

    /// The devices of a campaign, and how they had been reached.
    private struct Upgraded {
        var devices: Int64 = 0
        var reach = CampaignReach()

        mutating func add(_ heard: Heard) {
            devices += 1
            if heard.isEarly { reach.early += 1 }
            switch (heard.isPushed, heard.isTold) {
            case (true, true): reach.both += 1
            case (true, false): reach.push += 1
            case (false, true): reach.login += 1
            case (false, false): break
            }
        }
    }

    /// How a device had been reached when it came up to the requirement.
    private struct Heard {
        var isPushed: Bool
        var isTold: Bool
        /// The campaign has not come to the device yet.
        var isEarly = false
    }

    /// A campaign's ledger entry for a device that comes up to the requirement.
    private enum Entry {
        case none
        /// It counts already, or met the requirement before.
        case settled
        case counts(isPushed: Bool)
    }

    /// A look into a campaign's ledger, and the mark there: 31 µs, where registering a device takes about 10.
    private static let look = 3

    init(tells: Bool = false) {
        self.tells = tells
    }

    /// Records a version that a device was seen with; each device counts once in each campaign.
    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ connection: SQLiteConnection
    ) throws {
        if requirements[app] == nil {
            requirements[app] = try connection.all(
                """
                SELECT c.id, c.required, c.told > 0, r.kind = 'blocked'
                FROM campaign AS c JOIN requirement AS r ON r.id = c.requirement_id
                WHERE c.app_id = ? AND c.pruned_at IS NULL
                """, app
            ) { row in
                let (campaign, required, hasTold, isBlock) = (row.integer(), row.version(), row.bool(), row.bool())
                return required.map {
                    Requirement(
                        campaign: campaign, target: UpgradeTarget($0, isBlock: isBlock), hasTold: tells || hasTold)
                }
            }.compactMap { $0 }
        }
        for requirement in requirements[app] ?? [] where requirement.target.isReached(by: version, from: old) {
            work += Self.look
            guard let heard = try Self.mark(device, in: requirement, connection) else { continue }
            upgraded[requirement.campaign, default: Upgraded()].add(heard)
        }
    }

    /// nil where the device counts already, met the requirement before, or has no entry and was not notified at login.
    private static func mark(
        _ device: Int64, in requirement: Requirement, _ connection: SQLiteConnection
    ) throws -> Heard? {
        let campaign = requirement.campaign
        let told = requirement.hasTold ? try ToldTable.told(device, in: campaign, connection) : nil
        if told == true { return nil }
        switch try markEntry(of: device, in: campaign, connection) {
        case .settled: return nil
        case .none:
            guard told != nil, try ToldTable.markEarly(device, in: campaign, connection) else { return nil }
            return Heard(isPushed: false, isTold: true, isEarly: true)
        case .counts(let isPushed):
            return Heard(isPushed: isPushed, isTold: told != nil)
        }
    }

    private static func markEntry(
        of device: Int64, in campaign: Int64, _ connection: SQLiteConnection
    ) throws -> Entry {
        // No device has both a place in a batch and a row.
        switch try DeliveryBatchTable.outcome(of: device, in: campaign, connection) {
        case .alreadyCurrent: return .settled
        case .some(let outcome):
            let marked = try connection.run(
                "INSERT OR IGNORE INTO delivery_upgrade (campaign_id, device_id) VALUES (?, ?)", campaign, device)
            return marked > 0 ? .counts(isPushed: outcome == .accepted) : .settled
        case nil:
            // Not RETURNING: its table in memory costs twice as much as this look.
            let row = try connection.first(
                """
                SELECT state, upgraded = 0 AND NOT (state = 7 AND reason IS 'alreadyCurrent') FROM delivery
                WHERE campaign_id = ? AND device_id = ?
                """, campaign, device
            ) { (state: $0.integer(), counts: $0.integer() != 0) }
            guard let row else { return .none }
            guard row.counts else { return .settled }
            try connection.run(
                "UPDATE delivery SET upgraded = 1 WHERE campaign_id = ? AND device_id = ?", campaign, device)
            return .counts(isPushed: row.state == Int64(DeliveryState.accepted.rawValue))
        }
    }

    func store(_ connection: SQLiteConnection) throws {
        for (campaign, upgraded) in upgraded.sorted(by: { $0.key < $1.key }) {
            try connection.run(
                """
                UPDATE campaign SET upgraded = upgraded + ?, upgraded_push = upgraded_push + ?,
                    upgraded_login = upgraded_login + ?, upgraded_both = upgraded_both + ?,
                    upgraded_early = upgraded_early + ?
                WHERE id = ?
                """, upgraded.devices, upgraded.reach.push, upgraded.reach.login,
                upgraded.reach.both, upgraded.reach.early, campaign)
        }
    }
}
