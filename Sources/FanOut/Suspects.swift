// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry

/// Pushes that were recorded as refused before the campaign's breaker had seen enough to judge: where it trips, the
/// credential was at fault and they are tried again. Never more than the breaker's sample.
struct Suspects {
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

extension Conductor {
    /// Puts back in line what was recorded as refused before a restart, a reload or a pause, where the service has taken nothing
    /// of the campaign yet: that run's breaker did not come to judge, the credential may have been at fault, and may
    /// have been repaired since. They go out again, fewer than a breaker's sample, and are judged with those that follow.
    func recallSuspects(of record: CampaignRecord, at now: Timestamp) throws {
        guard record.counts.rejected > 0, record.counts.accepted + record.counts.unregistered == 0 else { return }
        let refused = try store.deliveries(of: record.key, state: .rejected, telephone: nil, after: 0, limit: 1000)
        var suspects = Suspects()
        // What never went out was refused by the relay itself.
        suspects.add(
            refused.filter { $0.attempts > 0 }.map { push in
                let row = LedgerRow(
                    device: push.device, state: .rejected, attempts: UInt16(clamping: push.attempts),
                    reason: push.reason)
                return (row, telephone: Array((push.telephone ?? "").utf8))
            })
        guard let commit = suspects.recall(for: record.key, at: now) else { return }
        try store.commit([commit], at: now)
        log(
            .notice, "refused pushes are tried again: the service has taken none of the campaign yet",
            [("campaign", record.id), ("pushes", String(commit.rows.count))])
    }
}
