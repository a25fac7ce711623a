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
        let start = MonotonicClock.now()
        let result = try store.write(.long, "pruning the store", lock: lock, body)
        let pause = pace.finished(in: MonotonicClock.now() - start)
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

    /// Whether a campaign gave way before its requirement was in force for everybody, and may take its place again: its waves go on then.
    private static let mayComeBack: SQL = """
        (c.state = 'superseded' AND EXISTS (
            SELECT FROM requirement AS r WHERE r.id = c.requirement_id AND r.state <> 'withdrawn'
                AND (r.state <> 'in_force' OR r.reach < 10000)))
        """

    /// Campaigns that ended long enough ago, and those that a pruning before this one did not finish. Their shards go last:
    /// as long as there is one, there may be deliveries.
    private mutating func pruneDeliveries(_ pulse: (PruneReport) -> Bool) throws {
        let campaigns = try look("looking for old campaigns") { [cutoff] session in
            try session.all(
                """
                SELECT c.id FROM campaign AS c WHERE c.finished_at IS NOT NULL
                    AND (c.finished_at < ? AND c.pruned_at IS NULL AND NOT \(Self.mayComeBack)
                         OR c.pruned_at IS NOT NULL AND EXISTS (SELECT FROM shard WHERE campaign_id = c.id))
                ORDER BY c.id
                """, cutoff
            ) { CampaignKey(row: $0.integer(0)) }
        }
        campaigns: for campaign in campaigns {
            var isDone = false
            while !isDone {
                let size = pace.size
                let deleted = try batch(lock: .campaign(campaign)) {
                    [now, cutoff] session -> (deliveries: Int64, isLast: Bool)? in
                    // Nothing of it goes on: whom it left out is settled, once. Somebody may have opened it again since it was listed.
                    let leftDevices = try session.first(
                        """
                        SELECT coalesce(c.left_devices, 0) FROM campaign AS c
                        WHERE c.id = ? AND c.pruned_at IS NULL AND c.finished_at < ? AND NOT \(Self.mayComeBack)
                        """, campaign.row, cutoff
                    ) { $0.integer(0) }
                    if let leftDevices { try Self.settle(campaign, leftDevices, at: now, session) }
                    let isMarked = try session.exists(
                        "SELECT 1 FROM campaign WHERE id = ? AND pruned_at IS NOT NULL", campaign.row)
                    guard isMarked else { return nil }
                    return try LedgerPart(campaign: campaign.row, size: size, session: session).remove()
                }
                guard let deleted else { continue campaigns }
                report.deliveries += deleted.deliveries
                isDone = deleted.isLast
                try tell(pulse)
            }
            report.campaigns += 1
        }
    }

    private static func settle(
        _ campaign: CampaignKey, _ leftDevices: Int64, at now: Timestamp, _ session: PostgresSession
    ) throws {
        try session.run(
            """
            UPDATE campaign SET pruned_at = ?1, left_devices = NULL, left_last = NULL,
                planned_at = coalesce(planned_at, ?1) WHERE id = ?2
            """, now, campaign.row)
        try session.run(
            """
            UPDATE campaign_run SET cancelled = cancelled + retrying + pending + ?1, retrying = 0, pending = 0,
                rest = coalesce(rest, 8) WHERE campaign_id = ?2
            """, leftDevices, campaign.row)
        // What its last owner still has on its way, where nothing could be recorded for longer than records are kept, is not.
        try RunTable.end(campaign, session)
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
            try session.run(
                """
                DELETE FROM campaign_told WHERE device_id = ?1
                    AND campaign_id IN (SELECT id FROM campaign WHERE app_id = ?2 AND pruned_at IS NULL)
                """, device, row.app)
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

/// Takes a part of a campaign's ledger away, within a transaction; its shards with the last part.
private struct LedgerPart {
    let campaign: Int64
    /// Rows at most.
    let size: Int
    let session: PostgresSession

    func remove() throws -> (deliveries: Int64, isLast: Bool) {
        var deliveries = Int64(try rows("delivery", "device_id", size))
        guard deliveries < size else { return (deliveries, false) }
        guard try rows("delivery_upgrade", "device_id", size) < size else { return (deliveries, false) }
        guard try rows("campaign_told", "device_id", size) < size else { return (deliveries, false) }
        guard try rows("campaign_adoption", "at", size) < size else { return (deliveries, false) }
        // A batch lies on some pages of its own: it takes as long as some dozens of rows.
        let batches = max(1, size / 64)
        let counts = try session.all(
            """
            DELETE FROM delivery_batch WHERE campaign_id = ?1 AND last IN
                (SELECT last FROM delivery_batch WHERE campaign_id = ?1 ORDER BY last LIMIT ?2)
            RETURNING accepted + filtered
            """, campaign, batches
        ) { $0.integer(0) }
        deliveries += counts.reduce(0, +)
        guard counts.count < batches else { return (deliveries, false) }
        try session.run("DELETE FROM shard WHERE campaign_id = ?", campaign)
        return (deliveries, true)
    }

    private func rows(_ table: SQL, _ key: SQL, _ limit: Int) throws -> Int {
        try session.run(
            """
            DELETE FROM \(table) WHERE campaign_id = ?1 AND \(key) <= coalesce(
                (SELECT \(key) FROM \(table) WHERE campaign_id = ?1 ORDER BY \(key) LIMIT 1 OFFSET ?2), ?3)
            """, campaign, limit - 1, Int64.max)
    }
}
