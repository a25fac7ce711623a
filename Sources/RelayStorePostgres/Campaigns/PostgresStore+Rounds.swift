// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

extension PostgresStore {
    /// Rows or batched devices that are looked at in one step, and devices of one transaction.
    private static let step = 1000
    /// Batches that are looked at in one step where nobody is to be reminded.
    private static let batchesAtOnce = 16

    package func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered {
        // Looked at beside who commits; what is written is short.
        let found = try look(.long, "looking for devices to send to again", isSnapshot: true) { session -> RoundStep? in
            guard let round = try RoundTable.open(campaign, session) else { return nil }
            var step = RoundStep(round, cursor: round.cursor)
            guard round.retrying < most else { return step }
            step.isFull = false
            switch (round.kind, round.isAtBatches) {
            case (.retry, _): try step.findRows(of: campaign, limit: Self.step, session)
            case (.reminder, false): try step.findAccepted(of: campaign, limit: Self.step, wants: wants, session)
            case (.reminder, true):
                try step.findPacked(of: campaign, batches: Self.batchesAtOnce, wants: wants, session)
            }
            return step
        }
        guard let found else { return Gathered(.done) }
        guard !found.isFull else { return Gathered(.full) }
        return try write(.long, "putting devices in line again", lock: .campaign(campaign)) { session in
            try found.write(of: campaign, at: now, session) { devices, again, round in
                try Self.putInLine(devices, again, in: round, of: campaign, at: now, session)
            }
        }
    }

    private static func putInLine(
        _ devices: [(device: Int64, environment: PushEnvironment)], _ again: SentAgain, in round: RoundTable.Open,
        of campaign: CampaignKey, at now: Timestamp, _ session: PostgresSession
    ) throws -> [(state: DeliveryState, reason: String?)] {
        let locked = try session.run(RoundStatements.lock) { values in
            values.add(campaign.row)
            values.add(devices.map(\.device))
        }
        let environments = Dictionary(uniqueKeysWithValues: devices.map { ($0.device, $0.environment) })
        var taken: [Int64] = []
        var old: [(state: DeliveryState, reason: String?)] = []
        for row in 0..<locked.count {
            guard let state = DeliveryState(rawValue: UInt8(truncatingIfNeeded: locked.integer(row, 1))),
                round.states.contains(state)
            else { continue }
            taken.append(locked.integer(row, 0))
            old.append((state, locked.optionalText(row, 2)))
        }
        try session.run(RoundStatements.putInLine) { values in
            values.add(campaign.row)
            values.add(now.milliseconds)
            values.add(Int64(again.rawValue))
            values.add(taken)
            values.add(taken.map { Int64(environments[$0]?.rawValue ?? 0) })
        }
        return old
    }
}

extension RoundStep {
    /// Rows with one of the outcomes that are sent again.
    fileprivate mutating func findRows(of campaign: CampaignKey, limit: Int, _ session: PostgresSession) throws {
        var found: [(device: Int64, environment: PushEnvironment)] = []
        for state in round.states {
            let rows = try session.run(RoundStatements.rows) { values in
                values.add(campaign.row)
                values.add(Int64(state.rawValue))
                values.add(round.cursor)
                values.add(Int64(limit))
            }
            for row in 0..<rows.count {
                found.append((rows.integer(row, 0), rows.integer(row, 1) == 0 ? .production : .sandbox))
            }
        }
        take(found, limit: limit)
    }

    /// Devices whose push was accepted, and that have a row.
    fileprivate mutating func findAccepted(
        of campaign: CampaignKey, limit: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ session: PostgresSession
    ) throws {
        let found = try session.run(RoundStatements.accepted) { values in
            values.add(campaign.row)
            values.add(round.cursor)
            values.add(Int64(limit))
        }
        take(accepted: BatchReader.rows(of: found), limit: limit, wants: wants)
    }

    /// Devices of batches.
    fileprivate mutating func findPacked(
        of campaign: CampaignKey, batches: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ session: PostgresSession
    ) throws {
        try findPacked(of: campaign, batches: batches, wants: wants, session) { devices in
            BatchReader.rows(of: try session.run(RoundStatements.devices) { $0.add(devices) })
        }
    }
}

/// What putting devices in line says to the server.
enum RoundStatements {
    /// What has one outcome, ascending by device.
    static let rows = PostgresStatement(
        """
        SELECT d.device_id, v.environment FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.state = $2 AND d.state > 2 AND d.state <> 7 AND d.device_id > $3
        ORDER BY d.device_id LIMIT $4
        """, isReadOnly: true)
    /// Devices whose push was accepted, and that have a row. Seven columns as `BatchReader` reads them.
    static let accepted = PostgresStatement(
        """
        SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at
        FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.device_id > $2 AND d.state = 2 AND v.removed_at IS NULL
        ORDER BY d.device_id LIMIT $3
        """, isReadOnly: true)
    static let devices = PostgresStatement(
        """
        SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at
        FROM device WHERE id = ANY ($1) AND removed_at IS NULL ORDER BY id
        """, isReadOnly: true)
    static let lock = PostgresStatement(
        """
        SELECT device_id, state, reason FROM delivery WHERE campaign_id = $1 AND device_id = ANY ($2)
        ORDER BY device_id FOR UPDATE
        """)
    static let putInLine = PostgresStatement(
        """
        UPDATE delivery AS d SET state = 3, reason = NULL, next_attempt_at = $2, environment = n.environment::smallint,
            updated_at = $2, again = $3::smallint
        FROM unnest($4, $5) AS n (device, environment)
        WHERE d.campaign_id = $1 AND d.device_id = ANY ($4) AND d.device_id = n.device
        """)
}
