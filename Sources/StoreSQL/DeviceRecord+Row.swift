// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore

extension DeviceRecord {
    /// What `init` reads, of the tables `device` (d) and `app` (a).
    package static let columns: SQL = """
        SELECT d.id, a.name, a.platform, d.token, d.telephone, d.version, d.environment, d.registered_at, d.retired_at, d.seen_at,
            d.os_version, d.country
        """

    package init(_ row: some SQLRow) {
        self.init(
            id: row.integer(0),
            registration: DeviceRegistration(
                app: AppKey(app: row.text(1), platform: row.platform(2)), token: row.text(3),
                telephone: row.optionalText(4), version: row.version(5), environment: row.environment(6),
                osVersion: row.version(10), country: row.optionalText(11)),
            registeredAt: row.time(7), retiredAt: row.optionalTime(8))
        seenAt = row.optionalTime(9)
    }
}
