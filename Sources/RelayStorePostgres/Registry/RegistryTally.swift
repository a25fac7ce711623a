// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StoreSQL
import UpgradeRules

/// What one transaction changes of the numbers of devices, written at its end: in the session's own rows, so that none waits for
/// another's, and in one order.
struct RegistryTally {
    private var devices: [Int64: Int64] = [:]
    /// By app and version as the devices spell it; empty: a version that nobody knows.
    private var versions: [Int64: [String: Int64]] = [:]

    mutating func came(_ version: String?, app: Int64) { versions[app, default: [:]][version ?? "", default: 0] += 1 }
    mutating func left(_ version: String?, app: Int64) { versions[app, default: [:]][version ?? "", default: 0] -= 1 }

    /// Devices that are registered, and were not.
    mutating func gained(_ count: Int64, app: Int64) { devices[app, default: 0] += count }

    func store(_ session: PostgresSession) throws {
        for (app, count) in devices.sorted(by: { $0.key < $1.key }) where count != 0 {
            try session.run(
                """
                INSERT INTO app_tally AS t (app_id, devices) VALUES (?, ?)
                ON CONFLICT (app_id, slot) DO UPDATE SET devices = t.devices + excluded.devices
                """, app, count)
        }
        for (app, versions) in versions.sorted(by: { $0.key < $1.key }) {
            for (version, count) in versions.sorted(by: { $0.key < $1.key }) where count != 0 {
                try session.run(
                    """
                    INSERT INTO version_tally AS t (app_id, version, devices) VALUES (?, ?, ?)
                    ON CONFLICT (app_id, version, slot) DO UPDATE SET devices = t.devices + excluded.devices
                    """, app, version, count)
            }
        }
    }
}
