// SPDX-License-Identifier: Apache-2.0
import Registry
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
                let rule = LoginRule(
                    sighting, version: find.optionalText(0), system: find.optionalText(2), lastReport: find.time(3),
                    now: now)
                if sighting.toldAtLogin != nil || rule.isNews {
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
                ) { ($0.integer(0), $0.optionalText(1), $0.time(2), $0.optionalText(3)) }
                guard let (id, oldVersion, lastReport, oldSystem) = device else { continue }
                // First: a device that comes up to the requirement now had been told before.
                if let requirement = sighting.toldAtLogin { try told.told(id, of: requirement, app: app, connection) }
                let rule = LoginRule(
                    sighting, version: oldVersion, system: oldSystem, lastReport: lastReport, now: now)
                let old = oldVersion.flatMap { try? Version($0) }
                let verdict = rule.verdict(of: sighting, version: old, system: oldSystem)
                if verdict.isSeen {
                    try connection.run(
                        """
                        UPDATE device SET seen_at = ?1, version = iif(?2, ?3, version), os_version = iif(?4, ?5, os_version)
                        WHERE id = ?6
                        """, rule.at, verdict.writes.contains(.version), sighting.version,
                        verdict.writes.contains(.system), sighting.system, id)
                }
                guard verdict.writes.contains(.version) else { continue }
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
