// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

extension SQLiteStore {
    package func version(of app: AppKey) throws -> VersionRecord? {
        try read("reading a version") { connection in try VersionTable.record(of: app, connection) }
    }

    package func versions() throws -> [VersionRecord] {
        try read("reading the versions") { connection in
            let rows = try connection.all(
                "SELECT \(VersionTable.columns) FROM version ORDER BY app, platform", row: VersionTable.row)
            return try rows.map { try VersionTable.current($0, connection) }
        }
    }

    package func history(of app: AppKey, limit: Int) throws -> [VersionChange] {
        try read("reading the history of a version") { connection in
            let rows = try connection.all(
                """
                SELECT \(VersionTable.columns), changed_by, changed_from
                FROM version_history WHERE app = ? AND platform = ? ORDER BY revision DESC LIMIT ?
                """, .text(app.app), .text(app.platform.rawValue), .integer(max(limit, 0))
            ) { (VersionTable.row($0), $0.text(10), $0.text(11)) }
            return try rows.map { row, actor, source in
                VersionChange(record: try VersionTable.record(row, connection), actor: actor, source: source)
            }
        }
    }

    package func apply(
        _ bump: VersionBump, actor: String, source: String, at now: Timestamp, draft: CampaignDraft?,
        waitingReason: String?, receipt: WebhookReceipt?, render: (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        try write("storing a version") { connection in
            if let receipt, let answer = try WebhookTable.answer(to: receipt, connection) { return .replayed(answer) }
            let before = try VersionTable.record(of: bump.app, connection)
            let after = try VersionTable.merge(bump, into: before, at: now)
            let rose = after.required.map { required in before?.required.map { $0 < required } ?? true } ?? false
            // What another program required, and nobody has looked at yet, has its campaign before another takes its place.
            if rose, let draft {
                do {
                    try Self.makeUp(
                        for: bump.app, draft: draft, waitingReason: waitingReason, at: now, random: options.random,
                        connection)
                } catch let error as StoreError where error.code == .noDownloadURL {
                    // It never could be told to anybody.
                }
            }
            if before == nil || !VersionTable.same(before, after) {
                try VersionTable.store(after, actor: actor, source: source, connection)
            }
            if waitingReason == nil {
                try InForceTable.follow(
                    after, (bump, before), by: InForce.ungated, from: "bump", at: now, connection)
            } else {
                try InForceTable.reword(after, (bump, before), by: actor, from: source, at: now, connection)
            }
            var campaign: CampaignRecord?
            if rose, let draft {
                var announced = after
                if after.builds.required == before?.builds.required { announced.builds.required = nil }
                campaign = try CampaignTable.create(
                    for: announced, draft: draft, waitingReason: waitingReason, at: now, random: options.random,
                    connection)
            }
            let outcome = BumpOutcome(
                record: try VersionTable.record(of: bump.app, connection) ?? after, requiredRose: rose,
                campaign: campaign)
            let answer = try render(outcome)
            if let receipt { try WebhookTable.store(answer, for: receipt, at: now, connection) }
            return .applied(outcome, answer)
        }
    }

    package func reconcile(
        _ app: AppKey, draft: CampaignDraft, waitingReason: String?, at now: Timestamp
    ) throws -> CampaignRecord? {
        // Mostly there is nothing to do, and finding that out must not wait for the writer.
        let isMissing = try read("comparing a version with its campaigns") { connection in
            try CampaignTable.missing(of: app, connection) != nil
        }
        guard isMissing else { return nil }
        return try write("creating a campaign") { connection in
            try Self.makeUp(
                for: app, draft: draft, waitingReason: waitingReason, at: now, random: options.random, connection)
        }
    }

    /// The campaign that is missing of what is required; nil where none is.
    @discardableResult
    private static func makeUp(
        for app: AppKey, draft: CampaignDraft, waitingReason: String?, at now: Timestamp, random: RandomSource,
        _ connection: SQLiteConnection
    ) throws -> CampaignRecord? {
        guard let record = try CampaignTable.missing(of: app, connection) else { return nil }
        if waitingReason == nil {
            try InForceTable.follow(record, nil, by: InForce.ungated, from: "database", at: now, connection)
        }
        return try CampaignTable.create(
            for: record, draft: draft, waitingReason: waitingReason, at: now, random: random, connection)
    }
}
