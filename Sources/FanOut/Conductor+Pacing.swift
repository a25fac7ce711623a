// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// How fast, and to whom first: each app's bucket and each campaign's waves.
extension Conductor {
    /// The bucket's clock.
    var tick: MonotonicTime { MonotonicTime(nanoseconds: UInt64((ContinuousClock.now - startedAt).nanoseconds)) }

    // MARK: The pace

    /// Brings the buckets in line with the routes; what is in one stays there, for whoever reloads often.
    mutating func takePaces() {
        let now = tick
        pacers = routes.compactMapValues { route in
            guard let pace = route.pace else { return nil }
            guard var pacer = pacers[route.app] else { return Pacer(pace, at: now) }
            if pacer.pace != pace { pacer.change(to: pace, at: now) }
            return pacer
        }
    }

    /// A campaign or a wave begins, or a campaign goes on.
    mutating func beginPace(of app: AppKey) {
        let now = tick
        pacers[app]?.begin(at: now)
    }

    /// Pushes that the campaign may send now: of what its services take, what the pace allows.
    mutating func allowance(_ run: CampaignRun, at now: Timestamp) -> Int {
        let most = outageAllowance(run, at: now)
        guard run.route.pace != nil, most > 0 else { return most }
        let tick = tick
        return min(most, pacers[run.record.app]?.allowance(at: tick) ?? .max)
    }

    mutating func took(_ pushes: Int, by run: CampaignRun) {
        guard run.route.pace != nil else { return }
        pacers[run.record.app]?.took(pushes)
    }

    /// What no connection could be had for is tried again before long: it takes nothing from those that can be sent.
    mutating func gaveBack(_ flight: Flight, of run: CampaignRun) {
        guard run.route.pace != nil else { return }
        let tick = tick
        pacers[run.record.app]?.gaveBack(flight.unreached, at: tick)
    }

    /// How long until the pace lets the campaign send; nil where nothing but the pace would have to come.
    mutating func paceWait(_ run: CampaignRun, at now: Timestamp) -> Duration? {
        guard run.route.pace != nil, !storeRests, !isClosing, !run.isPaused(at: now) else {
            return nil
        }
        let tick = tick
        return pacers[run.record.app]?.wait(at: tick)
    }

    // MARK: Waves

    /// Notes that the wave is over and sets the time of the next.
    mutating func endWave(of run: CampaignRun, at now: Timestamp) throws {
        try store.endWave(run.record.key, at: now)
        guard let record = try store.campaign(run.record.key), let wave = record.waves.current else { return halt(run) }
        run.take(record.waves)
        let next = record.waves.nextAt(run.route.waveRules) ?? now
        run.machine.waveEnded(next: next)
        log(
            .notice, "a wave is done",
            [
                ("campaign", record.id), ("wave", "\(wave.number + 1) of \(record.waves.list.count)"),
                ("accepted", String(wave.accepted)), ("failed", String(wave.failed)), ("next", next.internetTime),
            ])
    }

    /// Begins the next wave, unless an operator has to say so.
    mutating func beginWave(of run: CampaignRun, at now: Timestamp) throws {
        guard let record = try store.campaign(run.record.key) else { return halt(run) }
        switch record.waves.verdict(run.route.waveRules) {
        case .hold(let reason):
            if try store.holdWave(record.key, reason: reason, at: now) {
                log(.warning, "the next wave is held", [("campaign", record.id), ("reason", reason)])
            }
            halt(run)
            seenMark = nil
        case .begin:
            try store.beginNextWave(record.key, at: now)
            guard let begun = try store.campaign(record.key), let wave = begun.waves.current else { return halt(run) }
            run.take(begun.waves)
            run.machine.waveBegan(hasMore: begun.waves.next != nil)
            beginPace(of: record.app)
            log(
                .notice, "a wave begins",
                [
                    ("campaign", record.id), ("wave", "\(wave.number + 1) of \(begun.waves.list.count)"),
                    ("devices", String(wave.devices)), ("percent", wave.percentText),
                ])
        }
    }

    /// Takes note of an operator who does not want to wait for the next wave.
    func noteRelease(of record: CampaignRecord, _ run: CampaignRun) {
        guard record.waves.areBetween, record.waves != run.waves, let next = record.waves.nextAt(run.route.waveRules)
        else { return }
        run.take(record.waves)
        run.machine.waveEnded(next: next)
    }
}
