// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

extension SQLiteStore {
    package func prune(
        before time: Timestamp, at now: Timestamp, pulse: (PruneReport) -> Bool
    ) throws -> PruneReport {
        var pruning = Pruning(store: self, cutoff: time, now: now)
        return try pruning.run(pulse)
    }
}

/// One pruning, from the ledger to the free pages.
private struct Pruning {
    let store: SQLiteStore
    let cutoff: Timestamp
    let now: Timestamp
    private(set) var report = PruneReport()
    private(set) var pace = BatchPace(sizes: 64...8192)
    private(set) var batches = 0

    /// The pulse said stop.
    private struct Stopped: Error {}

    mutating func run(_ pulse: (PruneReport) -> Bool) throws -> PruneReport {
        do {
            try pruneDeliveries(pulse)
            try pruneFormerTelephones(pulse)
            try pruneDevices(pulse)
            try pruneWebhooks(pulse)
            report.notifications = try store.forgetNotifications(before: cutoff)
            report.alerts = try batch { [cutoff] connection in
                Int64(try connection.run("DELETE FROM alert WHERE ends_at < ?", cutoff))
            }
            try giveBack(pulse)
        } catch is Stopped {}
        return report
    }

    /// One short transaction, and a pause as long as it was.
    private mutating func batch<R: Sendable>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        try turn("pruning the store") { try $0.write(body) }
    }

    /// One turn on the writer, and a pause as long as it was.
    private mutating func turn<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        var time = Duration.zero
        let result = try store.locked(doing) { connection in
            let start = store.options.ticks()
            defer { time = store.options.ticks() - start }
            return try body(connection)
        }
        let pause = pace.finished(in: time)
        report.longestPause = max(report.longestPause, pace.longest)
        batches += 1
        // So that the writer seldom has to.
        if batches % 16 == 0 { store.checkpoints?.copy() }
        store.options.rest(pause)
        return result
    }

    private func look(_ pulse: (PruneReport) -> Bool) throws {
        guard pulse(report) else { throw Stopped() }
    }

    // MARK: What goes

    private mutating func pruneDeliveries(_ pulse: (PruneReport) -> Bool) throws {
        let campaigns = try store.readOnce("looking for old campaigns") { [cutoff] connection in
            try LedgerPruning.campaigns(endedBefore: cutoff, connection)
        }
        campaigns: for campaign in campaigns {
            var isDone = false
            while !isDone {
                let size = pace.size
                let deleted = try batch { [now, cutoff] connection in
                    try LedgerPruning.removePart(of: campaign, size: size, endedBefore: cutoff, at: now, connection)
                }
                guard let deleted else { continue campaigns }
                report.deliveries += deleted.deliveries
                isDone = deleted.isLast
                try look(pulse)
            }
            report.campaigns += 1
        }
    }

    /// How long after a campaign's end what was in flight then may still come in.
    private static let inFlight = Duration.seconds(3600)

    private var youngest: Timestamp { now - Self.inFlight }

    /// No campaign of the device's app is open or has ended since `youngest`, for what it had in flight has yet to be recorded;
    /// and none that is still listed has a row for the device or a batch around it. The batch may not have the device
    /// itself: then that one goes with the campaign.
    private static func isUnneeded(_ device: SQL, _ app: SQL, youngest: SQL) -> SQL {
        """
        NOT EXISTS (SELECT 1 FROM campaign AS c WHERE c.app_id = \(app)
                    AND (c.finished_at IS NULL OR c.finished_at >= \(youngest)))
            AND NOT EXISTS (SELECT 1 FROM campaign AS c CROSS JOIN delivery AS d
                            ON d.campaign_id = c.id AND d.device_id = \(device)
                            WHERE c.app_id = \(app) AND c.pruned_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM campaign AS c WHERE c.app_id = \(app) AND c.pruned_at IS NULL
                            AND (SELECT b.first FROM delivery_batch AS b WHERE b.campaign_id = c.id AND b.last >= \(device)
                                 ORDER BY b.last LIMIT 1) <= \(device))
        """
    }

    private static let isUnneededFormer: SQL = """
        EXISTS (SELECT 1 FROM device AS v
                WHERE v.id = f.device_id AND \(isUnneeded("v.id", "v.app_id", youngest: "?3")))
        """

    private mutating func pruneFormerTelephones(_ pulse: (PruneReport) -> Bool) throws {
        var (telephone, device) = ("", Int64.min)
        while true {
            let size = pace.size
            let youngest = youngest
            let found = try store.readOnce("looking for former telephones") { [telephone, device] connection in
                try connection.all(
                    """
                    SELECT telephone, device_id FROM former_telephone AS f
                    WHERE (telephone, device_id) > (?1, ?2) AND \(Self.isUnneededFormer)
                    ORDER BY telephone, device_id LIMIT ?4
                    """, telephone, device, youngest, size
                ) { ($0.text(0), $0.integer(1)) }
            }
            guard let last = found.last else { return }
            (telephone, device) = last
            let forgotten = try batch { connection in
                var deleted = 0
                for (telephone, device) in found {
                    deleted += try connection.run(
                        """
                        DELETE FROM former_telephone AS f WHERE telephone = ?1 AND device_id = ?2
                            AND \(Self.isUnneededFormer)
                        """, telephone, device, youngest)
                }
                return Int64(deleted)
            }
            report.formerTelephones += forgotten
            try look(pulse)
        }
    }

    /// Since when nobody can be reached by the device: removed, or called dead by the push service.
    private static let goneSince: SQL = "coalesce(removed_at, retired_at)"

    private static let isUnneededDevice: SQL = isUnneeded("v.id", "v.app_id", youngest: "?3")

    private mutating func pruneDevices(_ pulse: (PruneReport) -> Bool) throws {
        var after: Int64 = 0
        while true {
            let size = pace.size
            let found = try store.readOnce("looking for dead devices") { [after, cutoff, youngest] connection in
                try connection.all(
                    """
                    SELECT id FROM device AS v NOT INDEXED
                    WHERE id > ?1 AND \(Self.goneSince) < ?2 AND \(Self.isUnneededDevice)
                    ORDER BY id LIMIT ?4
                    """, after, cutoff, youngest, size
                ) { $0.integer(0) }
            }
            guard let last = found.last else { return }
            after = last
            let deleted = try deleteDevices(found)
            report.devices += deleted
            try look(pulse)
        }
    }

    /// Without foreign keys: for each device SQLite would read the whole ledger, whose key begins with the campaign. The
    /// conditions of the statement are the same rule, asked where an index answers; former telephones went before.
    private mutating func deleteDevices(_ devices: [Int64]) throws -> Int64 {
        try turn("pruning devices") { [cutoff, youngest] connection in
            connection.enforceForeignKeys(false)
            defer { connection.enforceForeignKeys(true) }
            return try connection.write { connection in
                try Self.delete(devices, goneBefore: cutoff, youngest: youngest, connection)
            }
        }
    }

    private static func delete(
        _ devices: [Int64], goneBefore cutoff: Timestamp, youngest: Timestamp, _ connection: SQLiteConnection
    ) throws -> Int64 {
        var seen = SeenTally()
        var registered: [Int64: Int64] = [:]
        var count: Int64 = 0
        for device in devices {
            let row = try connection.first(
                """
                DELETE FROM device AS v WHERE id = ?1 AND \(goneSince) < ?2 AND \(isUnneededDevice)
                    RETURNING app_id, removed_at IS NULL, version
                """, device, cutoff, youngest
            ) { (app: $0.integer(0), isRegistered: $0.integer(1) == 1, version: $0.version(2)) }
            guard let row else { continue }
            // An id may be given anew, and who has it then was not told.
            try ToldTable.forget(device, of: row.app, connection)
            count += 1
            if row.isRegistered {
                registered[row.app, default: 0] += 1
                seen.left(row.version, app: row.app)
            }
        }
        for (app, devices) in registered.sorted(by: { $0.key < $1.key }) {
            try connection.run("UPDATE app SET devices = max(devices - ?, 0) WHERE id = ?", devices, app)
        }
        try seen.store(connection)
        return count
    }

    private mutating func pruneWebhooks(_ pulse: (PruneReport) -> Bool) throws {
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
            try look(pulse)
            if deleted < size { return }
        }
    }

    // MARK: Room

    private mutating func giveBack(_ pulse: (PruneReport) -> Bool) throws {
        pace = BatchPace(sizes: 16...1024)
        while true {
            let size = pace.size
            let (freed, rest) = try turn("giving free pages back") { connection -> (Int64, Int64) in
                let free = try FreePages.free(connection)
                guard free > 0, try FreePages.areGivenBack(connection) else { return (0, 0) }
                try FreePages.giveBack(size, connection)
                let rest = try FreePages.free(connection)
                return ((free - rest) * (try FreePages.pageSize(connection)), rest)
            }
            report.freed += freed
            try look(pulse)
            if freed == 0 || rest == 0 { break }
        }
        store.checkpoints?.copy()
    }
}
