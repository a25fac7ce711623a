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

    init() {}

    /// The pushes of a campaign that the store has as refused by services that have taken none of it yet.
    ///
    /// - Returns: nil where every service that has answered has taken one.
    init?(recordedOf record: CampaignRecord, in store: any RelayStore) throws {
        let figures = record.figures
        // A campaign of an earlier release has no answers by channel.
        let isProven = figures.counts.proveCredential
        let unproven = figures.channels.filter { !$0.value.proveCredential && $0.value[.rejected] > 0 }.keys
        guard figures.counts.rejected > 0, !isProven || !unproven.isEmpty else { return nil }
        let refused = try store.deliveries(of: record.key, DeliveryFilter(state: .rejected), after: 0, limit: 1000)
        // Pushes that never left were refused by the relay itself.
        for push in refused where push.attempts > 0 {
            if isProven {
                let device = try store.device(record.app, token: push.token)
                guard let device, unproven.contains(device.registration.channel) else { continue }
            }
            let row = LedgerRow(
                device: push.device, state: .rejected, attempts: UInt16(clamping: push.attempts), reason: push.reason)
            add(Refusals(), [(row, telephone: Array((push.telephone ?? "").utf8))])
        }
    }

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
