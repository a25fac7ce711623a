// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import UpgradeRules

/// Campaigns that ended elsewhere.
extension Conductor {
    /// Says in the log which campaigns were superseded since the last look. The store does that in the transaction that
    /// announces the newer requirement, whoever brought it: a webhook, a command, or another program's row.
    mutating func tellSuperseded(_ open: [CampaignRecord]) throws {
        let now = Set(open.map(\.key))
        for key in knownOpen.subtracting(now) {
            guard let record = try store.campaign(key), record.state == .superseded else { continue }
            log(
                .notice, "a newer requirement superseded the campaign",
                [
                    ("campaign", record.id), ("app", record.app.app), ("platform", record.app.platform.rawValue),
                    ("required", record.required.text), ("reason", record.reason ?? ""),
                    ("accepted", String(record.counts.accepted)), ("notSent", String(record.counts.cancelled)),
                ])
        }
        knownOpen = now
    }
}
