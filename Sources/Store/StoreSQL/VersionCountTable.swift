// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// The table `version_count`.
enum VersionCountTable {
    /// The names of devices of unknown version, and of those whose version has no row.
    private static let (unknown, others) = ("", "*")

    /// Keeps a count where it differs from the last one, and deletes those that are no longer kept (`VersionCourse`).
    static func keep(_ count: VersionCount, of app: Int64, _ connection: some SQLConnection) throws {
        // Those of later moments: the clock was set back.
        try connection.run("DELETE FROM version_count WHERE app_id = ? AND counted_at >= ?", app, count.at)
        let moments = try connection.all(
            "SELECT DISTINCT counted_at FROM version_count WHERE app_id = ? ORDER BY counted_at", app
        ) { $0.time() }
        if let last = moments.last, try counts(of: app, since: last, connection).last?.isSame(as: count) == true {
            return
        }
        for row in count.rows { try insert(row.version.text, row.devices, count.at, app, connection) }
        try insert(others, count.others, count.at, app, connection)
        try insert(unknown, count.unknown, count.at, app, connection)
        for moment in VersionCourse.surplus(of: moments + [count.at], at: count.at) {
            try connection.run("DELETE FROM version_count WHERE app_id = ? AND counted_at = ?", app, moment)
        }
    }

    private static func insert(
        _ version: String, _ devices: Int64, _ at: Timestamp, _ app: Int64, _ connection: some SQLConnection
    ) throws {
        guard devices > 0 else { return }
        try connection.run(
            "INSERT INTO version_count (app_id, counted_at, version, devices) VALUES (?, ?, ?, ?)", app, at, version,
            devices)
    }

    /// In order of time.
    static func counts(
        of app: Int64, since start: Timestamp = Timestamp(milliseconds: 0), _ connection: some SQLConnection
    ) throws -> [VersionCount] {
        var counts: [VersionCount] = []
        try connection.each(
            """
            SELECT counted_at, version, devices FROM version_count WHERE app_id = ? AND counted_at >= ?
            ORDER BY counted_at
            """, app, start
        ) { row in
            let (at, version, devices) = (row.time(), row.text(), row.integer())
            if counts.last?.at != at { counts.append(VersionCount(at: at, rows: [], others: 0, unknown: 0)) }
            let last = counts.count - 1
            if version == unknown {
                counts[last].unknown += devices
            } else if let version = try? Version(version) {
                counts[last].rows.append(VersionCount.Row(version: version, devices: devices))
            } else {
                counts[last].others += devices
            }
        }
        for index in counts.indices { counts[index].rows.sort { $0.version > $1.version } }
        return counts
    }

    /// Deletes rows of counts from before a time, but never an app's newest count.
    ///
    /// - Parameter limit: the most rows.
    /// - Returns: how many were deleted.
    static func forget(before cutoff: Timestamp, limit: Int, _ connection: some SQLConnection) throws -> Int {
        try connection.run(
            """
            DELETE FROM version_count WHERE (app_id, counted_at, version) IN (
                SELECT c.app_id, c.counted_at, c.version FROM version_count AS c
                WHERE c.counted_at < ?1
                    AND c.counted_at < (SELECT max(n.counted_at) FROM version_count AS n WHERE n.app_id = c.app_id)
                LIMIT ?2)
            """, cutoff, limit)
    }
}
