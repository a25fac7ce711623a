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
                // Campaigns that are superseded below were open before.
                if lastLook == nil { knownOpen = Set(try store.openCampaigns().map(\.key)) }
                try announceRises(at: now.wall)
            }
            let leads = store.membership.leads
            let reminds = leads && (hasChanged || now.tick >= nextReminderLook) ? beginReminders(at: now) : false
            if hasChanged || reminds { try matchRuns(at: now) }
            seenMark = endRefusals() ? nil : mark
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

    /// Notes that one app's part of the store cannot be read or written: the look goes on with the other apps, and the
    /// next one tries this app again.
    mutating func noteRefusal(for app: AppKey, _ error: any Error) {
        refusedApps.insert(app)
        _ = faults.set(app.faultPart, "\(error)")
        guard !knownRefused.contains(app) else { return }
        log(
            .error, "the store refuses for one app: the others go on",
            [("app", app.app), ("platform", app.platform.rawValue), ("error", "\(error)")])
    }

    /// Ends the look, and logs the apps for which the store no longer refuses.
    ///
    /// - Returns: whether the store refused for an app.
    private mutating func endRefusals() -> Bool {
        for app in knownRefused.subtracting(refusedApps).sorted() {
            log(
                .notice, "the store does not refuse for the app any more",
                [("app", app.app), ("platform", app.platform.rawValue)])
        }
        knownRefused = refusedApps
        refusedApps = []
        return !knownRefused.isEmpty
    }

    private mutating func announceRises(at now: Timestamp) throws {
        let records = try store.versions()
        onVersions(records)
        var hasChanged = false
        // Only the leading relay does this: two would log it twice, and two configurations would begin a campaign each.
        for record in records where store.membership.leads {
            guard let required = record.required ?? record.requirements.blocked.first else { continue }
            let part = record.app.faultPart
            guard let route = routes[record.app] else {
                _ = faults.clear(part)
                // Fine for an app that only asks at login; worth a line if pushes were expected.
                if unrouted.insert(record.app).inserted {
                    log(
                        .notice, "a required version is stored for an app without a push service",
                        [("app", record.app.app), ("platform", record.app.platform.rawValue)])
                }
                continue
            }
            do {
                let decision = try store.reconcile(record.app, in: surroundings(record.app, route.draft, now))
                hasChanged = hasChanged || decision.hasChanged
                if let campaign = decision.campaign {
                    // The version was stored earlier without a campaign, because the app could not be pushed to then.
                    log(
                        .notice, "a campaign begins",
                        [
                            ("campaign", campaign.id), ("app", record.app.app), ("required", required.text),
                            ("state", campaign.state.rawValue),
                        ])
                }
                _ = faults.clear(part)
            } catch let error as StoreError where error.code == .noDownloadURL {
                if faults.set(part, error.description) {
                    log(
                        .error, "a requirement cannot be announced without a download URL",
                        [
                            ("app", record.app.app), ("required", required.text),
                        ])
                }
            } catch {
                noteRefusal(for: record.app, error)
            }
        }
        // Requirements that wait for no store, or have reached their moment, are in force since this look: the other
        // channels, such as the check at login, need them now.
        if hasChanged { onVersions(try store.versions()) }
    }

    private mutating func matchRuns(at now: Moment) throws {
        let surelyPast = surelyPast
        let open = try store.openCampaigns()
        try reportSuperseded(open)
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
                    noteRefusal(for: record.app, error)
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
        if record.isCanary {
            try store.lineUpCanary(record.key, at: now.wall)
        } else if !record.figures.isPlanned {
            try plan(record, route, at: now.wall)
        }
        var record = record
        if record.figures.waves.isEmpty, record.requirement.stages != nil, let planned = try store.campaign(record.key)
        {
            record.figures.waves = planned.figures.waves
        }
        var lease = lease
        try recallRefusals(of: record, by: &lease, at: now.wall)
        // The campaign takes services that no other campaign of the app uses. A campaign that began for some users
        // alone may be for everybody since, and keeps the services that it began with.
        let taken = Set(runs.values.filter { $0.record.app == record.app && $0.lifecycle.isSending }.map(\.track))
        let isStaged = record.isStaged ? !taken.contains(.staged) : taken.contains(.everybody)
        let earlier = try store.answers(of: record.app, before: record.key, campaigns: 100)
        let answered = earlier.accepted + earlier.unregistered
        let limit = CredentialBreaker.unregisteredLimit(
            seen: answered < CredentialBreaker.sampleOfProven ? nil : Double(earlier.unregistered) / Double(answered))
        let run = CampaignRun(
            record: record, lease: lease, lifecycle: lifecycle, route: route,
            track: record.requirement.kind == .blocked
                ? .block(record.requirement.id) : isStaged ? .staged : .everybody,
            unregisteredLimit: record.facts.acceptsDeadTokens ? nil : limit)
        run.lifecycle.begun(hasMoreWaves: record.hasMoreWaves, gathers: record.isGathering)
        let keepsRamp = rerouted.contains(record.key)
        if !keepsRamp { beginRamp(of: run, at: now.tick) }
        try store.bringForward(record.key, at: now.wall)
        for channel in try store.channels(of: record.key).sorted() {
            try begin(run, at: channel, keepsRamp: keepsRamp, now)
        }
        rerouted.remove(record.key)
        runs[record.key] = run
        log(.info, "sending", [("campaign", record.id), ("app", record.app.app)])
    }

    private func plan(_ record: CampaignRecord, _ route: AppRoute, at now: Timestamp) throws {
        // A shard has one batch on its way at a time: small audiences get many small shards, enough to hide the time that an
        // answer takes until near the end; the shards of larger ones are multiples of a batch.
        let batch = max(1, configuration.limits.batchSize)
        let part = Int(record.figures.counts.audience) / (4 * BatchBudget(configuration.limits).mostBatches)
        let size = part > batch ? (part + batch - 1) / batch * batch : part
        // Paced batches are small, so several must be on their way to hide the time that an answer takes.
        let least = route.pace == nil ? 500 : 20
        try store.planShards(
            record.key, shardSize: min(max(size, least), configuration.largestShard), waves: record.requirement.stages,
            at: now)
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

    /// Logs the campaigns that were superseded since the last look. The store supersedes them in the transaction that announces
    /// the newer requirement, wherever that came from: a webhook, a command, or another program's row.
    private mutating func reportSuperseded(_ open: [CampaignRecord]) throws {
        let now = Set(open.map(\.key))
        for key in knownOpen.subtracting(now).sorted() {
            guard store.membership.leads, let record = try store.campaign(key), record.state == .superseded else {
                continue
            }
            log(
                .notice, "a newer requirement superseded the campaign",
                [
                    ("campaign", record.id), ("app", record.app.app), ("platform", record.app.platform.rawValue),
                    ("required", record.requirement.version.text), ("reason", record.facts.reason ?? ""),
                    ("accepted", String(record.figures.counts.accepted)),
                    ("notSent", String(record.figures.counts.cancelled)),
                ])
        }
        knownOpen = now
    }

    /// Puts pushes back in line that were recorded as refused before a restart, a reload or a pause, if their service has taken
    /// nothing of the campaign yet: the earlier run's breaker had not judged, so the credential may have been at fault, and
    /// may have been repaired since. They go out again, fewer than a breaker's sample, and are judged with those that follow.
    private func recallRefusals(of record: CampaignRecord, by lease: inout RunLease, at now: Timestamp) throws {
        guard let refusals = try UnjudgedRefusals(recordedOf: record, in: store),
            let commit = refusals.recall(for: record.key, at: now), try store.commit([commit], of: lease, at: now)
        else { return }
        lease.commits += 1
        log(
            .notice, "refused pushes are tried again: their service has taken none of the campaign yet",
            [("campaign", record.id), ("pushes", String(commit.rows.count))])
    }
}
