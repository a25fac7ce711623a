// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry

/// Pushes that were recorded as refused before the campaign's breaker had seen enough to judge: where it trips, the
/// credential was at fault and they are tried again. Never more than the breaker's sample.
struct UnjudgedRefusals {
    private var devices = DeviceRows()
    private var rows: [LedgerRow] = []
    /// How often each reason was given.
    private(set) var reasons: [String: Int] = [:]

    /// The reason that was given most.
    var mainReason: String? {
        reasons.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    mutating func add(_ reasons: [String: Int]) {
        self.reasons.merge(reasons, uniquingKeysWith: +)
    }

    mutating func add(_ refusals: [(LedgerRow, telephone: [UInt8])]) {
        for (refused, telephone) in refusals {
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
