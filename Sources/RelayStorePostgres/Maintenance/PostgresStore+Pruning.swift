// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import Threading

extension PostgresStore {
    package func prune(
        before time: Timestamp, at now: Timestamp, pulse: (PruneReport) -> Bool
    ) throws -> PruneReport {
        var pruning = StorePruning(store: self, cutoff: time, now: now)
        return try pruning.run(pulse)
    }
}

/// One pruning, in short transactions. What it frees the server uses again; it gives little of it back to the file system.
private struct StorePruning {
    let store: PostgresStore
    let cutoff: Timestamp
    let now: Timestamp
    private(set) var report = PruneReport()
    private(set) var pace = BatchPace(sizes: 64...8192)

    /// The pulse said stop.
    private struct Stopped: Error {}

    mutating func run(_ pulse: (PruneReport) -> Bool) throws -> PruneReport {
        do {
            try pruneDeliveries(pulse)
            try pruneFormerTelephones(pulse)
            try pruneDevices(pulse)
            try pruneWebhooks(pulse)
            report.notifications = try store.forgetNotifications(before: cutoff)
            report.alerts = try batch { [cutoff] session in
                try session.run("DELETE FROM erased_device WHERE at < now_ms() - 86400000")
                return Int64(try session.run("DELETE FROM alert WHERE ends_at < ?", cutoff))
            }
        } catch is Stopped {}
        return report
    }

    /// One short transaction, and a pause as long as it was.
    private mutating func batch<R: Sendable>(
        lock: WriteLock = .rows, _ body: (PostgresSession) throws -> R
    ) throws -> R {
        let start = store.options.ticks()
        let result = try store.write(.long, "pruning the store", lock: lock, body)
        let pause = pace.finished(in: store.options.ticks() - start)
        report.longestPause = max(report.longestPause, pace.longest)
        store.options.rest(pause)
        return result
    }

    private func look<R: Sendable>(_ doing: String, _ body: (PostgresSession) throws -> R) throws -> R {
        try store.look(.long, doing, isSnapshot: false, body)
    }

    private func tell(_ pulse: (PruneReport) -> Bool) throws {
        guard pulse(report) else { throw Stopped() }
    }

    // MARK: What goes

    private mutating func pruneDeliveries(_ pulse: (PruneReport) -> Bool) throws {
        let campaigns = try look("looking for old campaigns") { [cutoff] session in
            try LedgerPruning.campaigns(endedBefore: cutoff, session)
        }
        campaigns: for campaign in campaigns {
            var isDone = false
            while !isDone {
                let size = pace.size
                let deleted = try batch(lock: .campaign(campaign)) { [now, cutoff] session in
                    try LedgerPruning.removePart(of: campaign, size: size, endedBefore: cutoff, at: now, session)
                }
                guard let deleted else { continue campaigns }
                report.deliveries += deleted.deliveries
                isDone = deleted.isLast
                try tell(pulse)
            }
            report.campaigns += 1
        }
    }

    /// How long after a campaign's end what was in flight then may still come in.
    private static let inFlight = Duration.seconds(3600)

    private var youngest: Timestamp { now - Self.inFlight }

    /// No campaign of the device's (`v`) app is open or has ended since a moment (?3), for what it had in flight has yet to be recorded;
    /// and none that is still listed has a row for the device or a batch around it. The batch may not have the device
    /// itself: then that one goes with the campaign.
    private static let isUnneeded: SQL = """
        NOT EXISTS (SELECT FROM campaign AS c WHERE c.app_id = v.app_id AND (c.finished_at IS NULL OR c.finished_at >= ?3))
            AND NOT EXISTS (SELECT FROM campaign AS c JOIN delivery AS d ON d.campaign_id = c.id AND d.device_id = v.id
                            WHERE c.app_id = v.app_id AND c.pruned_at IS NULL)
            AND NOT EXISTS (SELECT FROM campaign AS c WHERE c.app_id = v.app_id AND c.pruned_at IS NULL
                            AND (SELECT b.first FROM delivery_batch AS b WHERE b.campaign_id = c.id AND b.last >= v.id
                                 ORDER BY b.last LIMIT 1) <= v.id)
        """
    private static let isUnneededFormer: SQL =
        "EXISTS (SELECT FROM device AS v WHERE v.app_id = f.app_id AND v.id = f.device_id AND \(isUnneeded))"

