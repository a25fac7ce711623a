// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements
package import UpgradeRules
import WireFormat

extension SQLStore {
    package func seenVersions(of app: AppKey) throws -> SeenVersions {
        try readOnce("reading the versions seen") { connection in
            let rows = try connection.all(
                """
                SELECT s.version, s.devices FROM version_seen AS s JOIN app AS a ON a.id = s.app_id
                WHERE a.name = ? AND a.platform = ? ORDER BY s.devices DESC, s.version LIMIT 1000
                """, app.app, app.platform
            ) { ($0.version(), $0.integer()) }
            var seen = Self.seen(rows)
            seen.systems = try Self.systems(of: app, connection)
            return seen
        }
    }

    /// Each query finds the next one in the index `device_system`: the cost grows with the systems, not the devices.
    private static func systems(of app: AppKey, _ connection: Connection) throws -> [Version] {
        guard let id = try AppTable.id(of: app, connection) else { return [] }
        var systems: [Version] = []
        var last = ""
        while systems.count < 1000,
            let next = try connection.first(nextSystem, id, last, row: { $0.optionalText() }) ?? nil
        {
            // Leaves out a system that no phone runs: otherwise one typing error would keep the launch document from
            // forcing any device.
            if ValueDoubt.system(next.utf8) == nil, let version = try? Version(next) { systems.append(version) }
            last = next
        }
        return systems
    }

    /// The next system of an app (?1) after one (?2); NULL: none.
    package static var nextSystem: SQL {
        """
        SELECT min(os_version) FROM device WHERE app_id = ?1 AND os_version > ?2 AND os_version IS NOT NULL AND removed_at IS NULL
        """
    }

    package func seenVersions() throws -> [AppKey: SeenVersions] {
        let apps = try readOnce("listing apps") { connection in
            try connection.all("SELECT name, platform FROM app") { AppKey(app: $0.text(), platform: $0.platform()) }
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
