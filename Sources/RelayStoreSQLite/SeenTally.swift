// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules

/// Devices that came to a version or left it, gathered within one transaction and written at its end.
struct SeenTally {
    private var changes: [Int64: [String: Int64]] = [:]
    /// Imports come with the same version many times over: those in a row are counted without a look into the tables.
    private var run: (app: Int64, version: String, devices: Int64)?

    /// nil: a version that nobody knows.
    mutating func came(_ version: Version?, app: Int64) {
        let text = version?.text ?? ""
        if let last = run, last.app == app, last.version == text {
            run = (app, text, last.devices + 1)
            return
        }
        keepRun()
        run = (app, text, 1)
    }

    mutating func left(_ version: Version?, app: Int64) {
        changes[app, default: [:]][version?.text ?? "", default: 0] -= 1
    }

    mutating func store(_ connection: Connection) throws {
        keepRun()
        for (app, versions) in changes {
            for (version, devices) in versions where devices != 0 {
                try connection.run(
                    """
                    INSERT INTO version_seen (app_id, version, devices) VALUES (?1, ?2, max(?3, 0))
                    ON CONFLICT (app_id, version) DO UPDATE SET devices = max(devices + ?3, 0)
                    """, .integer(app), .text(version), .integer(devices))
            }
            try connection.run("DELETE FROM version_seen WHERE app_id = ? AND devices = 0", .integer(app))
        }
        changes.removeAll()
    }

    private mutating func keepRun() {
        guard let run else { return }
        changes[run.app, default: [:]][run.version, default: 0] += run.devices
        self.run = nil
    }
}
