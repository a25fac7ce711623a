// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules
import WireFormat

extension SQLStore {
    @discardableResult
    package func followVersions(of app: AppKey, by rules: RetirementRules, at now: Timestamp) throws -> Bool {
        let known = try read("looking when versions were counted") { connection -> (id: Int64, isDue: Bool)? in
            guard let id = try AppTable.id(of: app, connection) else { return nil }
            return (id, try VersionShareTable.isDue(id, at: now, connection))
        }
        guard let known, known.isDue else { return false }
        let counts = try count(known.id, seenSince: now - rules.seenWithin)
        return try write("keeping how many devices have which version", lock: .rows) { connection in
            // Another relay may have counted since.
            try connection.run("SELECT id FROM app WHERE id = ? \(connection.dialect.forUpdate)", known.id)
            guard try VersionShareTable.isDue(known.id, at: now, connection) else { return false }
            let before = try VersionShareTable.shares(of: known.id, connection)
            let (shares, fallen) = VersionShares.counted(
                counts.versions, unknown: counts.unknown, after: before, by: rules, at: now)
            try VersionShareTable.put(shares, after: before, of: known.id, connection)
            if let count = VersionCount(shares) { try VersionCountTable.keep(count, of: known.id, connection) }
            for row in fallen {
                let subject = VersionShareTable.subject(row, of: shares)
                try NotificationTable.note(.retirable, of: known.id, subject, at: now, connection)
            }
            return true
        }
    }

    /// Counts part after part, each at a moment of its own: no snapshot may be held while millions of devices are counted.
    private func count(
        _ app: Int64, seenSince: Timestamp
    ) throws -> (versions: [(version: Version, devices: Int64)], unknown: Int64) {
        var versions: [String: Int64] = [:]
        var unknown: Int64 = 0
        var last = Int64.min
        while true {
            let found = try readOnce("counting devices by version") { connection in
                try connection.all(
                    VersionShareTable.part(connection.dialect), app, last, seenSince, VersionShareTable.size
                ) {
                    (version: $0.optionalText(), seen: $0.integer(), all: $0.integer(), last: $0.integer())
                }
            }
            for part in found {
                if let version = part.version {
                    versions[version, default: 0] += part.seen
                } else {
                    unknown += part.seen
                }
            }
            last = found.map(\.last).max() ?? last
            guard found.reduce(0, { $0 + $1.all }) >= VersionShareTable.size else { break }
        }
        var known: [(version: Version, devices: Int64)] = []
        for (text, devices) in versions.sorted(by: { $0.key < $1.key }) where devices > 0 {
            if let version = try? Version(text) { known.append((version, devices)) } else { unknown += devices }
        }
        return (known, unknown)
    }

    package func versionShares() throws -> [AppKey: VersionShares] {
        try read("reading how many devices have which version") { connection in
            let shares = try VersionShareTable.all(connection)
            return Dictionary(
                uniqueKeysWithValues: try AppTable.all(connection).compactMap { app in
                    shares[app.id].map { (app.key, $0) }
                })
        }
    }

    package func versionCounts(of app: AppKey) throws -> [VersionCount] {
        try read("reading how many devices had which version") { connection in
            try AppTable.id(of: app, connection).map { try VersionCountTable.counts(of: $0, connection) } ?? []
        }
    }

    package func versionShares(of app: AppKey) throws -> VersionShares? {
        try read("reading how many devices have which version") { connection in
            try AppTable.id(of: app, connection).flatMap { try VersionShareTable.shares(of: $0, connection) }
        }
    }
}

