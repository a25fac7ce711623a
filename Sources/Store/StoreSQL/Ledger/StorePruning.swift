// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

/// The part of a pruning that each driver does itself.
package protocol PrunableSQL: RegistrySQL, CampaignSQL {
    /// Runs one transaction.
    ///
    /// - Parameter deletesDevices: whether it deletes devices, each of which is known to be in no list of deliveries.
    /// - Returns: the result, and the time for which other writers waited.
    func pruneOnce<R: Sendable>(
        lock: WriteLock, deletesDevices: Bool, _ body: (Connection) throws -> R
    ) throws -> (result: R, time: Duration)

    /// Leaves the machine to other work before the next step.
    ///
    /// - Parameter steps: the number of steps so far.
    func restFromPruning(_ pause: Duration, after steps: Int)

    /// Deletes records that only this driver keeps, within a transaction.
    func pruneOwn(_ connection: Connection) throws
}

/// One pruning, in short transactions, each followed by a pause as long as the transaction took, from 1 to 100 ms
/// (`BatchPace`).
package struct StorePruning<Store: PrunableSQL> {
    private let store: Store
    private let cutoff: Timestamp
    private let now: Timestamp
    package private(set) var report = PruneReport()
    private var pace = BatchPace(sizes: 64...8192)
    private var steps = 0
    private let pulse: (PruneReport) -> Bool

    /// Thrown when the pulse returned false.
    private struct Stopped: Error {}

    /// - Parameters:
    ///   - cutoff: records that ended before this time go.
    ///   - pulse: called after each step; the pruning ends where it returns false.
    package init(of store: Store, before cutoff: Timestamp, at now: Timestamp, pulse: @escaping (PruneReport) -> Bool) {
        (self.store, self.cutoff, self.now, self.pulse) = (store, cutoff, now, pulse)
    }

    /// - Parameter giveBack: gives the freed space back to the file system, where the driver can, in steps of this pruning.
    package mutating func run(_ giveBack: (inout Self) throws -> Void = { _ in }) throws -> PruneReport {
        do {
            try pruneDeliveries()
            try pruneFormerTelephones()
            try pruneDevices()
            try pruneWebhooks()
            try pruneVersionCounts()
            report.notifications = try store.forgetNotifications(before: cutoff)
            report.alerts = try batch { [store, cutoff] connection in
                try store.pruneOwn(connection)
                return Int64(try connection.run("DELETE FROM alert WHERE ends_at < ?", cutoff))
            }
            try giveBack(&self)
        } catch is Stopped {}
        return report
    }

    /// The number of rows that the next step may take on.
    package var size: Int { pace.size }

    /// Restarts the pace within these sizes, for steps of another kind.
    package mutating func pace(sizes: ClosedRange<Int>) { pace = BatchPace(sizes: sizes) }

    /// Pauses after a step that took `time`.
    package mutating func rest(after time: Duration) {
        let pause = pace.finished(in: time)
        report.longestPause = max(report.longestPause, pace.longest)
        steps += 1
        store.restFromPruning(pause, after: steps)
    }

    /// Reports, and stops where the caller asks for that.
    package mutating func look(freed: Int64 = 0) throws {
        report.freed += freed
        guard pulse(report) else { throw Stopped() }
    }

    private mutating func batch<R: Sendable>(
        lock: WriteLock = .rows, deletesDevices: Bool = false, _ body: (Store.Connection) throws -> R
    ) throws -> R {
        let (result, time) = try store.pruneOnce(lock: lock, deletesDevices: deletesDevices, body)
        rest(after: time)
        return result
    }

    // MARK: Records that go

    private mutating func pruneDeliveries() throws {
        let campaigns = try store.lookLong("looking for old campaigns", isSnapshot: false) { [cutoff] connection in
            try LedgerPruning.campaigns(endedBefore: cutoff, connection)
        }
        campaigns: for campaign in campaigns {
            var isDone = false
            while !isDone {
                let size = pace.size
                let deleted = try batch(lock: .campaign(campaign)) { [now, cutoff] connection in
                    try LedgerPruning.removePart(of: campaign, size: size, endedBefore: cutoff, at: now, connection)
                }
                guard let deleted else { continue campaigns }
                report.deliveries += deleted.deliveries
                isDone = deleted.isLast
                try look()
            }
            report.campaigns += 1
        }
    }

    /// The outcome of a push that was in flight at a campaign's end is recorded within this time.
    private var youngest: Timestamp { now - .seconds(3600) }

    private mutating func pruneFormerTelephones() throws {
        var (telephone, device) = ("", Int64.min)
        while true {
            let (size, youngest) = (pace.size, youngest)
            let found = try store.lookLong("looking for former telephones", isSnapshot: false) {
                [telephone, device] connection in
                try connection.all(
                    """
                    SELECT f.telephone, f.device_id FROM former_telephone AS f
                    WHERE (f.telephone, f.device_id) > (?1, ?2) AND \(OldDevices.isUnneededFormer(connection.dialect))
                    ORDER BY f.telephone, f.device_id LIMIT ?4
                    """, telephone, device, youngest, size
                ) { ($0.text(), $0.integer()) }
            }
            guard let last = found.last else { return }
            (telephone, device) = last
            report.formerTelephones += try batch { connection in
                let delete: SQL = """
                    DELETE FROM former_telephone AS f WHERE f.telephone = ?1 AND f.device_id = ?2
                        AND \(OldDevices.isUnneededFormer(connection.dialect))
                    """
                var deleted = 0
                for (telephone, device) in found { deleted += try connection.run(delete, telephone, device, youngest) }
                return Int64(deleted)
            }
            try look()
        }
    }

    private mutating func pruneDevices() throws {
        var after: Int64 = 0
        while true {
            let (size, youngest) = (pace.size, youngest)
            let found = try store.lookLong("looking for dead devices", isSnapshot: false) {
                [after, cutoff] connection in
                try OldDevices.page(behind: after, goneBefore: cutoff, youngest: youngest, limit: size, connection)
            }
            guard let last = found.last else { return }
            after = last
            report.devices += try batch(deletesDevices: true) { [cutoff] connection in
                var tally = RegistryTally()
                let count = try OldDevices.delete(
                    found, goneBefore: cutoff, youngest: youngest, &tally, connection)
                try tally.store(connection)
                return count
            }
            try look()
        }
    }

    private mutating func pruneVersionCounts() throws {
        let cutoff = min(cutoff, now - VersionCourse.daily)
        while true {
            let size = pace.size
            let deleted = try batch { try VersionCountTable.forget(before: cutoff, limit: size, $0) }
            try look()
            if deleted < size { return }
        }
    }

    private mutating func pruneWebhooks() throws {
        while true {
            let size = pace.size
            let deleted = try batch { [cutoff] connection in
                try connection.run(
                    """
                    DELETE FROM webhook WHERE (hook, id) IN
                        (SELECT hook, id FROM webhook WHERE \(WebhookTable.isForgotten) LIMIT ?)
                    """, cutoff, size)
            }
            report.webhooks += Int64(deleted)
            try look()
            if deleted < size { return }
        }
    }
}

