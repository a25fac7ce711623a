// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The numbers of devices that one transaction changes: how many an app has, how many run each version, and how many were
/// notified at login. Written at its end, in one order.
///
/// SQLite keeps them in the rows of the app and the campaign. In PostgreSQL they are spread over 16 rows by session, so
/// that sessions seldom wait for each other.
package struct RegistryTally {
    private var devices: [Int64: Int64] = [:]
    private var notified: [Int64: Int64] = [:]
    /// Devices that came to a version, less those that left it, by app and version as the devices spell it; an empty one is unknown.
    private var changes: [Int64: [String: Int64]] = [:]
    /// The last few versions that came: imports bring the same ones many times over, and those are counted without a
    /// look-up in `changes`.
    private var recent: [Run] = []

    private struct Run {
        var app: Int64
        /// UTF-8; empty: an unknown version.
        var version: [UInt8]
        var devices: Int64
    }

    private static let mostRecent = 8

    package init() {}

    /// Notes that an app has gained registered devices; a negative number: lost them.
    package mutating func gained(_ devices: Int64, app: Int64) { self.devices[app, default: 0] += devices }

    /// Notes that more devices of a campaign were notified at login.
    package mutating func notified(_ devices: Int64, of campaign: Int64) { notified[campaign, default: 0] += devices }

    /// Notes that a device now runs a version; nil: an unknown one.
    package mutating func came(_ version: String?, app: Int64) {
        var text = version ?? ""
        text.withUTF8 { unsafe came(UnsafeRawBufferPointer($0), app: app) }
    }

    /// The same for a version that is a slice of an arena.
    package mutating func came(_ version: ByteSlice, of arena: UnsafeRawBufferPointer, app: Int64) {
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

    /// Notes that a device no longer runs a version; nil: an unknown one.
    package mutating func left(_ version: String?, app: Int64) {
        changes[app, default: [:]][version ?? "", default: 0] -= 1
    }

    private mutating func keepRecent() {
        for run in recent {
            changes[run.app, default: [:]][String(decoding: run.version, as: UTF8.self), default: 0] += run.devices
        }
        recent.removeAll(keepingCapacity: true)
    }

    package mutating func store(_ connection: some SQLConnection) throws {
        keepRecent()
        let isOneWriter = connection.dialect == .sqlite
        for (app, devices) in devices.sorted(by: { $0.key < $1.key }) where devices != 0 {
            try connection.run(
                isOneWriter
                    ? "UPDATE app SET devices = max(devices + ?2, 0) WHERE id = ?1"
                    : """
                    INSERT INTO app_tally AS t (app_id, devices) VALUES (?1, ?2)
                    ON CONFLICT (app_id, slot) DO UPDATE SET devices = t.devices + excluded.devices
                    """, app, devices)
        }
        for (campaign, devices) in notified.sorted(by: { $0.key < $1.key }) {
            try connection.run(
                isOneWriter
                    ? "UPDATE campaign SET told = told + ?2 WHERE id = ?1"
                    : """
                    INSERT INTO campaign_tally AS t (campaign_id, told) VALUES (?1, ?2)
                    ON CONFLICT (campaign_id, slot) DO UPDATE SET told = t.told + excluded.told
                    """, campaign, devices)
        }
        for (app, versions) in changes.sorted(by: { $0.key < $1.key }) {
            for (version, devices) in versions.sorted(by: { $0.key < $1.key }) where devices != 0 {
                try connection.run(
                    isOneWriter
                        ? """
                        INSERT INTO version_seen (app_id, version, devices) VALUES (?1, ?2, max(?3, 0))
                        ON CONFLICT (app_id, version) DO UPDATE SET devices = max(devices + ?3, 0)
                        """
                        : """
                        INSERT INTO version_tally AS t (app_id, version, devices) VALUES (?1, ?2, ?3)
                        ON CONFLICT (app_id, version, slot) DO UPDATE SET devices = t.devices + excluded.devices
                        """, app, version, devices)
            }
            if isOneWriter { try connection.run("DELETE FROM version_seen WHERE app_id = ? AND devices = 0", app) }
        }
        changes.removeAll()
    }
}
