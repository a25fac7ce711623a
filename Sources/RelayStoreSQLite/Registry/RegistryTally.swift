// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StoreSQL
package import UpgradeRules

package struct RegistryTally: RegistryTallying {
    private var devices: [Int64: Int64] = [:]
    private var told: [Int64: Int64] = [:]
    /// Devices that came to a version, less those that left it, by app and version; an empty one is unknown.
    private var changes: [Int64: [String: Int64]] = [:]
    /// The last few versions that came: imports bring the same ones many times over, and those are counted without a look
    /// into the tables.
    private var recent: [Run] = []

    private struct Run {
        var app: Int64
        /// UTF-8; empty: an unknown version.
        var version: [UInt8]
        var devices: Int64
    }

    private static let mostRecent = 8

    package init() {}

    package mutating func gained(_ devices: Int64, app: Int64) { self.devices[app, default: 0] += devices }
    package mutating func told(_ devices: Int64, of campaign: Int64) { told[campaign, default: 0] += devices }

    package mutating func came(_ version: Version?, app: Int64) {
        var text = version?.text ?? ""
        text.withUTF8 { unsafe came(UnsafeRawBufferPointer($0), app: app) }
    }

    /// The same for a version that is a slice of an arena.
    mutating func came(_ version: ByteSlice, of arena: UnsafeRawBufferPointer, app: Int64) {
        unsafe came(UnsafeRawBufferPointer(rebasing: version.isAbsent ? arena[..<0] : arena[version.range]), app: app)
    }

    private mutating func came(_ version: UnsafeRawBufferPointer, app: Int64) {
        for index in recent.indices where recent[index].app == app {
            if unsafe recent[index].version.elementsEqual(version) {
                recent[index].devices += 1
                return
            }
        }
        if recent.count == Self.mostRecent { keepRecent() }
        recent.append(Run(app: app, version: unsafe Array(version), devices: 1))
    }

    package mutating func left(_ version: Version?, app: Int64) {
        changes[app, default: [:]][version?.text ?? "", default: 0] -= 1
    }

    package mutating func store(_ connection: SQLiteConnection) throws {
        keepRecent()
        for (app, devices) in devices.sorted(by: { $0.key < $1.key }) where devices != 0 {
            try connection.run("UPDATE app SET devices = max(devices + ?, 0) WHERE id = ?", devices, app)
        }
        for (campaign, devices) in told.sorted(by: { $0.key < $1.key }) {
            try connection.run("UPDATE campaign SET told = told + ? WHERE id = ?", devices, campaign)
        }
        for (app, versions) in changes.sorted(by: { $0.key < $1.key }) {
            for (version, devices) in versions.sorted(by: { $0.key < $1.key }) where devices != 0 {
                try connection.run(
                    """
                    INSERT INTO version_seen (app_id, version, devices) VALUES (?1, ?2, max(?3, 0))
                    ON CONFLICT (app_id, version) DO UPDATE SET devices = max(devices + ?3, 0)
                    """, app, version, devices)
            }
            try connection.run("DELETE FROM version_seen WHERE app_id = ? AND devices = 0", app)
        }
        changes.removeAll()
    }

    private mutating func keepRecent() {
        for run in recent {
            changes[run.app, default: [:]][String(decoding: run.version, as: UTF8.self), default: 0] += run.devices
        }
        recent.removeAll(keepingCapacity: true)
    }
}
