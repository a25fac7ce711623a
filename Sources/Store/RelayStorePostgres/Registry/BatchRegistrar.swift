// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
package import Requirements
import StoreSQL
import UpgradeRules

/// Registers many devices of one app within one transaction, all at once: one look at their rows, which locks them in the
/// order of their digests, and one statement each for new and for changed devices.
package struct BatchRegistrar: DeviceRegistrar {
    private let session: PostgresSession
    private let app: Int64
    private let rule: DeviceRule
    private(set) var counts = UpsertCounts()
    private var tally = RegistryTally()
    private var marks = UpgradeMarks()
    /// Packed tokens that this transaction found dead, in the order in which they came.
    private var retired: [[UInt8]] = []

    package init(_ session: PostgresSession, _ app: AppKey, at now: Timestamp, from source: RegistrationSource) throws {
        self.session = session
        rule = DeviceRule(source, at: now)
        self.app = try AppTable.idMade(for: app, session)
    }

    /// Columns of `find`, in its order.
    private enum Column {
        static let place = 0
        static let id = 1
        static let removed = 2
        static let channel = 3
        static let registered = 4
        static let retired = 5
        static let seen = 6
        /// The first text's column; the others follow in the order of `DeviceField.texts`.
        static let texts = 7
    }

    /// The texts' columns, and parameters for them.
    private static let texts = DeviceField.texts.map(\.sql)
    private static func parameters(from first: Int) -> [SQL] { texts.indices.map { "$\(first + $0)" } }

    static let find = PostgresStatement(
        sql: """
            SELECT n.place, d.id, d.removed_at IS NOT NULL, d.environment, d.registered_at, d.retired_at, d.seen_at,
                \(texts.map { "d.\($0)" })
            FROM unnest($1) WITH ORDINALITY AS n (digest, place) JOIN device AS d ON d.digest = n.digest
            ORDER BY d.digest FOR UPDATE OF d
            """)
    /// Inserts in the order of the digests, with ids in the order in which the devices came. A device that another
    /// transaction has inserted since `find` is skipped, and found by the next `find`.
    static let insert = PostgresStatement(
        sql: """
            INSERT INTO device (id, app_id, digest, token, environment, registered_at, retired_at, seen_at, \(texts))
            SELECT n.id, $1, n.digest, n.token, n.environment::smallint, n.registered_at, n.retired_at, n.seen_at,
                \(texts.map { "n.\($0)" })
            FROM (SELECT nextval('device_id_seq') AS id, t.*
                FROM unnest($2, $3, $4, $5, $6, $7, \(parameters(from: 8))) WITH ORDINALITY
                AS t (token, digest, environment, registered_at, retired_at, seen_at, \(texts), place) ORDER BY t.place) AS n
            ORDER BY 3 ON CONFLICT (digest) DO NOTHING RETURNING token
            """)
    /// The same for many devices, in half the time. Writes nothing where one of them exists already.
    private static let copy: SQL = """
        COPY device (app_id, digest, token, environment, registered_at, retired_at, seen_at, \(texts))
        FROM STDIN (FORMAT binary)
        """
    /// From this number of devices on, `copy` is less work.
    private static let many = 100
    /// `planned_environment` keeps the environment in which the shards of the app's campaign count a device. IS NOT
    /// DISTINCT FROM keeps the server from using an index on the app, which would not narrow the search.
    static let update = PostgresStatement(
        sql: """
            UPDATE device AS d SET \(texts.map { "\($0) = n.\($0)" }), registered_at = n.registered_at,
                retired_at = n.retired_at, retired_order = CASE WHEN n.retired_at IS NULL THEN NULL ELSE d.retired_order END,
                seen_at = n.seen_at, removed_at = NULL, environment = n.environment::smallint,
                planned_environment = CASE WHEN d.environment = n.environment THEN d.planned_environment
                    ELSE coalesce(d.planned_environment, d.environment) END
            FROM unnest($2, $3, $4, $5, $6, \(parameters(from: 7)))
                AS n (id, environment, registered_at, retired_at, seen_at, \(texts))
            WHERE d.app_id IS NOT DISTINCT FROM $1 AND d.id = n.id
            """)
    /// Where the app has no campaign whose deliveries can be asked for, a search would find nothing, and the telephone is not kept.
    static let remember = PostgresStatement(
        """
        INSERT INTO former_telephone (telephone, app_id, device_id)
        SELECT n.telephone, $1, n.id FROM unnest($2, $3) AS n (id, telephone)
        WHERE EXISTS (SELECT FROM campaign WHERE app_id = $1 AND pruned_at IS NULL) ORDER BY 1, 3
        ON CONFLICT DO NOTHING
        """)

    package mutating func register(_ batch: RegistrationBatch) throws { try register(batch, 0..<batch.count) }

    /// Registers some rows of a batch; of two with the same token the later one counts.
    mutating func register(_ batch: RegistrationBatch, _ places: Range<Int>) throws {
        let tokens = places.map { PackedToken.packed(batch.bytes[batch.rows[$0].token.range]) }
        var left = Array(zip(places, tokens))
        while !left.isEmpty {
            var (turn, met): ([(place: Int, token: [UInt8])], Set<[UInt8]>) = ([], [])
            var later: [(Int, [UInt8])] = []
            for (place, token) in left {
                if met.insert(token).inserted { turn.append((place, token)) } else { later.append((place, token)) }
            }
            // Another transaction may register a device between the look-up and the insertion.
            later += try registerOnce(batch, turn)
            left = later
        }
    }

    /// A device's row.
    fileprivate struct Written {
        var id: Int64 = 0
        var token: [UInt8] = []
        var texts: DeviceTexts<String?>
        var channel: Channel
        var life: DeviceLife

        /// Texts that have no value.
        var absent: DeviceFieldSet {
            .texts { texts.value(at: $0) == nil }
        }

        func differing(from other: Written) -> DeviceFieldSet {
            var fields = DeviceFieldSet.texts { !Self.same(texts.value(at: $0), other.texts.value(at: $0)) }
            if channel != other.channel { fields.insert(.environment) }
            return fields
        }

        func taking(_ fields: DeviceFieldSet, of other: Written, _ life: DeviceLife) -> Written {
            var new = self
            new.texts.take(fields, of: other.texts)
            if fields.contains(.environment) { new.channel = other.channel }
            new.life = life
            return new
        }

        /// Compares bytes: to Swift, two spellings of "é" are equal.
        private static func same(_ one: String?, _ other: String?) -> Bool {
            guard let one, let other else { return one == nil && other == nil }
            return one.utf8.elementsEqual(other.utf8)
        }
    }

    /// - Returns: the devices that another transaction has registered since `find`.
    private mutating func registerOnce(
        _ batch: RegistrationBatch, _ turn: [(place: Int, token: [UInt8])]
    ) throws -> [(Int, [UInt8])] {
        var isKnown = [Bool](repeating: false, count: turn.count)
        var (changed, former): ([Written], [(id: Int64, telephone: String)]) = ([], [])
        var digests = TokenDigests()
        for (_, token) in turn { digests.append(app, token) }
        let order = digests.order
        let found = try session.run(Self.find) { values in
            values.add(order.lazy.map { digests[$0] }, as: .uuid)
        }
        for place in 0..<found.count {
            let index = order[Int(found.integer(place, Column.place)) - 1]
            isKnown[index] = true
            let row = batch.rows[turn[index].place]
            guard let written = judge(row, of: batch, token: turn[index].token, found, place, &former) else { continue }
            changed.append(written)
        }
        if !former.isEmpty {
            try session.run(Self.remember) { values in
                values.add(app)
                values.add(former.map(\.id))
                values.add(former.map { Optional($0.telephone) })
            }
        }
        try write(changed, Self.update) { values in values.add(changed.map(\.id)) }
        // An import's devices get their ids in the order of their digests, which is also their order in the table:
        // reading them by id then reads each page once.
        let isImport = rule.source == .records && turn.count >= Self.many
        let new = (isImport ? order : Array(turn.indices)).filter { !isKnown[$0] }
        guard !new.isEmpty else { return [] }
        let added = new.map { index in
            let row = batch.rows[turn[index].place]
            return Written(batch, row, token: turn[index].token, life: rule.begin(row.observation))
        }
        if isImport, try copy(added, new.lazy.map { digests[$0] }) {
            for written in added { note(new: written) }
            return []
        }
        let inserted = try write(added, Self.insert) { values in
            values.add(added.map { Optional($0.token) })
            values.add(new.lazy.map { digests[$0] }, as: .uuid)
        }
        guard inserted.count < new.count else {
            for written in added { note(new: written) }
            return []
        }
        let there = Set(inserted.tokens)
        for written in added where there.contains(written.token) { note(new: written) }
        return new.filter { !there.contains(turn[$0].token) }.map { (turn[$0].place, turn[$0].token) }
    }

    /// - Parameter digests: ascending.
    /// - Returns: false where another transaction has registered one of them since `find`.
    private func copy(_ devices: [Written], _ digests: some Sequence<ArraySlice<UInt8>>) throws -> Bool {
        let (connection, deadline) = (session.connection, session.deadline)
        try connection.execute("SAVEPOINT copy", until: deadline)
        do {
            _ = try connection.copy(Self.copy.text, until: deadline) { rows in
                for (device, digest) in zip(devices, digests) {
                    try rows.row(columns: Int16(7 + Self.texts.count)) { fields in
                        fields.add(app)
                        fields.add(digest)
                        fields.add(device.token)
                        fields.add(Int16(device.channel.rawValue))
                        fields.add(device.life.registered.milliseconds)
                        fields.add(device.life.dead?.milliseconds)
                        fields.add(device.life.seen?.milliseconds)
                        for slot in device.texts.slots { fields.add(device.texts.value(at: slot)) }
                    }
                }
            }
        } catch let failure as PostgresFailure where failure.state == "23505" {
            try connection.execute("ROLLBACK TO copy", until: deadline)
            return false
        }
        try connection.execute("RELEASE copy", until: deadline)
        return true
    }

    private mutating func note(new device: Written) {
        if device.life.dead != nil { retired.append(device.token) }
        counts.inserted += 1
        tally.gained(1, app: app)
        tally.came(device.texts[.version], app: app)
    }

    /// The device as the row changes it; nil where it stays as it is.
    private mutating func judge(
        _ row: RegistrationBatch.Row, of batch: RegistrationBatch, token: [UInt8], _ found: borrowing PostgresRows,
        _ place: Int, _ former: inout [(id: Int64, telephone: String)]
    ) -> Written? {
        func time(_ column: Int) -> Timestamp? {
            found.optionalInteger(place, column).map { Timestamp(milliseconds: $0) }
        }
        let life = DeviceLife(
            registered: Timestamp(milliseconds: found.integer(place, Column.registered)), dead: time(Column.retired),
            seen: time(Column.seen), wasRemoved: found.bool(place, Column.removed))
        let before = Written(
            id: found.integer(place, Column.id),
            texts: DeviceTexts(slots: { found.optionalText(place, Column.texts + $0) }),
            channel: found.channel(place, Column.channel), life: life)
        let said = Written(batch, row, life: life)
        let known = DeviceRule.Known(life, differing: before.differing(from: said), absent: before.absent)
        let verdict = rule.judge(row.observation, known) { field in
            Self.isOlder(said.texts[field], than: before.texts[field])
        }
        counts.count(verdict)
        switch verdict {
        case .unchanged: return nil
        case .update(let update):
            let after = before.taking(update.writes, of: said, update.life)
            if update.isHandedOver, let telephone = before.texts[.telephone] { former.append((before.id, telephone)) }
            if update.mayUpgrade, let version = said.texts[.version].flatMap({ try? Version($0) }) {
                let old = before.texts[.version].flatMap { try? Version($0) }
                marks.saw(version, after: old, device: before.id, app: app, session)
            }
            if update.isBack { tally.gained(1, app: app) }
            if update.leavesVersion { tally.left(before.texts[.version], app: app) }
            if update.joinsVersion { tally.came(after.texts[.version], app: app) }
            if update.death == .began { retired.append(token) }
            return after
        }
    }

    private static func isOlder(_ new: String?, than old: String?) -> Bool {
        guard let new = new.flatMap({ try? Version($0) }), let old = old.flatMap({ try? Version($0) }) else {
            return false
        }
        return new < old
    }

    @discardableResult
    private func write(
        _ devices: [Written], _ statement: PostgresStatement, first: (inout PostgresParameters) -> Void
    ) throws -> (count: Int, tokens: [[UInt8]]) {
        guard !devices.isEmpty else { return (0, []) }
        let found = try session.run(statement) { values in
            values.add(app)
            first(&values)
            values.add(devices.map { Int64($0.channel.rawValue) })
            values.add(devices.map(\.life.registered.milliseconds))
            values.add(devices.map(\.life.dead?.milliseconds))
            values.add(devices.map(\.life.seen?.milliseconds))
            for slot in DeviceField.texts.indices { values.add(devices.map { $0.texts.value(at: slot) }) }
        }
        return (found.affected, (0..<found.count).map { found.bytes($0, 0) })
    }

    /// Writes the collected counts.
    package mutating func finish() throws -> UpsertCounts {
        try marks.store(session)
        try tally.store(session)
        try DeadDevices.place(retired, of: app, at: rule.now, session)
        return counts
    }
}

extension BatchRegistrar.Written {
    fileprivate init(
        _ batch: RegistrationBatch, _ row: RegistrationBatch.Row, token: [UInt8] = [], life: DeviceLife
    ) {
        self.init(
            token: token, texts: DeviceTexts(slots: { batch.string(row.texts.value(at: $0)) }),
            channel: row.channel, life: life)
    }
}

extension RegistrationBatch {
    fileprivate func string(_ slice: ByteSlice) -> String? {
        slice.isAbsent ? nil : String(decoding: bytes[slice.range], as: UTF8.self)
    }
}
