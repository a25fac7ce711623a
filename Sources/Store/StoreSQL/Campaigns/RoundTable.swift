// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

/// The table `campaign_round`.
package enum RoundTable {
    package static func rounds(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> [CampaignRound] {
        try connection.all(
            """
            SELECT number, kind, states, due_at, begun_at, devices, gathered_at FROM campaign_round
            WHERE campaign_id = ? ORDER BY number
            """, campaign.row
        ) { row in
            CampaignRound(
                number: Int(row.integer()), kind: CampaignRound.Kind(rawValue: row.text()) ?? .retry,
                states: states(row.text()), dueAt: row.optionalTime(), begunAt: row.time(),
                devices: row.integer(), gatheredAt: row.optionalTime())
        }
    }

    /// - Parameter devices: the number of devices that are in line already.
    package static func insert(
        _ draft: RoundDraft, for campaign: CampaignKey, devices: Int64, at now: Timestamp,
        _ connection: some SQLConnection
    ) throws {
        let (kind, states, dueAt): (CampaignRound.Kind, Set<DeliveryState>, Timestamp?) =
            switch draft.cause {
            case .retry(let states): (.retry, states, nil)
            case .reminder(let dueAt): (.reminder, [.accepted], dueAt)
            }
        try connection.run(
            """
            INSERT INTO campaign_round (campaign_id, number, kind, states, due_at, begun_at, devices)
            SELECT ?1, 1 + coalesce(max(number), 0), ?2, ?3, ?4, ?5, ?6 FROM campaign_round WHERE campaign_id = ?1
            """, campaign.row, kind.rawValue, CampaignRound.names(of: states).joined(separator: " "), dueAt, now,
            devices)
    }

    /// A device, and the push service that sends to it.
    package typealias Device = (device: Int64, channel: Channel)

    /// A round whose devices are not all in line.
    package struct Open {
        package var number: Int64
        package var kind: CampaignRound.Kind
        package var states: [DeliveryState]
        /// For a reminder: whether the ledger's rows are done, and its batches are next.
        package var isAtBatches: Bool
        /// All devices up to this one are done.
        package var cursor: Int64
        package var app: Int64
        /// Devices in line.
        package var retrying: Int64
    }

    /// nil where there is no open round, or its campaign is not running.
    package static func open(_ campaign: CampaignKey, _ connection: some SQLConnection) throws -> Open? {
        try connection.first(
            """
            SELECT r.number, r.kind, r.states, r.at_batches, r.cursor, c.app_id, n.retrying
            FROM campaign_round AS r JOIN campaign AS c ON c.id = r.campaign_id
                JOIN campaign_run AS n ON n.campaign_id = r.campaign_id
            WHERE r.campaign_id = ? AND r.gathered_at IS NULL AND c.state = 'running'
            """, campaign.row
        ) { row in
            Open(
                number: row.integer(), kind: CampaignRound.Kind(rawValue: row.text()) ?? .retry,
                states: states(row.text()), isAtBatches: row.integer() != 0, cursor: row.integer(),
                app: row.integer(), retrying: row.integer())
        }
    }

    package static func advance(
        _ round: Open, of campaign: CampaignKey, to cursor: Int64, atBatches: Bool, devices: Int64,
        _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            UPDATE campaign_round SET cursor = ?, at_batches = ?, devices = devices + ?
            WHERE campaign_id = ? AND number = ?
            """, cursor, atBatches, devices, campaign.row, round.number)
    }

    /// Ends the open round: no other device is put in line.
    package static func end(
        _ campaign: CampaignKey, devices: Int64 = 0, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            UPDATE campaign_round SET gathered_at = ?, devices = devices + ?
            WHERE campaign_id = ? AND gathered_at IS NULL
            """, now, devices, campaign.row)
    }

    /// Subtracts reminders that were not sent after all.
    package static func giveBack(_ devices: Int64, of campaign: CampaignKey, _ connection: some SQLConnection) throws {
        guard devices > 0 else { return }
        try connection.run(
            """
            UPDATE campaign_round SET devices = CASE WHEN devices > ?1 THEN devices - ?1 ELSE 0 END
            WHERE campaign_id = ?2 AND number = (SELECT max(number) FROM campaign_round WHERE campaign_id = ?2)
            """, devices, campaign.row)
    }

    /// Ends the open round, and drops reminders. Must run in the transaction that settles a campaign
    /// (`CampaignTable.settleRest`).
    package static func giveBackAll(of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection)
        throws
    {
        try end(campaign, at: now, connection)
        try giveBackReminders(of: campaign, at: now, connection)
    }

    /// Drops reminders that did not leave; their devices are accepted as before.
    package static func giveBackReminders(of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection)
        throws
    {
        try connection.run(
            """
            UPDATE campaign_round SET gathered_at = ? WHERE campaign_id = ? AND gathered_at IS NULL AND kind = 'reminder'
            """, now, campaign.row)
        let devices = try connection.run(
            """
            UPDATE delivery \(connection.dialect.indexed(by: "delivery_retry")) SET state = 2, reason = NULL, next_attempt_at = NULL, again = 0,
                updated_at = ?2
            WHERE campaign_id = ?1 AND environment IN (\(Channel.list)) AND state = 3 AND again >= \(RequeueReasons.reminder.rawValue)
            """, campaign.row, now)
        guard devices > 0 else { return }
        try RunTable.move(Int64(devices), from: .retrying, to: .accepted, of: campaign, connection)
        try giveBack(Int64(devices), of: campaign, connection)
    }

    private static func states(_ names: String) -> [DeliveryState] {
        names.split(separator: " ").compactMap { DeliveryState(name: String($0)) }
    }
}
