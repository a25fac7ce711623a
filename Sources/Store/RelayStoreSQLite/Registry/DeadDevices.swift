// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL

/// The places of dead tokens among those of their app.
enum DeadDevices {
    private static let place: SQL = "UPDATE device AS d SET retired_order = ?1 WHERE d.id = ?2 AND \(DeadTable.isDead)"

    /// Places devices of an app whose tokens have just died, in their order; a device may be listed twice.
    static func place(_ devices: [Int64], of app: Int64, at now: Timestamp, _ connection: SQLiteConnection) throws {
        guard !devices.isEmpty else { return }
        let before = try DeadTable.take(devices.count, of: app, at: now, connection)
        for (number, device) in devices.enumerated() {
            // The token may have come back to life since, in the same transaction.
            try connection.run(place, before.order + Int64(number) + 1, device)
        }
    }

    /// Removes the place of a device whose token lives again.
    static func forget(_ device: Int64, _ connection: SQLiteConnection) throws {
        try connection.run("UPDATE device SET retired_order = NULL WHERE id = ?", device)
    }
}
