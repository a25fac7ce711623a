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
            if looksForOthers { nextFleetLook = now.tick + Self.fleetInterval }
            let hasChanged =
                mark != seenMark || looksForOthers || running != Set(runs.filter(\.value.lifecycle.isSending).keys)
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
            noteLook(nil)
            lastLook = now.wall
        } catch {
            seenMark = nil
            noteLook(error)
            haltUnconfirmed()
        }
    }

    /// After a look that failed, a pause, a withdrawal or a newer requirement may have gone unseen. Campaigns that the store does
    /// not list as running send nothing, and begin again at the next look that succeeds.
    private mutating func haltUnconfirmed() {
        let open = (try? store.openCampaigns()) ?? []
        let running = Set(open.lazy.filter { $0.state == .running }.map(\.key))
        for run in runsInOrder where !running.contains(run.record.key) { halt(run) }
    }

    /// Begins nothing new for the campaign and calls back pushes that have not left.
    mutating func halt(_ run: CampaignRun) { perform(run.lifecycle.halt(), of: run) }

    mutating func perform(_ action: CampaignLifecycle.Action, of run: CampaignRun) {
        if action == .halt { callBack(run) }
        if run.lifecycle.isStopped { forget(run) }
    }

    func callBack(_ run: CampaignRun) {
        for service in run.services {
            service.machine.halt(campaign: run.record.key.row)
            service.withdraw()
        }
    }

    /// Forgets a campaign that has no push on its way.
    mutating func forget(_ run: CampaignRun) {
        for service in run.services { service.machine.forget(campaign: run.record.key.row) }
        runs[run.record.key] = nil
        endedLeases.append(run.lease)
        if rerouted.contains(run.record.key), newRoutes[run.record.app] == nil { lookAtOnce() }
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
        for run in runsInOrder where others.contains(run.record.key) { halt(run) }
        for run in runsInOrder {
            let record = byKey[run.record.key]
            perform(run.lifecycle.looked(record?.seen(run.route.waveRules), at: surelyPast), of: run)
            if let record, run.lifecycle.isSending { run.take(record) }
        }
        rerouted.formIntersection(byKey.keys)
        claimsDue = claimsDue.filter { byKey[$0.key] != nil && !others.contains($0.key) }
        running = []
        for record in records where term != nil && !others.contains(record.key) {
            guard newRoutes[record.app] == nil, let route = routes[record.app] else { continue }
            // A campaign whose outcomes cannot be recorded is not begun.
            guard runs[record.key] == nil, !storeRests else {
                running.insert(record.key)
                continue
            }
            guard mayClaim(record.key, at: now.tick) else { continue }
            do {
                try claim(record, route, at: now, surelyPast: surelyPast)
            } catch {
                running.insert(record.key)
                if (error as? StoreError)?.isOfWholeStore ?? false {
                    noteStore(error)
                } else {
                    reconciler.noteRefusal(for: record.app, error, &faults)
                }
            }
        }
        shareBudget()
    }

    mutating func begin(
        _ record: CampaignRecord, _ lease: RunLease, _ lifecycle: CampaignLifecycle, _ route: AppRoute, at now: Moment
    ) throws {
        do {
            // No room is kept for the telephone: real ones are short, though 64 characters of six bytes each are
            // allowed. A push that is too long after all is refused by itself.
            try route.check(route.payload(of: record), longestTelephone: 0)
        } catch {
            return try suspend(
                record, CampaignLifecycle.Suspension(.payload, "PayloadTooLarge: \(error)"), at: now.wall)
        }
        let prepared = try CampaignPreparation(store: store, configuration: configuration, log: log)
            .prepare(record, lease, route, at: now.wall)
        let record = prepared.record
        // The campaign takes services that no other campaign of the app uses. A campaign that began for some users
        // alone may be for everybody since, and keeps the services that it began with.
        let taken = Set(runs.values.filter { $0.record.app == record.app && $0.lifecycle.isSending }.map(\.track))
        let isStaged = record.isStaged ? !taken.contains(.staged) : taken.contains(.everybody)
        let run = CampaignRun(
            record: record, lease: prepared.lease, lifecycle: lifecycle, route: route,
            track: record.requirement.kind == .blocked
                ? .block(record.requirement.id) : isStaged ? .staged : .everybody,
            unregisteredLimit: prepared.unregisteredLimit)
        run.lifecycle.begun(hasMoreWaves: record.hasMoreWaves, gathers: record.isGathering)
        let keepsRamp = rerouted.contains(record.key)
        if !keepsRamp { beginRamp(of: run, at: now.tick) }
        for channel in prepared.channels { try begin(run, at: channel, keepsRamp: keepsRamp, now) }
        rerouted.remove(record.key)
        runs[record.key] = run
        log(.info, "sending", [("campaign", record.id), ("app", record.app.app)])
    }

    /// Makes the campaign send to the service of this channel, too.
    mutating func begin(
        _ run: CampaignRun, at channel: Channel, keepsRamp: Bool, _ now: Moment
    ) throws {
        let nextRetry = try store.nextRetry(run.record.key, channel: channel)
        let service = service(run.record.app, channel, run.route, run.track)
        // Doubts about tokens outlive a restart, a reload and a newer campaign, which prove nothing for the service.
        for one in services(judging: service, for: run) {
            try one.tokens.begin { try store.tokenDoubts(of: run.record.app, channel: one.key.channel) }
        }
        // A repair that was made before this, also of the clock, takes effect at once.
        service.forgetTemplate()
        service.provider.forgetRefusal()
        service.machine.begin(
            campaign: run.record.key.row, nextRetry: nextRetry, delivered: run.record.figures.counts.accepted,
            opensAt: opening(service, of: run, keepsRamp: keepsRamp, at: now.wall))
        run.add(service)
        takeUpPause(service, run, at: now.wall)
    }

    mutating func expire(_ record: CampaignRecord, at now: Timestamp) throws {
        try store.expireCampaign(record.key, at: now)
        let after = try store.campaign(record.key)?.figures.counts.expired ?? record.figures.counts.expired
        tallies[record.app, default: PushTally()].add(expired: Int(after - record.figures.counts.expired))
        reportEnd("the campaign's time to live ran out", of: record.key)
    }

    /// Stops a campaign that cannot succeed, with the reason that its status shows.
    private func suspend(
        _ record: CampaignRecord, _ suspension: CampaignLifecycle.Suspension, at now: Timestamp
    ) throws {
        if try store.decide(record, .suspended(suspension.cause, suspension.reason), by: .relay(at: now)) {
            log(.error, "the campaign is suspended", [("campaign", record.id), ("reason", suspension.reason)])
        }
    }

    /// Writes into the store why campaigns are suspended, before their batches are recorded: after a crash in between,
    /// the batches are unrecorded, and the campaign does not go on with a bad credential.
    mutating func writeSuspensions() throws {
        for run in runsInOrder {
            guard let suspension = run.lifecycle.suspension else { continue }
            try suspend(run.record, suspension, at: now.wall)
            run.lifecycle.suspended()
            if run.lifecycle.isStopped { forget(run) }
        }
    }
}
