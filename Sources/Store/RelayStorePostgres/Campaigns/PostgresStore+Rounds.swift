// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL

extension PostgresStore {
    package func recorded(
        as state: DeliveryState, in campaign: CampaignKey, after device: Int64, limit: Int, _ session: PostgresSession
    ) throws -> [RoundTable.Device] {
        let rows = try session.run(RoundStatements.rows) { values in
            values.add(campaign.row)
            values.add(Int64(state.rawValue))
            values.add(device)
            values.add(Int64(limit))
        }
        return (0..<rows.count).map { row in
            (rows.integer(row, 0), rows.channel(row, 1))
        }
    }

    package func accepted(
        in campaign: CampaignKey, after device: Int64, limit: Int, _ session: PostgresSession
    ) throws -> DeviceRows {
        let found = try session.run(RoundStatements.accepted) { values in
            values.add(campaign.row)
            values.add(device)
            values.add(Int64(limit))
        }
        return BatchReader.rows(of: found)
    }

    package func registered(
        _ devices: [Int64], of campaign: CampaignKey, _ session: PostgresSession
    ) throws -> DeviceRows {
        BatchReader.rows(of: try session.run(RoundStatements.devices) { $0.add(devices) })
    }

    package func putInLine(
        _ devices: [RoundTable.Device], _ again: RequeueReasons, in round: RoundTable.Open,
        of campaign: CampaignKey, at now: Timestamp, _ session: PostgresSession
    ) throws -> [(state: DeliveryState, reason: String?)] {
        let locked = try session.run(RoundStatements.lock) { values in
            values.add(campaign.row)
            values.add(devices.map(\.device))
        }
        let channels = Dictionary(uniqueKeysWithValues: devices.map { ($0.device, $0.channel) })
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
            values.add(taken.map { Int64(channels[$0]?.rawValue ?? 0) })
        }
        return old
    }
}

/// The statements that put devices in line.
enum RoundStatements {
    /// Rows with one outcome, ascending by device.
    static let rows = PostgresStatement(
        """
        SELECT d.device_id, v.environment FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.state = $2 AND d.state > 2 AND d.state <> 7 AND d.device_id > $3
        ORDER BY d.device_id LIMIT $4
        """, isReadOnly: true)
    /// Registered devices with a row for an accepted push. The columns are those that `BatchReader` reads.
    static let accepted = PostgresStatement(
        """
        SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at, v.os_version
        FROM delivery AS d JOIN device AS v ON v.id = d.device_id
        WHERE d.campaign_id = $1 AND d.device_id > $2 AND d.state = 2 AND v.removed_at IS NULL
        ORDER BY d.device_id LIMIT $3
        """, isReadOnly: true)
    static let devices = PostgresStatement(
        """
        SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at, os_version
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
