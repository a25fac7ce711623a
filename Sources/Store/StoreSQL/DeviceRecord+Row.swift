// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import RelayStore

extension DeviceRecord: Selection {
    /// The columns that `read` reads, of the tables `device` (d) and `app` (a).
    package static let columns: SQL = """
        d.id, a.name, a.platform, d.token, \(DeviceField.values.map { "d.\($0.sql)" }),
            d.registered_at, d.retired_at, d.seen_at
        """

    package static func read(_ row: inout Columns<some SQLRow>) -> DeviceRecord {
        let id = row.integer()
        var device = DeviceRegistration(app: row.app(), token: row.text(), telephone: nil, version: nil)
        for field in DeviceField.values {
            if field == .environment {
                device.environment = row.channel().environment
            } else {
                device.take(row.optionalText(), as: field)
            }
        }
        var record = DeviceRecord(
            id: id, registration: device, registeredAt: row.time(), retiredAt: row.optionalTime())
        record.seenAt = row.optionalTime()
        return record
    }
}
