// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import Requirements

extension SQLStore {
    /// The number of outcomes that one query counts: no snapshot may be held while millions are counted.
    private static var outcomesAtATime: Int64 { 100_000 }

    package func outcomes(of campaign: CampaignKey, each grain: Duration) throws -> [OutcomeCount] {
        let width = max(grain.milliseconds, 1)
        var counts: [OutcomeCount.Place: Int64] = [:]
        func add(_ slot: Int64, _ state: DeliveryState, _ devices: Int64) {
            guard devices > 0 else { return }
            counts[OutcomeCount.Place(slot: slot, state: state), default: 0] += devices
        }
        // A batch is counted as a whole: there are some thousand for a million devices.
        let batches = try readOnce("counting outcomes over time") { connection in
            try connection.all(
                """
                SELECT updated_at / ?2, CAST(sum(accepted) AS bigint), CAST(sum(filtered) AS bigint) FROM delivery_batch
                WHERE campaign_id = ?1 GROUP BY updated_at / ?2
                """, campaign.row, width
            ) { (slot: $0.integer(), accepted: $0.integer(), filtered: $0.integer()) }
        }
        for batch in batches {
            add(batch.slot, .accepted, batch.accepted)
            add(batch.slot, .filtered, batch.filtered)
        }
        var last = Int64.min
        while true {
            let found = try readOnce("counting outcomes over time") { connection in
                try connection.all(
                    """
                    SELECT d.slot, d.state, count(*), max(d.device_id) FROM (
                        SELECT updated_at / ?4 AS slot, state, device_id FROM delivery
                        WHERE campaign_id = ?1 AND device_id > ?2 ORDER BY device_id LIMIT ?3) AS d
                    GROUP BY d.slot, d.state
                    """, campaign.row, last, Self.outcomesAtATime, width
                ) { (slot: $0.integer(), state: $0.integer(), devices: $0.integer(), last: $0.integer()) }
            }
            for part in found {
                if let state = DeliveryState(rawValue: UInt8(clamping: part.state)) {
                    add(part.slot, state, part.devices)
                }
            }
            last = found.map(\.last).max() ?? last
            guard found.reduce(0, { $0 + $1.devices }) >= Self.outcomesAtATime else { break }
        }
        return counts.map { place, devices in
            OutcomeCount(
                from: Timestamp(milliseconds: place.slot * width), state: place.state, devices: devices)
        }
        .sorted { ($0.from, $0.state.rawValue) < ($1.from, $1.state.rawValue) }
    }
}

extension OutcomeCount {
    fileprivate struct Place: Hashable {
        var slot: Int64
        var state: DeliveryState
    }
}
