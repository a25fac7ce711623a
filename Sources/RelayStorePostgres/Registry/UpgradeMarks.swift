// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import StoreSQL
import UpgradeRules

/// Devices that have reached a campaign's requirement since the campaign listed them, all those of one transaction at once.
struct UpgradeMarks: UpgradeTallying {
    private struct Rise {
        var device: Int64
        var old: Version?
        var new: Version
    }

    private var rises: [Int64: [Rise]] = [:]
    /// Always 0: the marks are written together, so that a login costs the same with and without them.
    let work = 0

    /// Notes a version that a device was seen with; each device counts once in each campaign.
    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ session: PostgresSession
    ) {
        if let old, version <= old { return }
        rises[app, default: []].append(Rise(device: device, old: old, new: version))
    }

    func store(_ session: PostgresSession) throws {
        for (app, rises) in rises.sorted(by: { $0.key < $1.key }) {
            let campaigns = try session.all(
                """
                SELECT c.id, c.required, r.kind = 'blocked'
                FROM campaign AS c JOIN requirement AS r ON r.id = c.requirement_id
                WHERE c.app_id = ? AND c.pruned_at IS NULL ORDER BY c.id
                """, app
            ) { row in
                let (id, required, isBlock) = (row.integer(), row.version(), row.bool())
                return (id: id, target: required.map { UpgradeTarget($0, isBlock: isBlock) })
            }
            for case let (campaign, target?) in campaigns {
                let devices = Set(rises.lazy.filter { target.isReached(by: $0.new, from: $0.old) }.map(\.device))
                if !devices.isEmpty { try CampaignMarks(of: campaign, session).mark(devices) }
            }
        }
    }
}

/// The marks in one campaign's ledger.
struct CampaignMarks {
    private let campaign: Int64
    private let session: PostgresSession

    init(of campaign: Int64, _ session: PostgresSession) {
        self.campaign = campaign
        self.session = session
    }

    static let told = PostgresStatement(
        "SELECT device_id, upgraded FROM campaign_told WHERE campaign_id = $1 AND device_id = ANY ($2)")
    /// The batch is locked: a transaction that takes it apart waits, and finds the marks.
    static let packed = PostgresStatement(
        """
        SELECT d.id, b.first, b.last, b.outcomes FROM unnest($2) AS d (id) CROSS JOIN LATERAL (
            SELECT first, last, outcomes FROM delivery_batch WHERE campaign_id = $1 AND last >= d.id
            ORDER BY last LIMIT 1 FOR KEY SHARE) AS b
        WHERE b.first <= d.id
        """)
    static let markPacked = PostgresStatement(
        """
        INSERT INTO delivery_upgrade (campaign_id, device_id) SELECT $1, d.id FROM unnest($2) AS d (id)
        ON CONFLICT DO NOTHING RETURNING device_id
        """)
    static let rows = PostgresStatement(
        """
        SELECT device_id, state, upgraded = 0 AND NOT (state = 7 AND reason IS NOT DISTINCT FROM 'alreadyCurrent')
        FROM delivery WHERE campaign_id = $1 AND device_id = ANY ($2) ORDER BY device_id FOR UPDATE
        """)
    static let markRows = PostgresStatement(
        "UPDATE delivery SET upgraded = 1 WHERE campaign_id = $1 AND device_id = ANY ($2)")
    /// A device notified at login has reached the requirement before its campaign came to it, unless the campaign leaves it out.
    static let markEarly = PostgresStatement(
        """
        UPDATE campaign_told AS t SET upgraded = 1
        WHERE t.campaign_id = $1 AND t.device_id = ANY ($2) AND t.upgraded = 0
            AND EXISTS (SELECT FROM campaign AS c WHERE c.id = $1 AND c.finished_at IS NULL
                AND (c.planned_at IS NULL OR EXISTS (
                    SELECT FROM shard AS s
                    WHERE s.campaign_id = $1 AND s.cursor < t.device_id AND s.last >= t.device_id)))
        RETURNING t.device_id
        """)

    func mark(_ devices: Set<Int64>) throws {
        var left = devices
        // Devices that were notified at login and do not count yet.
        var told: Set<Int64> = []
        try run(Self.told, left) { found, row in
            if found.integer(row, 1) == 0 {
                told.insert(found.integer(row, 0))
            } else {
                left.remove(found.integer(row, 0))
            }
        }
        var upgraded: [Int64: Bool] = [:]
        // No device has both a place in a batch and a row.
        var outcomes: [Int64: PlainOutcome] = [:]
        try run(Self.packed, left) { found, row in
            let device = found.integer(row, 0)
            let outcome = try DeliveryBatch.outcome(
                of: device, in: found.bytes(row, 3), first: found.integer(row, 1), last: found.integer(row, 2))
            if let outcome { outcomes[device] = outcome }
        }
        left.subtract(outcomes.keys)
        try run(Self.markPacked, Set(outcomes.filter { $0.value != .alreadyCurrent }.keys)) { found, row in
            let device = found.integer(row, 0)
            upgraded[device] = outcomes[device] == .accepted
        }
        var marked: Set<Int64> = []
        try run(Self.rows, left) { found, row in
            let device = found.integer(row, 0)
            left.remove(device)
            guard found.bool(row, 2) else { return }
            marked.insert(device)
            upgraded[device] = found.integer(row, 1) == Int64(DeliveryState.accepted.rawValue)
        }
        try run(Self.markRows, marked) { _, _ in }
        var reach = CampaignReach()
        for (device, isPushed) in upgraded {
            switch (isPushed, told.contains(device)) {
            case (true, true): reach.both += 1
            case (true, false): reach.push += 1
            case (false, true): reach.login += 1
            case (false, false): break
            }
        }
        try run(Self.markEarly, told.intersection(left)) { _, _ in
            reach.login += 1
            reach.early += 1
        }
        let all = Int64(upgraded.count) + reach.early
        guard all > 0 else { return }
        try session.run(
            """
            INSERT INTO campaign_tally AS t (campaign_id, upgraded, upgraded_push, upgraded_login, upgraded_both,
                upgraded_early) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (campaign_id, slot) DO UPDATE SET upgraded = t.upgraded + excluded.upgraded,
                upgraded_push = t.upgraded_push + excluded.upgraded_push,
                upgraded_login = t.upgraded_login + excluded.upgraded_login,
                upgraded_both = t.upgraded_both + excluded.upgraded_both,
                upgraded_early = t.upgraded_early + excluded.upgraded_early
            """, campaign, all, reach.push, reach.login, reach.both, reach.early)
    }

    private func run(
        _ statement: PostgresStatement, _ devices: Set<Int64>, _ body: (borrowing PostgresRows, Int) throws -> Void
    ) throws {
        guard !devices.isEmpty else { return }
        let found = try session.run(statement) { values in
            values.add(campaign)
            values.add(devices.sorted())
        }
        // An UPDATE without RETURNING gives no rows.
        for row in 0..<found.count { try body(found, row) }
    }
}
