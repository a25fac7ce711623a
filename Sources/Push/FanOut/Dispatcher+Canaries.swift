// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Canaries: the users whom a bump names get their pushes before all others.
extension Dispatcher {
    /// Notes that the canary is done. Nothing follows until a person releases it.
    mutating func endCanary(of run: CampaignRun, at now: Timestamp) throws {
        try store.endCanary(run.record.key, at: now)
        guard let record = try store.campaign(run.record.key), record.isCanary, record.canary?.endedAt != nil else {
            return halt(run)
        }
        run.lifecycle.waveEnded(next: nil)
        guard run.record.canary?.endedAt == nil else { return }
        log(
            .notice, "the canary is done",
            [
                ("campaign", record.id), ("accepted", String(record.figures.counts.accepted)),
                ("failed", String(record.canaryFailures)), ("next", "released by hand"),
            ])
    }
}
