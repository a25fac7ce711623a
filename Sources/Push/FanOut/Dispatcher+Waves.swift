// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// A campaign's waves: which users are sent to first. The users whom a canary names get their pushes before all others.
extension Dispatcher {
    /// Notes that the wave is over and sets the time of the next.
    mutating func endWave(of run: CampaignRun, at now: Timestamp) throws {
        if run.record.isCanary { return try endCanary(of: run, at: now) }
        // A relay that begins anew between two waves finds the wave over.
        let isNews = try store.endWave(run.record.key, at: now)
        guard let record = try store.campaign(run.record.key), let wave = record.figures.waves.current,
            wave.endedAt != nil
        else { return halt(run) }
        let next = record.figures.waves.nextAt(run.route.waveRules) ?? now
        run.lifecycle.waveEnded(next: next)
        guard isNews else { return }
        log(
            .notice, "a wave is done",
            [
                ("campaign", record.id), ("wave", "\(wave.number + 1) of \(record.figures.waves.list.count)"),
                ("accepted", String(wave.accepted)), ("failed", String(wave.failed)),
                ("retrying", String(wave.retrying)), ("next", next.internetTime),
            ])
    }

    /// Begins the next wave, unless an operator has to release it.
    mutating func beginWave(of run: CampaignRun, at now: Moment) throws {
        guard let record = try store.campaign(run.record.key) else { return halt(run) }
        switch record.figures.waves.verdict(run.route.waveRules) {
        case .hold(let cause, let reason):
            if try store.holdWave(record.key, cause, reason: reason, at: now.wall) {
                log(.warning, "the next wave is held", [("campaign", record.id), ("reason", reason)])
            }
            halt(run)
        case .begin:
            try store.beginNextWave(record.key, at: now.wall)
            // The wave may have superseded older campaigns, but this process's own writes do not move the store's change mark.
            lookAtOnce()
            guard let begun = try store.campaign(record.key), let wave = begun.figures.waves.current else {
                return halt(run)
            }
            run.take(begun)
            // The other channels, such as the check at login, require the update of the wave's users from now on, too.
            onVersions(try store.versions())
            run.lifecycle.waveBegan(hasMore: begun.figures.waves.next != nil, expiresAt: begun.facts.expiresAt)
            for service in run.services { service.machine.waveBegan() }
            beginRamp(of: run, at: now.tick)
            run.restartRate()
            log(
                .notice, "a wave begins",
                [
                    ("campaign", record.id), ("wave", "\(wave.number + 1) of \(begun.figures.waves.list.count)"),
                    ("devices", String(wave.devices)), ("percent", wave.percentText),
                ])
        }
    }

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
