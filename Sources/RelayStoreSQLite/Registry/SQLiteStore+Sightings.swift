// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension SQLiteStore {
    @discardableResult
    package func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int {
        // Most logins bring no news, and none must wait for the writer or for the disk then.
        // One snapshot for all: a statement by itself takes and gives back the lock of its own, two system calls.
        let (known, news) = try read("looking for devices") { connection in
            let find = try connection.prepared(DeviceTable.version)
            defer { find.clear() }
            var apps: [AppKey: Int64?] = [:]
            var told = ToldTally()
            var known = 0
            var news: [Sighting] = []
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
                known += 1
                // Of a device that is behind, the first login is noted; its later ones write nothing.
                if let requirement = sighting.toldAtLogin {
                    let campaign = try told.campaign(of: requirement, app: app, connection)
                    let isNew = try campaign.map {
                        try !ToldTable.wasTold(find.integer(1), in: $0, connection)
                    }
                    if isNew != true { sighting.toldAtLogin = nil }
                }
                let hasOtherSystem = sighting.system.map { find.optionalText(2) != $0.text } ?? false
                let isLongAgo = Sighting.isLongAgo(find.time(3), at: min(sighting.at ?? now, now))
                if sighting.toldAtLogin != nil || find.text(0) != sighting.version.text || hasOtherSystem || isLongAgo {
                    news.append(sighting)
                }
            }
            return (known, news)
        }
        var left = news[...]
        while !left.isEmpty { try store(&left, at: now) }
        return known
    }

    /// Stores versions from the front of `sightings`, until all are stored or somebody else wants to write.
    private func store(_ sightings: inout ArraySlice<Sighting>, at now: Timestamp) throws {
        try write("storing the versions of devices") { connection in
            var upgrades = UpgradeTally(tells: true)
            var seen = SeenTally()
            var told = ToldTally()
            var work = 0
            while let sighting = sightings.first, work + upgrades.work < Self.least || !isWriterWanted {
                sightings.removeFirst()
                work += 1
                guard let app = try AppTable.id(of: sighting.app, connection) else { continue }
                let device = try connection.first(
                    """
                    SELECT id, version, max(registered_at, coalesce(seen_at, registered_at)), os_version FROM device
                    \(DeviceTable.isToken) AND removed_at IS NULL
                    """, app, sighting.token, DeviceTable.hash(sighting.token)
                ) { ($0.integer(0), $0.version(1), $0.time(2), $0.version(3)) }
                guard let (id, old, lastTold, oldSystem) = device else { continue }
                let at = min(sighting.at ?? now, now)
                // First: who comes up to the requirement now had been told before.
                if let requirement = sighting.toldAtLogin { try told.told(id, of: requirement, app: app, connection) }
                // It waited while the device told a newer one: an app is not downgraded without being registered anew.
                if at <= lastTold, let old, sighting.version < old { continue }
                if let system = sighting.system, at > lastTold || oldSystem.map({ system >= $0 }) ?? true {
                    try connection.run(
                        "UPDATE device SET os_version = ?1, seen_at = ?2 WHERE id = ?3 AND os_version IS NOT ?1",
                        system,
                        at, id)
                }
                guard old?.text != sighting.version.text else {
                    if Sighting.isLongAgo(lastTold, at: at) {
                        try connection.run("UPDATE device SET seen_at = ? WHERE id = ?", at, id)
                    }
                    continue
                }
                try connection.run("UPDATE device SET version = ?, seen_at = ? WHERE id = ?", sighting.version, at, id)
                try upgrades.saw(sighting.version, after: old, device: id, app: app, connection)
                seen.left(old, app: app)
                seen.came(sighting.version, app: app)
            }
            try told.store(connection)
            try upgrades.store(connection)
            try seen.store(connection)
        }
    }
}
