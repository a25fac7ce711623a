// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import StoreSQL
import UpgradeRules

/// What is known of one user, and that it is forgotten.
extension PostgresStore {
    package func devices(telephone: String?, token: String?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("looking for a user's devices") { session in
            guard let token else {
                guard let telephone else { return [] }
                return try session.all(
                    RegistryTable.pageOfUser, telephone, after, max(limit, 0), row: DeviceRecord.init)
            }
            // One in each app at most.
            let found = try AppTable.all(session).compactMap { try RegistryTable.device($0.key, token: token, session) }
            return found.sorted { $0.id < $1.id }.filter {
                $0.id > after
                    && (telephone == nil || TelephoneRule.matches($0.registration.telephone, telephone))
            }
            .prefix(max(limit, 0)).map(\.self)
        }
    }

    package func devices(token: String, _ session: PostgresSession) throws -> [ListedDevice] {
        try AppTable.all(session).compactMap { app, key in
            try session.first(
                "SELECT \(ListedDevice.columns) FROM device WHERE digest = token_digest(?, ?)", app,
                PackedToken.packed(key.platform.stored(token).utf8)
            ) { ListedDevice($0) }
        }.sorted { $0.id < $1.id }
    }

    package func eraseUser(
        _ telephone: String, by actor: Signature, where isMeant: (AppKey) -> Bool
    ) throws -> UserErasure {
        let erasure = try write(.requests, "erasing a user") { session in
            var erasure = UserErasure()
            var tally = RegistryTally()
            let apps = try AppTable.all(session).filter { isMeant($0.key) }
            let meant = Set(apps.map(\.id))
            // Whoever registers one of them meanwhile comes before or after.
            _ = try session.all(
                "SELECT id FROM device WHERE telephone = ? ORDER BY digest FOR UPDATE", telephone
            ) { $0.integer(0) }
            try judge(actor, .user(telephone, apps: apps.map(\.key)), session)
            let devices = try ListedDevice.all(ofUser: telephone, session).filter { meant.contains($0.app) }
            for device in devices {
                if !device.isRemoved, TelephoneRule.matches(device.telephone, telephone) {
                    let version = try session.first("SELECT version FROM device WHERE id = ?", device.id) {
                        $0.optionalText(0)
                    }
                    try RegistryTable.remove(device.id, of: device.app, version ?? nil, &tally, session)
                    erasure.devices += 1
                }
                erasure.former += Int64(
                    try session.run(
                        "DELETE FROM former_telephone WHERE telephone = ? AND device_id = ?", telephone, device.id))
                // A push that is on its way then must not bring the telephone back (`CommitWriter`).
                try session.run(
                    """
                    INSERT INTO erased_device (device_id, at) VALUES (?, now_ms())
                    ON CONFLICT (device_id) DO UPDATE SET at = excluded.at
                    """, device.id)
            }
            for (app, devices) in Dictionary(grouping: devices, by: \.app).sorted(by: { $0.key < $1.key }) {
                erasure.deliveries += try DeliveryTable.erase(
                    telephone, fromDeliveriesTo: devices.map(\.id), of: app, session)
            }
            for app in meant.sorted() {
                try session.run(
                    """
                    DELETE FROM requirement_canary WHERE telephone = ? AND requirement_id IN (
                        SELECT r.id FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
                        WHERE a.id = ?)
                    """, telephone, app)
            }
            try tally.store(session)
            if erasure != UserErasure() {
                let known = Set(devices.map(\.app))
                try AuditTable.insert(
                    .erasure(of: telephone, erasure, in: apps.filter { known.contains($0.id) }.map(\.key), by: actor),
                    session)
            }
            return erasure
        }
        // A canary may have named that user.
        decisions.tell(.other)
        return erasure
    }
}
