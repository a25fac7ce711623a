// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import UpgradeRules

/// The watcher: what the store says against what is being sent.
extension Conductor {
    /// Reconciles requirements with campaigns, and campaigns with runs, when the store has changed (DESIGN, rule 2).
    mutating func lookAround() {
        let tick = ContinuousClock.now
        guard tick >= nextLook, !isClosing else { return }
        nextLook = tick + configuration.watchInterval
        let now = clock()
        do {
            let mark = try store.changeMark()
            if mark != seenMark {
                // What is superseded below was open before.
                if lastLook == nil { knownOpen = Set(try store.openCampaigns().map(\.key)) }
                try announceRises(at: now)
                try matchRuns(at: now)
                seenMark = mark
            }
            for run in runs.values where now >= run.record.expiresAt { try expire(run, at: now) }
            if tick >= nextSweep {
                try store.forgetWebhooks(before: now - configuration.webhookMemory)
                nextSweep = tick + .seconds(3600)
            }
            noteLook(nil)
            lastLook = now
        } catch {
            noteLook(error)
        }
    }

    private mutating func announceRises(at now: Timestamp) throws {
        let records = try store.versions()
        onVersions(records)
        for record in records {
            guard let required = record.required else { continue }
            let part = "app:\(record.app.app)/\(record.app.platform.rawValue)"
            guard let route = routes[record.app] else {
                _ = faults.clear(part)
                // Fine for an app that only asks at login; worth a line where somebody expected pushes.
                if unrouted.insert(record.app).inserted {
                    log(
                        .notice, "a required version is stored for an app without a push service",
                        [("app", record.app.app), ("platform", record.app.platform.rawValue)])
                }
                continue
            }
            do {
                if let campaign = try store.reconcile(record.app, draft: route.draft, at: now) {
                    log(
                        .notice, "the required version rose: a campaign begins",
                        [
                            ("campaign", campaign.id), ("app", record.app.app), ("required", required.text),
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
            }
        }
    }

    private mutating func matchRuns(at now: Timestamp) throws {
        let open = try store.openCampaigns()
        try tellSuperseded(open)
        let running = Set(open.lazy.filter { $0.state == .running }.map(\.key))
        for (key, run) in runs where !running.contains(key) { halt(run) }
        for (key, run) in runs where run.machine.isStopped { runs[key] = nil }
        rerouted.formIntersection(running)
        for record in open where record.state == .running {
            if let run = runs[record.key] {
                noteRelease(of: record, run)
                continue
            }
            guard let route = routes[record.app] else { continue }
            if now >= record.expiresAt {
                try expire(record, at: now)
            } else {
                try begin(record, route, at: now)
            }
        }
        shareFlights()
    }

    private mutating func begin(_ record: CampaignRecord, _ route: AppRoute, at now: Timestamp) throws {
        let payload = route.payload(message: record.message, downloadURL: record.downloadURL)
        do {
            // Six bytes for each of the 64 characters that a telephone may have are never needed; the rows that are
            // too long after all are refused one by one.
            try payload.checked(longestTelephone: 0)
        } catch {
            try suspend(record, reason: "PayloadTooLarge: \(error)", at: now)
            return
        }
        if !record.isPlanned {
            // A shard has one batch on its way at a time: small audiences get many small shards, so that there are enough to
            // hide what an answer takes until near the end; larger ones are of whole batches.
            let batch = max(1, configuration.limits.batchSize)
            let part = Int(record.counts.audience) / (4 * FlightBudget(configuration.limits).mostBatches)
            let size = part > batch ? (part + batch - 1) / batch * batch : part
            // Paced batches are small, and it takes several on their way to hide what an answer takes.
            let least = route.pace == nil ? 500 : 20
            try store.planShards(
                record.key, shardSize: min(max(size, least), configuration.largestShard), waves: route.waves, at: now)
        }
        var record = record
        if record.waves.isEmpty, route.waves != nil, let planned = try store.campaign(record.key) {
            record.waves = planned.waves
        }
        try recallSuspects(of: record, at: now)
        if rerouted.remove(record.key) == nil { beginPace(of: record.app) }
        let run = CampaignRun(
            record: record, route: route, limits: configuration.limits, nextRetry: try store.nextRetry(record.key))
        takeUpPause(run, at: now)
        runs[record.key] = run
        log(.info, "sending", [("campaign", record.id), ("app", record.app.app)])
    }

    /// What is still on its way comes in first: the campaign then has no run any more and is expired by `matchRuns`.
    private mutating func expire(_ run: CampaignRun, at now: Timestamp) throws {
        halt(run)
        guard run.machine.isStopped else { return }
        runs[run.record.key] = nil
        try expire(run.record, at: now)
    }

    private mutating func expire(_ record: CampaignRecord, at now: Timestamp) throws {
        let before = try store.campaign(record.key)?.counts.expired ?? 0
        try store.expireCampaign(record.key, at: now)
        let after = try store.campaign(record.key)?.counts.expired ?? before
        tallies[record.app, default: PushTally()].add(expired: Int(after - before))
        log(.notice, "the campaign's time to live ran out", [("campaign", record.id)])
    }

    /// Stops a campaign that cannot succeed, with the reason that its status shows.
    mutating func suspend(_ record: CampaignRecord, reason: String, at now: Timestamp) throws {
        if try store.moveCampaign(record.key, from: [.running], to: .suspended, reason: reason, at: now) {
            log(.error, "the campaign is suspended", [("campaign", record.id), ("reason", reason)])
        }
    }

    /// Begins nothing new for the campaign and calls back what has not left.
    func halt(_ run: CampaignRun) {
        guard !run.machine.isHalted else { return }
        run.machine.halt()
        pools.withdraw(run.record.app)
    }
}
