// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore

extension DeviceRecord: Selection {
    /// The columns that `read` reads, of the tables `device` (d) and `app` (a).
    package static let columns: SQL = """
        d.id, a.name, a.platform, d.token, d.telephone, d.version, d.environment, d.os_version, d.country,
            d.registered_at, d.retired_at, d.seen_at
        """

    package static func read(_ row: inout Columns<some SQLRow>) -> DeviceRecord {
        var record = DeviceRecord(
            id: row.integer(),
            registration: DeviceRegistration(
                app: row.app(), token: row.text(), telephone: row.optionalText(), version: row.version(),
                environment: row.environment(), osVersion: row.version(), country: row.optionalText()),
            registeredAt: row.time(), retiredAt: row.optionalTime())
        record.seenAt = row.optionalTime()
        return record
    }
}
