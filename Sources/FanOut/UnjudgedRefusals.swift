// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// Pushes that were recorded as refused before the campaign's breaker had seen enough to judge: where it trips, the
/// credential was at fault and they are tried again. Those of the campaign's first answers, or of the last batches with a fault.
struct UnjudgedRefusals {
    private var devices = DeviceRows()
    private var rows: [LedgerRow] = []
    private(set) var refusals = Refusals()

    /// Of a campaign in which now and then a push alone is refused so, the latest are enough.
    private static let limit = 5_000

    mutating func add(_ refusals: Refusals, _ pushes: [(LedgerRow, telephone: [UInt8])]) {
        if rows.count > Self.limit { self = UnjudgedRefusals() }
        self.refusals.add(refusals)
        for (refused, telephone) in pushes {
            var row = refused
            row.telephone = unsafe telephone.withUnsafeBytes { unsafe devices.store($0) }
            rows.append(row)
        }
    }

    /// What puts them back in line; nil where nothing was recorded.
    func recall(for campaign: CampaignKey, at now: Timestamp) -> LedgerCommit? {
        guard !rows.isEmpty else { return nil }
        let rows = rows.sorted { $0.device < $1.device }.map { row in
            var row = row
            row.state = .retrying
            row.nextAttemptAt = now
            return row
        }
        return LedgerCommit(
            campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: rows, devices: devices, retirements: [])
    }
}
