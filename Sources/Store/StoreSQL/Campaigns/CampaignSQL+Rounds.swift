// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

extension CampaignSQL {
    package func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered {
        // Devices are read and judged without keeping writers waiting; the transaction that follows is short.
        let found = try lookLong("looking for devices to send to again", isSnapshot: true) { connection -> RoundStep? in
            guard let round = try RoundTable.open(campaign, connection) else { return nil }
            var step = RoundStep(round, cursor: round.cursor)
            guard round.retrying < most else { return step }
            step.isFull = false
            try find(round, of: campaign, wants: wants, into: &step, connection)
            return step
        }
        guard let found else { return Gathered(.done) }
        guard !found.isFull else { return Gathered(.full) }
        return try writeLong("putting devices in line again", lock: .campaign(campaign)) { connection in
            try found.write(of: campaign, at: now, connection) { devices, again, round in
                try putInLine(devices, again, in: round, of: campaign, at: now, connection)
            }
        }
    }

    private func find(
        _ round: RoundTable.Open, of campaign: CampaignKey, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        into step: inout RoundStep, _ connection: Connection
    ) throws {
        let limit = RoundStep.most
        switch (round.kind, round.isAtBatches) {
        case (.retry, _):
            let found = try round.states.flatMap { state in
                try recorded(as: state, in: campaign, after: round.cursor, limit: limit, connection)
            }
            step.take(found, limit: limit)
        case (.reminder, false):
            let rows = try accepted(in: campaign, after: round.cursor, limit: limit, connection)
            step.take(accepted: rows, limit: limit, wants: wants)
        case (.reminder, true):
            try step.findPacked(of: campaign, wants: wants, connection) { devices in
                try registered(devices, of: campaign, connection)
            }
        }
    }
}
