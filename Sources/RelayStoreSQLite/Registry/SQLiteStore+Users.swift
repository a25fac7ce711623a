// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import StoreSQL
import Synchronization
import UpgradeRules

/// What is known of one user, and that it is forgotten.
extension SQLiteStore {
    package func devices(telephone: String?, token: String?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("looking for a user's devices") { connection in
            guard let token else {
                guard let telephone else { return [] }
                return try connection.all(
                    DeviceTable.pageOfUser, telephone, after, max(limit, 0), row: DeviceRecord.init)
            }
            // One in each app at most.
            let found = try AppTable.all(connection).compactMap {
                try DeviceTable.device($0.key, token: token, connection)
            }
            return found.sorted { $0.id < $1.id }.filter {
                $0.id > after
                    && (telephone == nil || TelephoneRule.matches($0.registration.telephone, telephone))
            }
            .prefix(max(limit, 0)).map(\.self)
        }
    }

    package func eraseUser(
        _ telephone: String, by actor: Signature, where isMeant: (AppKey) -> Bool
    ) throws -> UserErasure {
        let erasure = try write("erasing a user") { connection in
            var erasure = UserErasure()
            var seen = SeenTally()
            let apps = try AppTable.all(connection).filter { isMeant($0.key) }
            let meant = Set(apps.map(\.id))
            try judge(actor, .user(telephone, apps: apps.map(\.key)), connection)
            let devices = try ListedDevice.all(ofUser: telephone, connection).filter { meant.contains($0.app) }
            let now = options.ticks()
            erased.withLock { erased in
                // What was on its way longer ago has been recorded.
                erased = erased.filter { now - $0.value < .seconds(3600) }
                for device in devices { erased[device.id] = now }
            }
            for device in devices {
                if !device.isRemoved, TelephoneRule.matches(device.telephone, telephone) {
                    let version = try connection.first(
                        "SELECT version FROM device WHERE id = ?", device.id
                    ) { $0.version(0) }
                    try DeviceTable.remove(device.id, of: device.app, version ?? nil, &seen, connection)
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
            try connection.run(
                """
                DELETE FROM requirement_canary WHERE telephone = ?1 AND requirement_id IN (
                    SELECT r.id FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
                    WHERE a.id IN (SELECT value FROM json_each(?2)))
                """, telephone, "[" + meant.sorted().map(String.init).joined(separator: ",") + "]")
            try seen.store(connection)
            if erasure != UserErasure() {
                let known = Set(devices.map(\.app))
                try AuditTable.insert(
                    .erasure(of: telephone, erasure, in: apps.filter { known.contains($0.id) }.map(\.key), by: actor),
                    connection)
            }
            return erasure
        }
        // A canary may have named that user.
        decisions.tell(.other)
        return erasure
    }

    package func devices(token: String, _ connection: SQLiteConnection) throws -> [ListedDevice] {
        try AppTable.all(connection).compactMap { app, key in
            let token = key.platform.stored(token)
            return try connection.first(
                "SELECT \(ListedDevice.columns) FROM device \(DeviceTable.isToken)", app, token, DeviceTable.hash(token)
            ) { ListedDevice($0) }
        }.sorted { $0.id < $1.id }
    }
}
