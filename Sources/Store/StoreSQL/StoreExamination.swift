// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import RelayStore
import Requirements
import UpgradeRules

/// The relay's own rules for its rows, which the check of a store examines beside the database's rules.
package struct StoreExamination<Connection: SQLConnection> {
    package struct Step {
        package var name: String
        var run: (inout StoreExamination) throws -> Void

        package init(name: String, run: @escaping (inout StoreExamination) throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    package static var ofRows: [Step] {
        [
            Step(name: "batches of the ledger") { try $0.batches() },
            Step(name: "shards of campaigns") { try $0.shards() },
            Step(name: "counts of campaigns") { try $0.campaigns() },
            Step(name: "adoption of campaigns") { try $0.adoption() },
            Step(name: "counts of reasons") { try $0.reasons() },
            Step(name: "counts of devices") { try $0.devices() },
            Step(name: "requirements") { try $0.history() },
            Step(name: "texts") { try $0.texts() },
        ]
    }

    package let connection: Connection
    package private(set) var faults: [StoreFault] = []
    private var name = ""
    package static var most: Int { 100 }

    package init(connection: Connection) {
        self.connection = connection
    }

    package mutating func run(_ step: Step) throws {
        name = step.name
        try step.run(&self)
    }

    package mutating func note(_ detail: String) {
        if faults.count < Self.most { faults.append(StoreFault(check: name, detail: detail)) }
    }

    /// Notes each row of `query`.
    package mutating func note(
        each query: SQL, _ values: (any SQLValue)?..., detail: (inout Columns<Connection.Row>) -> String
    ) throws {
        for detail in try connection.all(query, values: values, row: detail) { note(detail) }
    }

    /// Checks that each batch matches its columns, that its devices exist and have no row as well, and that each
    /// upgraded device is in a batch.
    private mutating func batches() throws {
        let campaigns = try connection.all(
            "SELECT id, public_id, app_id FROM campaign WHERE pruned_at IS NULL ORDER BY id"
        ) { (row: $0.integer(), id: $0.text(), app: $0.integer()) }
        for campaign in campaigns {
            var upgraded: Int64 = 0
            var before: Int64 = 0
            while let (batch, accepted, filtered) = try connection.first(
                """
                SELECT \(DeliveryBatch.columns), accepted, filtered FROM delivery_batch
                WHERE campaign_id = ? AND last > ? ORDER BY last LIMIT 1
                """, campaign.row, before, row: { (DeliveryBatch.read(&$0), $0.integer(), $0.integer()) })
            {
                let name = "campaign \(campaign.id): the batch of devices \(batch.first) to \(batch.last)"
                if batch.first <= before { note("\(name) overlaps the one before") }
                before = batch.last
                let entries: [DeliveryBatch.Entry]
                do throws(StoreError) {
                    entries = try batch.entries()
                } catch {
                    // The fault is in its columns, not in the database's pages.
                    note("campaign \(campaign.id): \(error.context)")
                    continue
                }
                let count = Int64(entries.count { $0.outcome == .accepted })
                if count != accepted || Int64(entries.count) - count != filtered {
                    note("\(name) has \(count) accepted of \(entries.count), not \(accepted) and \(filtered) filtered")
                }
                upgraded += try compare(Set(entries.map(\.device)), of: batch, campaign.row, campaign.app, name)
            }
            let all = try connection.integer(
                "SELECT count(*) FROM delivery_upgrade WHERE campaign_id = ?", campaign.row)
            if all != upgraded {
                note("campaign \(campaign.id): \(all ?? 0) devices of batches have upgraded, \(upgraded) are there")
            }
        }
    }

    /// Returns how many of the devices are marked as upgraded.
    private mutating func compare(
        _ devices: Set<Int64>, of batch: DeliveryBatch, _ campaign: Int64, _ app: Int64, _ name: String
    ) throws -> Int64 {
        func ids(_ query: SQL, _ key: Int64) throws -> Int64 {
            var count: Int64 = 0
            try connection.each(query, key, batch.first, batch.last) { row in
                count += devices.contains(row.integer()) ? 1 : 0
            }
            return count
        }
        let known = try ids(
            "SELECT id FROM device \(connection.dialect.notIndexed) WHERE app_id = ? AND id BETWEEN ? AND ?", app)
        if known != devices.count { note("\(name) has \(Int64(devices.count) - known) that the registry has not") }
        let rows = try ids(
            "SELECT device_id FROM delivery WHERE campaign_id = ? AND device_id BETWEEN ? AND ?", campaign)
        if rows != 0 { note("\(name) has \(rows) that have a row too") }
        return try ids(
            "SELECT device_id FROM delivery_upgrade WHERE campaign_id = ? AND device_id BETWEEN ? AND ?", campaign)
    }

    /// Checks that no device is in two shards, and that only one channel packs its outcomes.
    private mutating func shards() throws {
        try note(
            each: """
                SELECT c.public_id, s.before, s.number FROM campaign AS c JOIN
                    (SELECT campaign_id, number, cursor, last, lag(number) OVER shards AS before,
                        lag(last) OVER shards AS end_before
                     FROM shard WINDOW shards AS (PARTITION BY campaign_id, wave, environment ORDER BY last)) AS s
                    ON s.campaign_id = c.id
                WHERE s.cursor < s.end_before
                """
        ) { "campaign \($0.text()): shards \($0.integer()) and \($0.integer()) overlap" }
        try note(
            each: """
                SELECT c.public_id FROM campaign AS c JOIN shard AS s ON s.campaign_id = c.id
                WHERE s.packs = 1 AND s.cursor < s.last GROUP BY c.id HAVING min(s.environment) <> max(s.environment)
                """
        ) { "campaign \($0.text()): shards of two channels pack their outcomes" }
    }

    /// Checks that each count is the number of the ledger's rows and batched devices in that state; for a campaign that
    /// is over, also of the devices that its end left out, which the shards know. A device that upgraded before the
    /// campaign reached it has no mark in the ledger.
    private mutating func campaigns() throws {
        let campaigns = try connection.all(
            """
            SELECT c.id, c.public_id, \(CampaignCounts.columns), c.upgraded - c.upgraded_early, n.rest,
                (SELECT CAST(coalesce(sum(remaining), 0) AS BIGINT) FROM shard WHERE campaign_id = c.id AND cursor < last),
                (SELECT CAST(coalesce(sum(remaining), 0) AS BIGINT) FROM shard WHERE campaign_id = c.id AND cursor = last)
            FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id WHERE c.pruned_at IS NULL ORDER BY c.id
            """
        ) { row in
            (
                row: row.integer(), id: row.text(), counts: CampaignCounts.read(&row), upgraded: row.integer(),
                rest: row.state() ?? .pending, unreached: row.integer(), left: row.integer()
            )
        }
        let states: [DeliveryState] = [
            .pending, .accepted, .retrying, .rejected, .unregistered, .expired, .filtered, .cancelled,
        ]
        for campaign in campaigns {
            var rows: [DeliveryState: Int64] = [:]
            var upgraded: Int64 = 0
            let found = try connection.all(
                "SELECT state, count(*), sum(upgraded) FROM delivery WHERE campaign_id = ? GROUP BY state", campaign.row
            ) { ($0.integer(), $0.integer(), $0.integer()) }
            for (state, count, seen) in found {
                upgraded += seen
                if let state = DeliveryState(rawValue: UInt8(truncatingIfNeeded: state)) { rows[state] = count }
            }
            let packed = try connection.first(
                """
                SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT), CAST(coalesce(sum(filtered), 0) AS BIGINT),
                    (SELECT count(*) FROM delivery_upgrade WHERE campaign_id = ?1)
                FROM delivery_batch WHERE campaign_id = ?1
                """, campaign.row
            ) { (accepted: $0.integer(), filtered: $0.integer(), upgraded: $0.integer()) }
            rows[.accepted, default: 0] += packed?.accepted ?? 0
            rows[.filtered, default: 0] += packed?.filtered ?? 0
            upgraded += packed?.upgraded ?? 0
            rows[campaign.rest, default: 0] += campaign.unreached
            if campaign.left != 0 {
                note("campaign \(campaign.id): \(campaign.left) devices remain in shards that are done")
            }
            for state in states where campaign.counts[state] != rows[state, default: 0] {
                note(
                    "campaign \(campaign.id): \(state.name) is \(campaign.counts[state]), its rows and shards say \(rows[state, default: 0])"
                )
            }
            if upgraded != campaign.upgraded {
                note("campaign \(campaign.id): upgraded is \(campaign.upgraded), its rows say \(upgraded)")
            }
        }
    }

    /// Checks that no more devices count as reached than have upgraded, that every device notified at login is counted,
    /// and that each curve rises at every point and stays within its count. Devices that were deleted took their rows
    /// along.
    private mutating func adoption() throws {
        let campaigns = try connection.all(
            """
            SELECT c.public_id, c.upgraded, c.upgraded_push + c.upgraded_login + c.upgraded_both, c.told,
                (SELECT count(*) FROM campaign_told WHERE campaign_id = c.id),
                (SELECT coalesce(max(upgraded), 0) FROM campaign_adoption WHERE campaign_id = c.id),
                (SELECT count(*) FROM
                    (SELECT upgraded - lag(upgraded) OVER (ORDER BY at) AS rise FROM campaign_adoption
                     WHERE campaign_id = c.id) AS steps WHERE rise <= 0)
            FROM campaign AS c ORDER BY c.id
            """
        ) { ($0.text(), $0.integer(), $0.integer(), $0.integer(), $0.integer(), $0.integer(), $0.integer()) }
        for (id, upgraded, reached, notified, rows, top, falls) in campaigns {
            let name = "campaign \(id)"
            if reached > upgraded { note("\(name): upgraded is \(upgraded), of whom \(reached) were reached") }
            if rows > notified { note("\(name): told is \(notified), its rows say \(rows)") }
            if top > upgraded { note("\(name): upgraded is \(upgraded), its curve says \(top)") }
            if falls > 0 { note("\(name): its curve does not rise at \(falls) of its points") }
        }
    }

    private mutating func reasons() throws {
        let kinds: [(String, SQL)] = [("filtered", "filtered"), ("rejected", "rejected")]
        for (kind, column) in kinds {
            try note(
                each: """
                    SELECT c.public_id, n.\(column), CAST(coalesce(sum(r.devices), 0) AS BIGINT)
                    FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
                        LEFT JOIN campaign_reason AS r ON r.campaign_id = c.id AND r.kind = ?
                    GROUP BY c.public_id, n.\(column) HAVING n.\(column) <> coalesce(sum(r.devices), 0)
                    """, kind
            ) { "campaign \($0.text()): \(kind) is \($0.integer()), its reasons add up to \($0.integer())" }
        }
    }

    /// Checks that an app's number of devices is that of its rows, and `version_seen` adds up to it. Before a campaign
    /// is planned this is its audience.
    private mutating func devices() throws {
        let found = try connection.all(
            """
            SELECT a.name, a.platform, a.devices,
                (SELECT count(*) FROM device AS d WHERE d.app_id = a.id AND d.removed_at IS NULL) AS rows,
                (SELECT CAST(coalesce(sum(s.devices), 0) AS BIGINT) FROM version_seen AS s WHERE s.app_id = a.id) AS seen
            FROM app AS a
            """
        ) { ($0.text(), $0.text(), $0.integer(), $0.integer(), $0.integer()) }
        for (app, platform, count, rows, seen) in found {
            if count != rows { note("\(app) (\(platform)): devices is \(count), there are \(rows)") }
            if seen != rows { note("\(app) (\(platform)): versions were seen of \(seen) devices, there are \(rows)") }
        }
    }

    /// Checks that each app's `version` matches the view `version_now`, that each requirement matches its last history
    /// entry, and that each campaign has the state that follows from the requirements.
    private mutating func history() throws {
        try note(
            each: """
                SELECT v.app, v.platform FROM version AS v LEFT JOIN version_now AS n ON n.app = v.app AND n.platform = v.platform
                WHERE v.required IS DISTINCT FROM n.required OR v.latest IS DISTINCT FROM n.latest
                """
        ) { "\($0.text()) (\($0.text())): version does not say what is required" }
        try note(
            each: """
                SELECT r.app, r.platform, r.version FROM requirement AS r LEFT JOIN requirement_event AS e
                    ON e.id = (SELECT max(id) FROM requirement_event WHERE requirement_id = r.id)
                WHERE e.state IS DISTINCT FROM r.state OR e.reach IS DISTINCT FROM r.reach
                """
        ) { "\($0.text()) (\($0.text())): \($0.text()) is not as its history says" }
        for (app, requirements) in try RequirementTable.all(connection) {
            for campaign in try CampaignTable.facts(of: app, connection) where !campaign.isPruned {
                guard let row = requirements.rows.first(where: { $0.id == campaign.requirement }) else { continue }
                let shown = campaign.shown(row, in: requirements).state
                guard shown != campaign.state else { continue }
                note(
                    "\(app.app) (\(app.platform.rawValue)): the campaign of \(row.version) is \(shown.rawValue), not \(campaign.state.rawValue)"
                )
            }
        }
    }
}