/// Devices that no push reaches, and that no list of deliveries needs.
package enum OldDevices {
    /// Whether no campaign of the device's (`v`) app is open or has ended since a moment (?3), since outcomes of pushes
    /// in flight must still be recorded; and no campaign that is still listed has a row for the device or a batch
    /// around it. The batch need not contain the device itself: such a device goes once the campaign is pruned.
    private static func isUnneeded(_ dialect: SQLDialect) -> SQL {
        """
        NOT EXISTS (SELECT 1 FROM campaign AS c WHERE c.app_id = v.app_id AND (c.finished_at IS NULL OR c.finished_at >= ?3))
            AND NOT EXISTS (SELECT 1 FROM campaign AS c \(dialect.join) delivery AS d ON d.campaign_id = c.id AND d.device_id = v.id
                            WHERE c.app_id = v.app_id AND c.pruned_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM campaign AS c WHERE c.app_id = v.app_id AND c.pruned_at IS NULL
                            AND (SELECT b.first FROM delivery_batch AS b WHERE b.campaign_id = c.id AND b.last >= v.id
                                 ORDER BY b.last LIMIT 1) <= v.id)
        """
    }

    /// The same for the device that a row of former telephones (`f`) names.
    static func isUnneededFormer(_ dialect: SQLDialect) -> SQL {
        """
        EXISTS (SELECT 1 FROM device AS v
                WHERE v.id = f.device_id \(dialect == .sqlite ? "" : "AND v.app_id = f.app_id") AND \(isUnneeded(dialect)))
        """
    }

    /// The time since which no push reaches the device: it was removed, or its push service has called its token dead.
    private static let goneSince: SQL = "coalesce(v.removed_at, v.retired_at)"

    /// The next old devices behind an id.
    static func page(
        behind id: Int64, goneBefore cutoff: Timestamp, youngest: Timestamp, limit: Int,
        _ connection: some SQLConnection
    ) throws -> [Int64] {
        let dialect = connection.dialect
        return try connection.all(
            """
            SELECT v.id FROM device AS v \(dialect.notIndexed)
            WHERE v.id > ?1 AND \(goneSince) < ?2 AND \(isUnneeded(dialect)) ORDER BY v.id LIMIT ?4
            """, id, cutoff, youngest, limit
        ) { $0.integer() }
    }

    /// Deletes those of some devices that are still old; their former telephones were deleted before.
    ///
    /// - Parameter tally: the caller stores it.
    static func delete(
        _ devices: [Int64], goneBefore cutoff: Timestamp, youngest: Timestamp, _ tally: inout RegistryTally,
        _ connection: some SQLConnection
    ) throws -> Int64 {
        var count: Int64 = 0
        let delete: SQL = """
            DELETE FROM device AS v WHERE v.id = ?1 AND \(goneSince) < ?2 AND \(isUnneeded(connection.dialect))
                RETURNING app_id, removed_at IS NULL, version
            """
        for device in devices {
            let row = try connection.first(delete, device, cutoff, youngest) {
                (app: $0.integer(), isRegistered: $0.bool(), version: $0.optionalText())
            }
            guard let row else { continue }
            // The id may be given to another device, which was not notified at login.
            try LoginNoticeTable.forget(device, of: row.app, connection)
            count += 1
            if row.isRegistered {
                tally.gained(-1, app: row.app)
                tally.left(row.version, app: row.app)
            }
        }
        return count
    }
}
