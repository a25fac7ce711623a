// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Requirements
import UpgradeRules

extension RegistrySQL {
    package func eraseUser(
        _ telephone: String, by actor: Signature, where isMeant: (AppKey) -> Bool
    ) throws -> UserErasure {
        let erasure = try write("erasing a user", lock: .rows) { connection in
            var erasure = UserErasure()
            var tally = RegistryTally()
            let apps = try AppTable.all(connection).filter { isMeant($0.key) }
            let meant = Set(apps.map(\.id))
            try lock(devicesOf: telephone, connection)
            try judge(actor, .user(telephone, apps: apps.map(\.key)), connection)
            let devices = try ListedDevice.all(ofUser: telephone, connection).filter { meant.contains($0.app) }
            try forgetOnItsWay(to: devices.map(\.id), connection)
            for device in devices {
                if !device.isRemoved, TelephoneRule.matches(device.telephone, telephone) {
                    let version = try connection.first("SELECT version FROM device WHERE id = ?", device.id) {
                        $0.optionalText()
                    }
                    try Self.remove(device.id, of: device.app, version ?? nil, &tally, connection)
                    erasure.devices += 1
                }
                erasure.former += Int64(
                    try connection.run(
                        "DELETE FROM former_telephone WHERE telephone = ? AND device_id = ?", telephone, device.id))
            }
            for (app, devices) in Dictionary(grouping: devices, by: \.app).sorted(by: { $0.key < $1.key }) {
                erasure.deliveries += try DeliveryTable.erase(
                    telephone, fromDeliveriesTo: devices.map(\.id), of: app, connection)
            }
            for app in meant.sorted() {
                try connection.run(
                    """
                    DELETE FROM requirement_canary WHERE telephone = ? AND requirement_id IN (
                        SELECT r.id FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
                        WHERE a.id = ?)
                    """, telephone, app)
            }
            for app in apps { try ApprovalTable.erase(telephone, of: app.key, connection) }
            try tally.store(connection)
            if erasure != UserErasure() {
                let known = Set(devices.map(\.app))
                try AuditTable.insert(
                    .erasure(of: telephone, erasure, in: apps.filter { known.contains($0.id) }.map(\.key), by: actor),
                    connection)
            }
            return erasure
        }
        // A canary may have named that user.
        decisions.post(.other)
        return erasure
    }
}
