// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension PostgresStore {
    /// Sightings of one transaction.
    private static let most = 1000

    @discardableResult
    package func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int {
        // Most logins bring no news, and none must wait for the disk then.
        let (known, news) = try read("looking for devices") { session in
            var told = ToldTally()
            var known = 0
            var news: [Sighting] = []
            for (app, all) in Dictionary(grouping: sightings.indices, by: { sightings[$0].app }) {
                guard let id = try AppTable.id(of: app, session) else { continue }
                let found = try session.run(Self.find) { values in
                    values.add(id)
                    values.add(
                        all.map { Optional(PackedToken.packed(app.platform.stored(sightings[$0].token).utf8)) })
                }
                for row in 0..<found.count {
                    var sighting = sightings[all[Int(found.integer(row, 0)) - 1]]
                    known += 1
                    // Of a device that is behind, the first login is noted; its later ones write nothing.
                    if let requirement = sighting.toldAtLogin {
                        let campaign = try told.campaign(of: requirement, app: id, session)
                        let isNew = try campaign.map { try !ToldTable.wasTold(found.integer(row, 1), in: $0, session) }
                        if isNew != true { sighting.toldAtLogin = nil }
                    }
                    let rule = LoginRule(
                        sighting, version: found.optionalText(row, 2), system: found.optionalText(row, 3),
                        lastReport: Timestamp(milliseconds: found.integer(row, 4)), now: now)
                    if sighting.toldAtLogin != nil || rule.isNews {
                        news.append(sighting)
                    }
                }
            }
            return (known, news)
        }
        for start in stride(from: 0, to: news.count, by: Self.most) {
            try store(Array(news[start..<min(start + Self.most, news.count)]), at: now)
        }
        return known
    }

    static let find = PostgresStatement(
        """
        SELECT n.place, d.id, d.version, d.os_version, greatest(d.registered_at, coalesce(d.seen_at, d.registered_at))
        FROM unnest($2) WITH ORDINALITY AS n (token, place)
            JOIN device AS d ON d.digest = token_digest($1, n.token)
        WHERE d.removed_at IS NULL ORDER BY n.place
        """, isReadOnly: true)
    /// In the order of the digests, in which imports lock them too.
    static let lock = PostgresStatement(
        """
        SELECT n.place, d.id FROM unnest($2) WITH ORDINALITY AS n (token, place)
            JOIN device AS d ON d.digest = token_digest($1, n.token)
        WHERE d.removed_at IS NULL ORDER BY d.digest FOR UPDATE OF d
        """)

    private func store(_ sightings: [Sighting], at now: Timestamp) throws {
        try write(.requests, "storing the versions of devices") { session in
            var (marks, tally, told) = (UpgradeMarks(), RegistryTally(), ToldTally())
            let byApp = Dictionary(grouping: sightings, by: \.app).sorted {
                ($0.key.app, $0.key.platform.rawValue) < ($1.key.app, $1.key.platform.rawValue)
            }
            for (app, sightings) in byApp {
                guard let id = try AppTable.id(of: app, session) else { continue }
                let tokens = sightings.map { PackedToken.packed(app.platform.stored($0.token).utf8) }
                let locked = try session.run(Self.lock) { values in
                    values.add(id)
                    values.add(tokens.map(Optional.some))
                }
                // One after the other, in the order in which they came: a device may be among them twice.
                for place in (0..<locked.count).map({ Int(locked.integer($0, 0)) - 1 }).sorted() {
                    let sighting = sightings[place]
                    let device = try session.first(
                        "\(RegistryTable.find) AND d.app_id = ?1", id, tokens[place]
                    ) { ($0.integer(0), $0.optionalText(2), $0.time(3), $0.optionalText(4)) }
                    guard let (device, oldVersion, lastReport, oldSystem) = device else { continue }
                    // First: a device that comes up to the requirement now had been told before.
                    if let requirement = sighting.toldAtLogin {
                        try told.told(device, of: requirement, app: id, session)
                    }
                    let rule = LoginRule(
                        sighting, version: oldVersion, system: oldSystem, lastReport: lastReport, now: now)
                    let old = oldVersion.flatMap { try? Version($0) }
                    let verdict = rule.verdict(of: sighting, version: old, system: oldSystem)
                    if verdict.isSeen {
                        try session.run(
                            """
                            UPDATE device SET seen_at = ?1, version = CASE WHEN ?2 THEN ?3 ELSE version END,
                                os_version = CASE WHEN ?4 THEN ?5 ELSE os_version END
                            WHERE app_id = ?6 AND id = ?7
                            """, rule.at, verdict.writes.contains(.version), sighting.version,
                            verdict.writes.contains(.system), sighting.system, id, device)
                    }
                    guard verdict.writes.contains(.version) else { continue }
                    marks.saw(sighting.version, after: old, device: device, app: id)
                    tally.left(oldVersion, app: id)
                    tally.came(sighting.version.text, app: id)
                }
            }
            try told.store(session)
            try marks.store(session)
            try tally.store(session)
        }
    }
}