    private mutating func pruneFormerTelephones(_ pulse: (PruneReport) -> Bool) throws {
        var (telephone, device) = ("", Int64.min)
        while true {
            let (size, youngest) = (pace.size, youngest)
            let found = try look("looking for former telephones") { [telephone, device] session in
                try session.all(
                    """
                    SELECT f.telephone, f.device_id FROM former_telephone AS f
                    WHERE (f.telephone, f.device_id) > (?1, ?2) AND \(Self.isUnneededFormer)
                    ORDER BY f.telephone, f.device_id LIMIT ?4
                    """, telephone, device, youngest, size
                ) { ($0.text(0), $0.integer(1)) }
            }
            guard let last = found.last else { return }
            (telephone, device) = last
            report.formerTelephones += try batch { session in
                var deleted = 0
                for (telephone, device) in found {
                    deleted += try session.run(
                        """
                        DELETE FROM former_telephone AS f WHERE f.telephone = ?1 AND f.device_id = ?2
                            AND \(Self.isUnneededFormer)
                        """, telephone, device, youngest)
                }
                return Int64(deleted)
            }
            try tell(pulse)
        }
    }

    /// Since when nobody can be reached by the device: removed, or called dead by the push service.
    private static let goneSince: SQL = "coalesce(v.removed_at, v.retired_at)"

    private mutating func pruneDevices(_ pulse: (PruneReport) -> Bool) throws {
        var after: Int64 = 0
        while true {
            let (size, youngest) = (pace.size, youngest)
            let found = try look("looking for dead devices") { [after, cutoff] session in
                try session.all(
                    """
                    SELECT v.id FROM device AS v WHERE v.id > ?1 AND \(Self.goneSince) < ?2 AND \(Self.isUnneeded)
                    ORDER BY v.id LIMIT ?4
                    """, after, cutoff, youngest, size
                ) { $0.integer(0) }
            }
            guard let last = found.last else { return }
            after = last
            report.devices += try batch { [cutoff] session in
                try Self.delete(found, goneBefore: cutoff, youngest: youngest, session)
            }
            try tell(pulse)
        }
    }

    private static func delete(
        _ devices: [Int64], goneBefore cutoff: Timestamp, youngest: Timestamp, _ session: PostgresSession
    ) throws -> Int64 {
        var tally = RegistryTally()
        var count: Int64 = 0
        for device in devices {
            let row = try session.first(
                """
                DELETE FROM device AS v WHERE v.id = ?1 AND \(goneSince) < ?2 AND \(isUnneeded)
                    RETURNING v.app_id, v.removed_at IS NULL, v.version
                """, device, cutoff, youngest
            ) { (app: $0.integer(0), isRegistered: $0.integer(1) == 1, version: $0.optionalText(2)) }
            guard let row else { continue }
            try ToldTable.forget(device, of: row.app, session)
            count += 1
            if row.isRegistered {
                tally.gained(-1, app: row.app)
                tally.left(row.version, app: row.app)
            }
        }
        try tally.store(session)
        return count
    }

    private mutating func pruneWebhooks(_ pulse: (PruneReport) -> Bool) throws {
        while true {
            let size = pace.size
            let deleted = try batch { [cutoff] session in
                try session.run(
                    """
                    DELETE FROM webhook WHERE (hook, id) IN
                        (SELECT hook, id FROM webhook WHERE \(WebhookTable.isForgotten) LIMIT ?)
                    """, cutoff, size)
            }
            report.webhooks += Int64(deleted)
            try tell(pulse)
            if deleted < size { return }
        }
    }
}
