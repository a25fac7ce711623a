// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
import UpgradeRules

/// The fields of a device that a login is compared with.
package struct SeenDevice {
    package var id: Int64
    package var version: String?
    package var system: String?
    /// The last time at which it reported a version, by registering or at login.
    package var lastReport: Timestamp

    package init(id: Int64, version: String?, system: String?, lastReport: Timestamp) {
        (self.id, self.version, self.system, self.lastReport) = (id, version, system, lastReport)
    }
}

extension SeenDevice: Selection {
    /// Columns of `device`.
    package static let columns: SQL = """
        id, version, os_version, CASE WHEN seen_at > registered_at THEN seen_at ELSE registered_at END
        """

    package static func read(_ row: inout Columns<some SQLRow>) -> SeenDevice {
        SeenDevice(id: row.integer(), version: row.optionalText(), system: row.optionalText(), lastReport: row.time())
    }
}

/// Finds the logins that bring news. Most bring none, and then wait neither for the writer nor for the disk.
package struct SightingLook: Sendable {
    private let now: Timestamp
    private var notices = LoginNoticeTally()
    /// The number of logins whose device is known.
    package private(set) var known = 0
    /// Logins to store, in the order in which they came.
    package private(set) var news: [Sighting] = []

    package init(at now: Timestamp) {
        self.now = now
    }

    /// - Parameter device: the login's device, which is not removed.
    package mutating func take(
        _ sighting: Sighting, of device: SeenDevice, app: Int64, _ connection: some SQLConnection
    ) throws {
        known += 1
        var sighting = sighting
        // The first login of a device that is behind is noted; later ones write nothing.
        if let requirement = sighting.toldAtLogin {
            let campaign = try notices.campaign(of: requirement, app: app, connection)
            let isNew = try campaign.map { try !LoginNoticeTable.isNotified(device.id, in: $0, connection) }
            if isNew != true { sighting.toldAtLogin = nil }
        }
        let rule = LoginRule(
            sighting, version: device.version, system: device.system, lastReport: device.lastReport, now: now)
        if sighting.toldAtLogin != nil || rule.isNews { news.append(sighting) }
    }
}

/// Stores logins within one transaction.
package struct SightingWriter<Upgrades: UpgradeTallying> {
    private let now: Timestamp
    private let connection: Upgrades.Connection
    private var upgrades: Upgrades
    private var tally = RegistryTally()
    private var notices = LoginNoticeTally()
    private var logins = 0

    package init(_ upgrades: Upgrades, at now: Timestamp, _ connection: Upgrades.Connection) {
        (self.upgrades, self.now, self.connection) = (upgrades, now, connection)
    }

    /// The effort so far, in the cost of registering a device.
    package var work: Int { logins + upgrades.work }

    /// - Parameter device: the login's device; nil: it was removed since it was looked up.
    package mutating func store(_ sighting: Sighting, of device: SeenDevice?, app: Int64) throws {
        logins += 1
        guard let device else { return }
        // Comes first: a device that reaches the requirement now was notified before.
        if let requirement = sighting.toldAtLogin {
            try notices.add(device.id, of: requirement, app: app, connection)
        }
        let rule = LoginRule(
            sighting, version: device.version, system: device.system, lastReport: device.lastReport, now: now)
        let old = device.version.flatMap { try? Version($0) }
        let verdict = rule.verdict(of: sighting, version: old, system: device.system)
        if verdict.isSeen {
            try connection.run(
                """
                UPDATE device SET seen_at = ?1, version = CASE WHEN ?2 = 1 THEN ?3 ELSE version END,
                    os_version = CASE WHEN ?4 = 1 THEN ?5 ELSE os_version END
                WHERE app_id = ?6 AND id = ?7
                """, rule.at, verdict.writes.contains(.version), sighting.version, verdict.writes.contains(.osVersion),
                sighting.system, app, device.id)
        }
        guard verdict.writes.contains(.version) else { return }
        try upgrades.saw(sighting.version, after: old, device: device.id, app: app, connection)
        tally.left(device.version, app: app)
        tally.came(sighting.version.text, app: app)
    }

    /// Must come last in the transaction.
    package mutating func finish() throws {
        for (campaign, devices) in notices.gained { tally.notified(devices, of: campaign) }
        try upgrades.store(connection)
        try tally.store(connection)
    }
}
