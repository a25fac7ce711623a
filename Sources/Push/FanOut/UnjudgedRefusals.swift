// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// Pushes that were recorded as refused before the campaign's breaker had seen enough to judge: if it trips, the credential was
/// at fault and they are tried again. They are from the campaign's first answers, or from the last batches with a fault.
struct UnjudgedRefusals {
    private var devices = DeviceRows()
    private var rows: [LedgerRow] = []
    private(set) var refusals = Refusals()

    /// The number of pushes beyond which the older ones are dropped: the latest are enough for a campaign in which a
    /// push is refused for such a reason only now and then.
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

    /// The commit that puts them back in line; nil where nothing was recorded.
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
