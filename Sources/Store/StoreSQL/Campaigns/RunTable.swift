// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import UpgradeRules

/// The table `campaign_run`: the relay that sends a campaign, how far that is recorded, and its counts.
package enum RunTable {
    /// The part of a run that a commit needs.
    package struct Run {
        package let campaign: CampaignKey
        /// The state of devices that the campaign has not reached; nil: pending.
        package var rest: DeliveryState?
        /// Set when it is over: the state that its retrying devices count as. Only `.expired` is written to their rows,
        /// since the campaign may go on otherwise.
        package var ended: DeliveryState?
    }

    package enum Found {
        /// The caller's commit is the lease's next one.
        case next(Run)
        /// The lease's next commit is recorded already: its answer was lost.
        case recorded
        /// The campaign has another owner or none, or the number is taken.
        case over
    }

    /// Must run within a transaction that writes.
    ///
    /// - Parameter memory: receives the least number of commits that the store must have had, where it has lost some.
    /// - Throws: `StoreError`, `.wentBack`.
    package static func find(
        _ lease: RunLease, _ memory: StoreMemory, _ connection: some SQLConnection
    ) throws -> Found {
        let found = try connection.first(
            """
            SELECT commits, rest, ended, epoch, owner FROM campaign_run WHERE campaign_id = ?
            \(connection.dialect.forUpdate)
            """, lease.campaign.row
        ) { row in
            (
                commits: row.integer(),
                run: Run(campaign: lease.campaign, rest: row.state(), ended: row.state()),
                epoch: row.integer(), isOwn: row.optionalInteger() == lease.owner
            )
        }
        // Both numbers only rise, and the store has had those of this lease.
        if let found, found.epoch < lease.epoch || found.epoch == lease.epoch && found.commits < lease.commits {
            let recorded = try connection.integer("SELECT CAST(sum(commits) AS bigint) FROM campaign_run") ?? 0
            memory.noteRecorded(recorded + max(1, lease.commits - found.commits))
            throw StoreError(
                .wentBack,
                context:
                    "the store went back in time: campaign \(lease.campaign.row) has \(found.commits) records there, and this relay "
                    + "has made \(lease.commits)")
        }
        guard let found, found.isOwn, found.epoch == lease.epoch else { return .over }
        switch found.commits {
        case lease.commits: return .next(found.run)
        case lease.commits + 1: return .recorded
        default: return .over
        }
    }

    /// Ends the ownership; outcomes that its last owner has on their way are not recorded.
    package static func end(_ campaign: CampaignKey, _ connection: some SQLConnection) throws {
        try connection.run(
            "UPDATE campaign_run SET owner = NULL, epoch = epoch + 1 WHERE campaign_id = ?", campaign.row)
    }

    /// Adds to a campaign's counts.
    package static func add(
        _ counts: CampaignCounts, to campaign: CampaignKey, commits: Int64 = 0, _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            UPDATE campaign_run SET commits = commits + ?, pending = pending + ?, accepted = accepted + ?,
                retrying = retrying + ?, rejected = rejected + ?, unregistered = unregistered + ?, expired = expired + ?,
                filtered = filtered + ?, cancelled = cancelled + ?
            WHERE campaign_id = ?
            """, commits, counts.pending, counts.accepted, counts.retrying, counts.rejected, counts.unregistered,
            counts.expired, counts.filtered, counts.cancelled, campaign.row)
    }

    /// Moves devices from one state's count to another's.
    package static func move(
        _ devices: Int64, from old: DeliveryState, to new: DeliveryState, of campaign: CampaignKey,
        _ connection: some SQLConnection
    ) throws {
        var counts = CampaignCounts()
        counts[old] -= devices
        counts[new] += devices
        try add(counts, to: campaign, connection)
    }

    package static func counts(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> CampaignCounts {
        try connection.first(CampaignCounts.self, "FROM campaign_run WHERE campaign_id = ?", campaign.row)
            ?? CampaignCounts()
    }

    /// The state of devices that the campaign has not reached; nil: pending.
    package static func rest(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> DeliveryState? {
        try connection.first("SELECT rest FROM campaign_run WHERE campaign_id = ?", campaign.row) { $0.state() } ?? nil
    }

    package static func settle(
        _ campaign: CampaignKey, as rest: DeliveryState?, _ connection: some SQLConnection
    ) throws {
        try connection.run("UPDATE campaign_run SET rest = ? WHERE campaign_id = ?", rest, campaign.row)
    }

    /// The condition for a shard `s` that is left, of the campaign whose run is `n`.
    package static let isOpen: SQL = "s.cursor < s.last AND n.rest IS NULL"
}

extension SQLStore {
    package func claimRun(_ campaign: CampaignKey, project: String?) throws -> RunLease? {
        let node = membership.node
        return try write("taking over a campaign", lock: .campaign(campaign)) { connection in
            if let project, try !NodeTable.claim(project, for: node, connection) { return nil }
            // Also takes a campaign that this relay owns already: the answer to an earlier claim may have been lost.
            let lease = try connection.first(
                """
                UPDATE campaign_run SET owner = ?1, epoch = epoch + 1, project = ?3
                WHERE campaign_id = ?2 AND (owner IS NULL OR owner = ?1)
                    AND 'running' = (SELECT c.state FROM campaign AS c WHERE c.id = ?2)
                RETURNING epoch, commits
                """, node, campaign.row, project
            ) { RunLease(campaign: campaign, owner: node, epoch: $0.integer(), commits: $0.integer()) }
            if project != nil, lease == nil { try NodeTable.releaseProjects(of: node, connection) }
            return lease
        }
    }

    package func unclaimedCampaigns() throws -> [UnclaimedCampaign] {
        // Called by the thread that keeps the lease, which must not wait for other requests.
        try keepLease("looking for campaigns that no relay sends", isOneStatement: true) { connection in
            try connection.all(
                """
                SELECT a.platform, c.public_id, a.name FROM campaign AS c
                    JOIN campaign_run AS n ON n.campaign_id = c.id JOIN app AS a ON a.id = c.app_id
                WHERE c.state NOT IN \(CampaignTable.finalStates) AND c.state = 'running' AND n.owner IS NULL
                ORDER BY c.id
                """
            ) { row in
                let (platform, id, app) = (Platform(rawValue: row.text()), row.text(), row.text())
                return platform.map { UnclaimedCampaign(id: id, app: AppKey(app: app, platform: $0)) }
            }.compactMap(\.self)
        }
    }

    package func releaseRun(_ lease: RunLease) throws {
        try write("giving back a campaign", lock: .rows) { connection in
            _ = try connection.run(
                """
                UPDATE campaign_run SET owner = NULL, epoch = epoch + 1
                WHERE campaign_id = ? AND owner = ? AND epoch = ?
                """, lease.campaign.row, lease.owner, lease.epoch)
            try NodeTable.releaseProjects(of: lease.owner, connection)
        }
    }

    package func openShards(_ campaign: CampaignKey, channel: Channel) throws -> [ShardRange] {
        try readOnce("looking for the shards that are left") { connection in
            try connection.all(
                """
                SELECT s.number, s.wave, s.cursor, s.last, s.remaining, s.packs
                FROM shard AS s JOIN campaign_run AS n ON n.campaign_id = s.campaign_id
                WHERE s.campaign_id = ?1 AND s.environment = ?2 AND \(RunTable.isOpen) AND n.ended IS NULL
                    AND s.wave <= (SELECT coalesce(max(w.number), 0) FROM campaign_wave AS w
                                   WHERE w.campaign_id = ?1 AND w.begun_at IS NOT NULL)
                ORDER BY s.number
                """, campaign.row, channel
            ) {
                ShardRange(
                    number: Int($0.integer()), wave: Int($0.integer()), cursor: $0.integer(), last: $0.integer(),
                    remaining: $0.integer(), packs: $0.bool())
            }
        }
    }

    package func channels(of campaign: CampaignKey) throws -> Set<Channel> {
        try read("looking for what is left of a campaign") { connection in
            Set(
                try Channel.allCases.filter { channel in
                    try connection.exists(
                        """
                        SELECT 1 WHERE EXISTS (
                                SELECT 1 FROM shard AS s JOIN campaign_run AS n ON n.campaign_id = s.campaign_id
                                WHERE s.campaign_id = ?1 AND s.environment = ?2 AND \(RunTable.isOpen))
                            OR EXISTS (SELECT 1 FROM delivery \(connection.dialect.indexed(by: "delivery_retry"))
                                       WHERE campaign_id = ?1 AND environment = ?2 AND state = 3)
                        """, campaign.row, channel)
                })
        }
    }
}