/// The tables `version_census` and `version_share`.
package enum VersionShareTable {
    /// The number of devices that one query counts.
    static let size: Int64 = 20_000
    /// A share is stored in millionths.
    fileprivate static let whole = 1_000_000.0

    /// The next ?4 devices of an app (?1) behind one (?2), by version: how many were seen since a moment (?3), how many
    /// there are, and the last id.
    ///
    /// Reads the app's devices alone, however many others there are: PostgreSQL compares rows, so that it can take no other index.
    package static func part(_ dialect: SQLDialect) -> SQL {
        let (behind, order): (SQL, SQL) =
            dialect == .sqlite
            ? ("app_id = ?1 AND id > ?2", "id")
            : ("(app_id, id) > (?1, ?2) AND (app_id, id) <= (?1, \(Int64.max))", "app_id, id")
        return """
            SELECT d.version, CAST(sum(d.is_seen) AS bigint), count(*), max(d.id) FROM (
                SELECT id, version, CASE WHEN retired_at IS NULL AND (registered_at >= CAST(?3 AS bigint)
                    OR seen_at >= CAST(?3 AS bigint)) THEN 1 ELSE 0 END AS is_seen
                FROM device \(dialect.indexed(by: "device_live")) WHERE \(behind) AND removed_at IS NULL
                ORDER BY \(order) LIMIT ?4) AS d
            GROUP BY d.version
            """
    }

    /// Whether a count is due, also where the clock was set back since.
    static func isDue(_ app: Int64, at now: Timestamp, _ connection: some SQLConnection) throws -> Bool {
        let last = try connection.first("SELECT counted_at FROM version_census WHERE app_id = ?", app) { $0.time() }
        return last.map { now - $0 >= VersionShares.interval || now < $0 } ?? true
    }

    static func shares(of app: Int64, _ connection: some SQLConnection) throws -> VersionShares? {
        var shares = try connection.first(VersionShares.self, "\(census) WHERE app_id = ?", app)
        shares?.rows = try connection.all(VersionShares.Row.self, "\(rows) WHERE app_id = ?", app)
            .compactMap(\.self).sorted { $0.version < $1.version }
        return shares
    }

    /// The shares of each app.
    static func all(_ connection: some SQLConnection) throws -> [Int64: VersionShares] {
        var all = Dictionary(
            uniqueKeysWithValues: try connection.all("SELECT app_id, \(VersionShares.columns) \(census)") {
                ($0.integer(), VersionShares.read(&$0))
            })
        let rows = try connection.all("SELECT app_id, \(VersionShares.Row.columns) \(rows)") {
            (app: $0.integer(), row: VersionShares.Row.read(&$0))
        }
        for (app, row) in rows { if let row { all[app]?.rows.append(row) } }
        return all.mapValues { shares in
            var shares = shares
            shares.rows.sort { $0.version < $1.version }
            return shares
        }
    }

    private static let census: SQL = "FROM version_census"
    private static let rows: SQL = "FROM version_share"

    /// Writes the changes.
    static func put(
        _ shares: VersionShares, after before: VersionShares?, of app: Int64, _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            INSERT INTO version_census (app_id, counted_at, seen_since, retire_below, devices, unknown)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (app_id) DO UPDATE SET counted_at = excluded.counted_at, seen_since = excluded.seen_since,
                retire_below = excluded.retire_below, devices = excluded.devices, unknown = excluded.unknown
            """, app, shares.countedAt, shares.seenSince, Int64((shares.retireBelow * whole).rounded()), shares.devices,
            shares.unknown)
        let old = Dictionary((before?.rows ?? []).map { ($0.version, $0) }) { first, _ in first }
        let kept = Set(shares.rows.map(\.version))
        for row in before?.rows ?? [] where !kept.contains(row.version) {
            try connection.run(
                "DELETE FROM version_share WHERE app_id = ? AND version = ?", app, row.version.text)
        }
        for row in shares.rows where old[row.version] != row {
            try connection.run(
                """
                INSERT INTO version_share (app_id, version, devices, or_older, below_since, is_told)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (app_id, version) DO UPDATE SET devices = excluded.devices, or_older = excluded.or_older,
                    below_since = excluded.below_since, is_told = excluded.is_told
                """, app, row.version.text, row.devices, row.orOlder, row.belowSince, row.isNotified)
        }
    }

    /// The details of an event about a version, in a form that the next function reads again.
    static func subject(_ row: VersionShares.Row, of shares: VersionShares) -> JSONValue {
        let millionths = Int64((shares.retireBelow * whole).rounded())
        return .object([
            JSONMember(name: "version", value: .string(row.version.text)),
            JSONMember(name: "devices", value: .integer(row.devices)),
            JSONMember(name: "orOlder", value: .integer(row.orOlder)),
            JSONMember(name: "since", value: .integer((row.belowSince ?? shares.countedAt).milliseconds)),
            JSONMember(name: "seen", value: .integer(shares.devices)),
            JSONMember(name: "retireBelow", value: .integer(millionths)),
        ])
    }

    static func subject(of app: AppKey, _ json: JSONValue) -> RelayEvent.Subject? {
        guard let version = json["version"]?.string.flatMap({ try? Version($0) }),
            let devices = json["devices"]?.integer,
            let orOlder = json["orOlder"]?.integer, let since = json["since"]?.integer,
            let seen = json["seen"]?.integer,
            let millionths = json["retireBelow"]?.integer
        else { return nil }
        let row = VersionShares.Row(
            version: version, devices: devices, orOlder: orOlder, belowSince: Timestamp(milliseconds: since),
            isNotified: true)
        return .retirable(app, row, devices: seen, retireBelow: Double(millionths) / whole)
    }
}

extension VersionShares: Selection {
    package static let columns: SQL = "counted_at, seen_since, retire_below, devices, unknown"

    /// Without its versions.
    package static func read(_ row: inout Columns<some SQLRow>) -> VersionShares {
        VersionShares(
            countedAt: row.time(), seenSince: row.time(),
            retireBelow: Double(row.integer()) / VersionShareTable.whole,
            devices: row.integer(), unknown: row.integer(), rows: [])
    }
}

extension VersionShares.Row: Selection {
    package static let columns: SQL = "version, devices, or_older, below_since, is_told"

    /// nil where the text is no version.
    package static func read(_ row: inout Columns<some SQLRow>) -> VersionShares.Row? {
        let (version, devices, orOlder) = (row.version(), row.integer(), row.integer())
        let (belowSince, isNotified) = (row.optionalTime(), row.bool())
        return version.map {
            VersionShares.Row(
                version: $0, devices: devices, orOlder: orOlder, belowSince: belowSince, isNotified: isNotified)
        }
    }
}
