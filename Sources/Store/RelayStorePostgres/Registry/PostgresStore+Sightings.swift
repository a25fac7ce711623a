// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import StoreSQL
import UpgradeRules

extension PostgresStore {
    /// The most sightings of one transaction.
    private static let most = 1000

    @discardableResult
    package func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int {
        let look = try read("looking for devices") { session in
            var look = SightingLook(at: now)
            for (app, all) in Dictionary(grouping: sightings.indices, by: { sightings[$0].app }) {
                guard let id = try AppTable.id(of: app, session) else { continue }
                let found = try session.run(Self.find) { values in
                    values.add(id)
                    values.add(
                        all.map { Optional(PackedToken.packed(app.platform.stored(sightings[$0].token).utf8)) })
                }
                for row in 0..<found.count {
                    let device = SeenDevice(
                        id: found.integer(row, 1), version: found.optionalText(row, 2),
                        system: found.optionalText(row, 3),
                        lastReport: Timestamp(milliseconds: found.integer(row, 4)))
                    try look.take(sightings[all[Int(found.integer(row, 0)) - 1]], of: device, app: id, session)
                }
            }
            return look
        }
        for start in stride(from: 0, to: look.news.count, by: Self.most) {
            try store(Array(look.news[start..<min(start + Self.most, look.news.count)]), at: now)
        }
        return look.known
    }

    static let find = PostgresStatement(
        """
        SELECT n.place, d.id, d.version, d.os_version, greatest(d.registered_at, coalesce(d.seen_at, d.registered_at))
        FROM unnest($2) WITH ORDINALITY AS n (token, place)
            JOIN device AS d ON d.digest = token_digest($1, n.token)
        WHERE d.removed_at IS NULL ORDER BY n.place
        """, isReadOnly: true)
    /// Locks in the order of the digests, as imports do.
    static let lock = PostgresStatement(
        """
        SELECT n.place, d.id FROM unnest($2) WITH ORDINALITY AS n (token, place)
            JOIN device AS d ON d.digest = token_digest($1, n.token)
        WHERE d.removed_at IS NULL ORDER BY d.digest FOR UPDATE OF d
        """)

    private func store(_ sightings: [Sighting], at now: Timestamp) throws {
        try write(.requests, "storing the versions of devices") { session in
            var writer = SightingWriter(UpgradeMarks(), at: now, session)
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
                // One after the other, in the order in which they came: a device may be listed twice.
                for place in (0..<locked.count).map({ Int(locked.integer($0, 0)) - 1 }).sorted() {
                    let device = try session.first(RegistryTable.seen, id, tokens[place]) { SeenDevice.read(&$0) }
                    try writer.store(sightings[place], of: device, app: id)
                }
            }
            try writer.finish()
        }
    }
}
