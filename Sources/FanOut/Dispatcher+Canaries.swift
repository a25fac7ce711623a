// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// To whom before all others: the users whom a bump names.
extension Dispatcher {
    /// Notes that the canary is done; the rules between waves say whether anything follows without an operator.
    mutating func endCanary(of run: CampaignRun, at now: Timestamp) throws {
        try store.endCanary(run.record.key, at: now)
        guard let record = try store.campaign(run.record.key), record.isCanary else { return halt(run) }
        let next = record.canaryReleaseAt(run.route.waveRules)
        run.machine.waveEnded(next: next)
        guard run.record.canary?.endedAt == nil else { return }
        log(
            .notice, "the canary is done",
            [
                ("campaign", record.id), ("accepted", String(record.counts.accepted)),
                ("failed", String(record.canaryFailures)), ("next", next?.internetTime ?? "released by hand"),
            ])
    }

    /// The pause after the canary is over.
    mutating func releaseCanary(_ record: CampaignRecord, _ run: CampaignRun, at now: Timestamp) throws {
        guard let rules = run.route.waveRules else { return run.machine.waveEnded(next: nil) }
        switch record.canary?.verdict(rules, accepted: record.counts.accepted, failed: record.canaryFailures) {
        case .hold(let reason):
            if try store.moveCampaign(record.key, from: [.running], to: .suspended, reason: reason, at: now) {
                log(.warning, "the rest of the audience is held", [("campaign", record.id), ("reason", reason)])
            }
        case .begin, nil:
            let released = try store.releaseCanary(
                record.required, of: record.app, by: "betweenWaves", from: "release", reason: "the canary is done",
                at: now)
            if released != nil {
                log(.notice, "the canary is released: the campaign goes to everybody", [("campaign", record.id)])
            }
        }
        halt(run)
        if run.isStopped { forget(run) }
        seenMark = nil
        nextLook = self.now.tick
    }

    /// A campaign whose canary was released is begun anew, for everybody and by the app's usual services.
    func haltReleased(_ open: [CampaignRecord]) {
        for record in open {
            guard let run = runs[record.key], run.record.isCanary, !record.isCanary else { continue }
            halt(run)
        }
    }
}
