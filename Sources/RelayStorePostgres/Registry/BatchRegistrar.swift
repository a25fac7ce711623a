// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL
import UpgradeRules

/// Registers many devices of one app within one transaction, all at once: one look at what is known of them, which locks them in the
/// order of their digests, and one statement each for those that are new and for those that change.
struct BatchRegistrar {
    private let session: PostgresSession
    private let app: Int64
    private let now: Timestamp
    private let source: RegistrationSource
    private(set) var counts = UpsertCounts()
    private var tally = RegistryTally()
    private var marks = UpgradeMarks()
    /// Packed tokens that are dead since just now, in the order in which they came.
    private var retired: [[UInt8]] = []

    init(_ session: PostgresSession, _ app: AppKey, at now: Timestamp, from source: RegistrationSource) throws {
        self.session = session
        self.now = now
        self.source = source
        self.app = try AppTable.idMade(for: app, session)
    }

    static let find = PostgresStatement(
        """
        SELECT n.place, d.id, d.telephone, d.version, d.removed_at IS NOT NULL, d.environment, d.registered_at, d.retired_at,
            d.seen_at, d.os_version, d.country
        FROM unnest($1) WITH ORDINALITY AS n (digest, place) JOIN device AS d ON d.digest = n.digest
        ORDER BY d.digest FOR UPDATE OF d
        """)
    /// In the order of the digests, with ids in the order in which they came; who is there meanwhile is found by the next look.
    static let insert = PostgresStatement(
        """
        INSERT INTO device (id, app_id, digest, token, telephone, version, environment, registered_at, retired_at, seen_at,
            os_version, country)
        SELECT n.id, $1, n.digest, n.token, n.telephone, n.version, n.environment::smallint, n.registered_at,
            n.retired_at, n.seen_at, n.os_version, n.country
        FROM (SELECT nextval('device_id_seq') AS id, t.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) WITH ORDINALITY
                AS t (token, digest, telephone, version, environment, registered_at, retired_at, seen_at, os_version, country, place) ORDER BY t.place) AS n
        ORDER BY 3 ON CONFLICT (digest) DO NOTHING RETURNING token
        """)
    /// The same of many, in half the time. It goes on with nothing where one is there already.
    private static let copy = """
        COPY device (app_id, digest, token, telephone, version, environment, registered_at, retired_at, seen_at, os_version, country)
        FROM STDIN (FORMAT binary)
        """
    /// Devices from which on that is less work.
    private static let many = 100
    /// The shards of its app's campaign go on having a device where they had it. IS NOT DISTINCT FROM: no index is looked into for
    /// the app, which tells nothing.
    static let update = PostgresStatement(
        """
        UPDATE device AS d SET telephone = n.telephone, version = n.version, registered_at = n.registered_at,
            retired_at = n.retired_at, retired_order = CASE WHEN n.retired_at IS NULL THEN NULL ELSE d.retired_order END,
            seen_at = n.seen_at, os_version = n.os_version, country = n.country, removed_at = NULL,
            environment = n.environment::smallint,
            planned_environment = CASE WHEN d.environment = n.environment THEN d.planned_environment
                ELSE coalesce(d.planned_environment, d.environment) END
        FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
            AS n (id, telephone, version, environment, registered_at, retired_at, seen_at, os_version, country)
        WHERE d.app_id IS NOT DISTINCT FROM $1 AND d.id = n.id
        """)
    /// Where the app has no campaign whose deliveries can be asked for there is nothing to find, and the telephone is gone.
    static let remember = PostgresStatement(
        """
        INSERT INTO former_telephone (telephone, app_id, device_id)
        SELECT n.telephone, $1, n.id FROM unnest($2, $3) AS n (id, telephone)
        WHERE EXISTS (SELECT FROM campaign WHERE app_id = $1 AND pruned_at IS NULL) ORDER BY 1, 3
        ON CONFLICT DO NOTHING
        """)

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
            // Somebody else may register one between the look and the insertion.
            later += try registerOnce(batch, turn)
            left = later
        }
    }

    /// A device as it is written.
    private struct Written {
        var id: Int64 = 0
        var token: [UInt8] = []
        var telephone: String?
        var version: String?
        var system: String?
        var country: String?
        var environment: PushEnvironment
        var life: DeviceLife
    }

    /// - Returns: those that somebody else has registered meanwhile.
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
            let index = order[Int(found.integer(place, 0)) - 1]
            isKnown[index] = true
            let row = batch.rows[turn[index].place]
            guard let written = judge(row, of: batch, found, place, &former) else { continue }
            changed.append(written)
            let isAsBefore = !found.bool(place, 4) && written.life.dead?.milliseconds == found.optionalInteger(place, 7)
            if written.life.dead != nil, !isAsBefore { retired.append(turn[index].token) }
        }
        if !former.isEmpty {
            try session.run(Self.remember) { values in
                values.add(app)
                values.add(former.map(\.id))
                values.add(former.map { Optional($0.telephone) })
            }
        }
        try write(changed, Self.update) { values in values.add(changed.map(\.id)) }
        // Those of an import have their ids as they lie in the table, in the order of their digests: who reads them one after the other
        // then reads each page once.
        let isImport = source == .records && turn.count >= Self.many
        let new = (isImport ? order : Array(turn.indices)).filter { !isKnown[$0] }
        guard !new.isEmpty else { return [] }
        let added = new.map { index in
            let row = batch.rows[turn[index].place]
            return Written(
                token: turn[index].token, telephone: batch.string(row.telephone), version: batch.string(row.version),
                system: batch.string(row.system), country: batch.string(row.country), environment: row.environment,
                life: DeviceLife(of: row, from: source, before: nil, at: now))
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
    /// - Returns: false where somebody else has registered one of them meanwhile.
    private func copy(_ devices: [Written], _ digests: some Sequence<ArraySlice<UInt8>>) throws -> Bool {
        let (connection, deadline) = (session.connection, session.deadline)
        try connection.execute("SAVEPOINT copy", until: deadline)
        do {
            _ = try connection.copy(Self.copy, until: deadline) { rows in
                for (device, digest) in zip(devices, digests) {
                    try rows.row(columns: 11) { fields in
                        fields.add(app)
                        fields.add(digest)
                        fields.add(device.token)
                        fields.add(device.telephone)
                        fields.add(device.version)
                        fields.add(Int16(device.environment.rawValue))
                        fields.add(device.life.registered.milliseconds)
                        fields.add(device.life.dead?.milliseconds)
                        fields.add(device.life.seen?.milliseconds)
                        fields.add(device.system)
                        fields.add(device.country)
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
        tally.came(device.version, app: app)
    }

    /// What becomes of a device that is known; nil where it stays as it is.
    private mutating func judge(
        _ row: RegistrationBatch.Row, of batch: RegistrationBatch, _ found: borrowing PostgresRows, _ place: Int,
        _ former: inout [(id: Int64, telephone: String)]
    ) -> Written? {
        let (id, wasRemoved) = (found.integer(place, 1), found.bool(place, 4))
        let (telephone, version) = (found.optionalText(place, 2), found.optionalText(place, 3))
        let environment: PushEnvironment = found.integer(place, 5) == 0 ? .production : .sandbox
        func time(_ column: Int) -> Timestamp? {
            found.optionalInteger(place, column).map { Timestamp(milliseconds: $0) }
        }
        let before = DeviceLife(
            registered: Timestamp(milliseconds: found.integer(place, 6)), dead: time(7), seen: time(8),
            wasRemoved: wasRemoved)
        let (newTelephone, newVersion) = (batch.string(row.telephone), batch.string(row.version))
        let keepsUser = row.kept.contains(.telephone) || Self.same(telephone, newTelephone)
        var life = DeviceLife(of: row, from: source, before: before, at: now)
        var keepsVersion = row.kept.contains(.version) || Self.same(version, newVersion)
        let (system, newSystem) = (found.optionalText(place, 9), batch.string(row.system))
        var keepsSystem = row.kept.contains(.system) || Self.same(system, newSystem)
        let (country, newCountry) = (found.optionalText(place, 10), batch.string(row.country))
        var keepsCountry = row.kept.contains(.country) || Self.same(country, newCountry)
        let old = version.flatMap { try? Version($0) }
        let new = newVersion.flatMap { try? Version($0) }
        if source == .records, !wasRemoved, !(keepsVersion && keepsSystem && keepsCountry) {
            func isOlder(_ new: Version?, _ old: Version?) -> Bool { if let new, let old { new < old } else { false } }
            if before.outlasts(row, life, isOlder: !keepsVersion && isOlder(new, old)) {
                if !keepsVersion {
                    counts.versionsKept += 1
                    (keepsVersion, life.seen) = (true, before.seen)
                }
                // What the records say of the system and the country is as old as what they say of the version.
                keepsSystem = keepsSystem || system != nil
                keepsCountry = keepsCountry || country != nil
            } else if !keepsSystem {
                func version(_ text: String?) -> Version? { text.flatMap { try? Version($0) } }
                keepsSystem = before.outlasts(row, life, isOlder: isOlder(version(newSystem), version(system)))
            }
        }
        let keepsEnvironment = row.kept.contains(.environment) || row.environment == environment
        if source == .records, keepsUser, keepsVersion, keepsSystem, keepsCountry, keepsEnvironment, !wasRemoved,
            life == before
        {
            counts.unchanged += 1
            return nil
        }
        if !keepsUser, let telephone { former.append((id, telephone)) }
        if !keepsVersion, let new { marks.saw(new, after: old, device: id, app: app) }
        let kept = keepsVersion ? version : newVersion
        if wasRemoved {
            tally.gained(1, app: app)
            tally.came(kept, app: app)
        } else if !keepsVersion {
            tally.left(version, app: app)
            tally.came(newVersion, app: app)
        }
        counts.updated += 1
        return Written(
            id: id, telephone: keepsUser && !wasRemoved ? telephone : newTelephone, version: kept,
            system: keepsSystem ? system : newSystem, country: keepsCountry ? country : newCountry,
            environment: keepsEnvironment ? environment : row.environment, life: life)
    }

    /// By bytes: to Swift two spellings of "é" are equal.
    private static func same(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    @discardableResult
    private func write(
        _ devices: [Written], _ statement: PostgresStatement, first: (inout PostgresParameters) -> Void
    ) throws -> (count: Int, tokens: [[UInt8]]) {
        guard !devices.isEmpty else { return (0, []) }
        let found = try session.run(statement) { values in
            values.add(app)
            first(&values)
            values.add(devices.map(\.telephone))
            values.add(devices.map(\.version))
            values.add(devices.map { Int64($0.environment.rawValue) })
            values.add(devices.map(\.life.registered.milliseconds))
            values.add(devices.map(\.life.dead?.milliseconds))
            values.add(devices.map(\.life.seen?.milliseconds))
            values.add(devices.map(\.system))
            values.add(devices.map(\.country))
        }
        return (found.affected, (0..<found.count).map { found.bytes($0, 0) })
    }

    /// Writes the counts that were gathered.
    func finish() throws -> UpsertCounts {
        try marks.store(session)
        try tally.store(session)
        try DeadDevices.place(retired, of: app, at: now, session)
        return counts
    }
}

extension RegistrationBatch {
    fileprivate func string(_ slice: ByteSlice) -> String? {
        slice.isAbsent ? nil : String(decoding: bytes[slice.range], as: UTF8.self)
    }
}
