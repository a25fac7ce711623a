// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StoreSQL
package import UpgradeRules

/// The changes of one transaction to the numbers of devices, written at its end: to the session's own rows, so that no
/// session waits for another's, and in one order.
package struct RegistryTally: RegistryTallying {
    private var devices: [Int64: Int64] = [:]
    private var told: [Int64: Int64] = [:]
    /// By app and version as the devices spell it; empty: an unknown version.
    private var versions: [Int64: [String: Int64]] = [:]

    package init() {}

    package mutating func came(_ version: Version?, app: Int64) { came(version?.text, app: app) }
    package mutating func left(_ version: Version?, app: Int64) { left(version?.text, app: app) }
    package mutating func told(_ devices: Int64, of campaign: Int64) { told[campaign, default: 0] += devices }

    mutating func came(_ version: String?, app: Int64) { versions[app, default: [:]][version ?? "", default: 0] += 1 }
    mutating func left(_ version: String?, app: Int64) { versions[app, default: [:]][version ?? "", default: 0] -= 1 }

    /// Devices that have become registered.
    package mutating func gained(_ count: Int64, app: Int64) { devices[app, default: 0] += count }

    package func store(_ session: PostgresSession) throws {
        for (app, count) in devices.sorted(by: { $0.key < $1.key }) where count != 0 {
            try session.run(
                """
                INSERT INTO app_tally AS t (app_id, devices) VALUES (?, ?)
                ON CONFLICT (app_id, slot) DO UPDATE SET devices = t.devices + excluded.devices
                """, app, count)
        }
        for (campaign, count) in told.sorted(by: { $0.key < $1.key }) {
            try session.run(
                """
                INSERT INTO campaign_tally AS t (campaign_id, told) VALUES (?, ?)
                ON CONFLICT (campaign_id, slot) DO UPDATE SET told = t.told + excluded.told
                """, campaign, count)
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
