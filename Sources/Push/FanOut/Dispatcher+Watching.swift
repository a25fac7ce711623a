// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// The watcher: compares the store with what is being sent.
extension Dispatcher {
    /// Reconciles requirements with campaigns, and campaigns with runs, when the store has changed (DESIGN, rule 2).
    mutating func lookAtStore() {
        let now = now
        guard now.tick >= nextLook, !isStopping else { return }
        nextLook = now.tick + configuration.watchInterval
        giveBackRuns()
        do {
            let mark = try store.changeMark()
            let looksForOthers = !store.membership.isAlone && now.tick >= nextFleetLook
            if looksForOthers { nextFleetLook = now.tick + ClaimTable.fleetInterval }
            let hasChanged =
                mark != seenMark || looksForOthers || claims.running != runs.sending
            if hasChanged {
                try reconciler.announce(routes, &faults, at: now.wall)
            }
            let leads = store.membership.leads
            let reminds =
                leads && (hasChanged || reconciler.looksForReminders(at: now.tick))
                && reconciler.remind(routes.filter { newRoutes[$0.key] == nil }, &faults, at: now)
            if hasChanged || reminds { try matchRuns(at: now) }
            seenMark = reconciler.endLook() ? nil : mark
            if leads, now.tick >= nextWebhookSweep {
                try store.forgetWebhooks(before: now.wall - configuration.webhookMemory)
                nextWebhookSweep = now.tick + .seconds(3600)
            }
            storeTrouble.noteLook(nil, &faults)
            lastLook = now.wall
        } catch {
            seenMark = nil
            storeTrouble.noteLook(error, &faults)
            haltUnconfirmed()
        }
    }

    /// After a look that failed, a pause, a withdrawal or a newer requirement may have gone unseen. Campaigns that the store does
    /// not list as running send nothing, and begin again at the next look that succeeds.
    private mutating func haltUnconfirmed() {
        let open = (try? store.openCampaigns()) ?? []
        let running = Set(open.lazy.filter { $0.state == .running }.map(\.key))
        for run in runs.inOrder where !running.contains(run.record.key) { halt(run) }
    }

    /// Begins nothing new for the campaign and calls back pushes that have not left.
    mutating func halt(_ run: CampaignRun) { perform(run.lifecycle.halt(), of: run) }

    mutating func perform(_ action: CampaignLifecycle.Action, of run: CampaignRun) {
        if action == .halt { run.callBack() }
        if run.lifecycle.isStopped { forget(run) }
    }

    /// Forgets a campaign that has no push on its way.
    mutating func forget(_ run: CampaignRun) {
        for service in run.services { service.machine.forget(campaign: run.record.key.row) }
        runs[run.record.key] = nil
        endedLeases.append(run.lease)
        if runs.rerouted.contains(run.record.key), newRoutes[run.record.app] == nil { lookAtOnce() }
    }

    /// Makes the next look happen at once, and read everything even if the store's change mark has not moved.
    mutating func lookAtOnce() {
        seenMark = nil
        nextLook = now.tick
    }

    private mutating func matchRuns(at now: Moment) throws {
        let surelyPast = surelyPast
        let open = try store.openCampaigns()
        try reconciler.reportSuperseded(open)
        let records = open.filter { $0.state == .running }
        let byKey = Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0) })
        let others = store.membership.isAlone ? [] : try store.campaignsOfOthers()
        for run in runs.inOrder where others.contains(run.record.key) { halt(run) }
        for run in runs.inOrder {
            let record = byKey[run.record.key]
            perform(run.lifecycle.looked(record?.seen(run.route.waveRules), at: surelyPast), of: run)
            if let record, run.lifecycle.isSending { run.take(record) }
        }
        runs.rerouted.formIntersection(byKey.keys)
        claims.looked(byKey.keys, of: others)
        for record in records where term != nil && !others.contains(record.key) {
            guard newRoutes[record.app] == nil, let route = routes[record.app] else { continue }
            // A campaign whose outcomes cannot be recorded is not begun.
            guard runs[record.key] == nil, !storeRests else {
                claims.runs(record.key)
                continue
            }
            guard mayClaim(record.key, at: now.tick) else { continue }
            do {
                try claim(record, route, at: now, surelyPast: surelyPast)
            } catch {
                claims.runs(record.key)
                if (error as? StoreError)?.isOfWholeStore ?? false {
                    noteStore(error)
                } else {
                    reconciler.noteRefusal(for: record.app, error, &faults)
                }
            }
        }
        services.shareBudget()
    }

    mutating func begin(
        _ record: CampaignRecord, _ lease: RunLease, _ lifecycle: CampaignLifecycle, _ route: AppRoute, at now: Moment
    ) throws {
        do {
            // No room is kept for the telephone: real ones are short, though 64 characters of six bytes each are
            // allowed. A push that is too long after all is refused by itself.
            try route.check(route.payload(of: record), longestTelephone: 0)
        } catch {
            return try decisions.suspend(
                record, CampaignLifecycle.Suspension(.payload, "PayloadTooLarge: \(error)"), at: now.wall)
        }
        let prepared = try CampaignPreparation(store: store, configuration: configuration, log: log)
            .prepare(record, lease, route, at: now.wall)
        let record = prepared.record
        let run = CampaignRun(
            record: record, lease: prepared.lease, lifecycle: lifecycle, route: route,
            track: runs.track(for: record), unregisteredLimit: prepared.unregisteredLimit)
        run.lifecycle.begun(hasMoreWaves: record.hasMoreWaves, gathers: record.isGathering)
        let keepsRamp = runs.rerouted.contains(record.key)
        if !keepsRamp { beginRamp(of: run, at: now.tick) }
        for channel in prepared.channels { try begin(run, at: channel, keepsRamp: keepsRamp, now) }
        runs.rerouted.remove(record.key)
        runs[record.key] = run
        log(.info, "sending", [("campaign", record.id), ("app", record.app.app)])
    }

    /// Makes the campaign send to the service of this channel, too.
    mutating func begin(
        _ run: CampaignRun, at channel: Channel, keepsRamp: Bool, _ now: Moment
    ) throws {
        let nextRetry = try store.nextRetry(run.record.key, channel: channel)
        let service = services.service(run.record.app, channel, run.route, run.track)
        // Doubts about tokens outlive a restart, a reload and a newer campaign, which prove nothing for the service.
        for one in services.judging(service, for: run) {
            try one.tokens.begin { try store.tokenDoubts(of: run.record.app, channel: one.key.channel) }
        }
        // A repair that was made before this, also of the clock, takes effect at once.
        service.forgetTemplate()
        service.provider.forgetRefusal()
        service.machine.begin(
            campaign: run.record.key.row, nextRetry: nextRetry, delivered: run.record.figures.counts.accepted,
            opensAt: opening(service, of: run, keepsRamp: keepsRamp, at: now.wall))
        run.add(service)
        services.takeUpPause(service, run, at: now.wall)
    }

    /// Writes into the store why campaigns are suspended, before their batches are recorded: after a crash in between,
    /// the batches are unrecorded, and the campaign does not go on with a bad credential.
    mutating func writeSuspensions() throws {
        for run in runs.inOrder {
            guard let suspension = run.lifecycle.suspension else { continue }
            try decisions.suspend(run.record, suspension, at: now.wall)
            run.lifecycle.suspended()
            if run.lifecycle.isStopped { forget(run) }
        }
    }
}
