// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import StoreSQL

extension SQLiteStore {
    @discardableResult
    package func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int {
        // One snapshot for all: a statement by itself takes and releases a lock of its own, two system calls.
        let look = try read("looking for devices") { connection in
            let find = try connection.prepared(DeviceTable.seen)
            defer { find.clear() }
            var apps: [AppKey: Int64?] = [:]
            var look = SightingLook(at: now)
            for var sighting in sightings {
                if apps[sighting.app] == nil {
                    apps.updateValue(try AppTable.id(of: sighting.app, connection), forKey: sighting.app)
                }
                guard case let app?? = apps[sighting.app] else { continue }
                sighting.token = sighting.app.platform.stored(sighting.token)
                find.bind(1, app)
                find.bind(2, sighting.token)
                find.bind(3, DeviceTable.hash(sighting.token))
                defer { find.reset() }
                guard try find.step() else { continue }
                var columns = find.columns
                try look.take(sighting, of: SeenDevice.read(&columns), app: app, connection)
            }
            return look
        }
        var left = look.news[...]
        while !left.isEmpty { try store(&left, at: now) }
        return look.known
    }

    /// Stores versions from the front of `sightings`, until all are stored or another caller waits for the writer.
    private func store(_ sightings: inout ArraySlice<Sighting>, at now: Timestamp) throws {
        try write("storing the versions of devices") { connection in
            var writer = SightingWriter(UpgradeMarks(notifies: true), at: now, connection)
            while let sighting = sightings.first, writer.work < Self.least || !isWriterWanted {
                sightings.removeFirst()
                guard let app = try AppTable.id(of: sighting.app, connection) else { continue }
                let device = try connection.first(
                    DeviceTable.seen, app, sighting.token, DeviceTable.hash(sighting.token)
                ) { SeenDevice.read(&$0) }
                try writer.store(sighting, of: device, app: app)
            }
            try writer.finish()
        }
    }
}
