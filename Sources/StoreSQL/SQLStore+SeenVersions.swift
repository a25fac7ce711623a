// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import UpgradeRules

extension SQLStore {
    package func seenVersions(of app: AppKey) throws -> SeenVersions {
        try readOnce("reading the versions seen") { connection in
            let rows = try connection.all(
                """
                SELECT s.version, s.devices FROM version_seen AS s JOIN app AS a ON a.id = s.app_id
                WHERE a.name = ? AND a.platform = ? ORDER BY s.devices DESC, s.version LIMIT 1000
                """, app.app, app.platform
            ) { ($0.version(0), $0.integer(1)) }
            return Self.seen(rows)
        }
    }

    package func seenVersions() throws -> [AppKey: SeenVersions] {
        let apps = try readOnce("listing apps") { connection in
            try connection.all("SELECT name, platform FROM app") { AppKey(app: $0.text(0), platform: $0.platform(1)) }
        }
        var seen: [AppKey: SeenVersions] = [:]
        for app in apps { seen[app] = try seenVersions(of: app) }
        return seen
    }

    private static func seen(_ rows: [(version: Version?, devices: Int64)]) -> SeenVersions {
        var seen = SeenVersions()
        for row in rows {
            if let version = row.version {
                seen.versions.append(SeenVersion(version: version, devices: row.devices))
            } else {
                seen.unknown += row.devices
            }
        }
        return seen
    }
}
