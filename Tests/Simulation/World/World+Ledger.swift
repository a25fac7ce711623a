// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import TestStores

/// The relay's ledger, compared with the answers of the push services.
extension World {
    /// A batch is back, with how each of its requests ended.
    func ended(_ ends: [SeenEnd]) {
        guard !ends.allSatisfy(\.isUntouched) else { return }
        let time = milliseconds
        for end in ends where end.answer?.status == 200 {
            ledger.takenBy[end.push.campaign, default: [:]][end.push.isSandbox, default: 0] += 1
        }
        ledger.noteDeaths(ends, isAndroid: settings.isAndroid)
        ledger.back += ends.map { end in
            var end = end
            end.time = time
            return end
        }
    }

    private func triesOther(_ app: Int) -> Bool { settings.setup["other", app] == 1 && !settings.isAndroid(app) }

    /// Outcomes that came back before this turn are in the store now.
    func learnLedger() {
        ledger.isKnown = true
        let ends = ledger.takeHeard()
        for end in ends { learn(end, isSure: !end.isLate) }
    }

    private func learn(_ end: SeenEnd, isSure: Bool) {
        let app = end.push.app
        ledger.changed.insert(end.push.campaign)
        guard let device = end.push.device, !pushes.deletedRows.contains(device),
            let answer = end.read(isAndroid: settings.isAndroid(app))
        else { return }
        model.learn(answer, of: end.push.campaign, isOneOfTwo: triesOther(app), isSure: isSure)
    }

    /// The process died: outcomes that were back may have been recorded, and pushes that a campaign was stopped for are in line again.
    func ledgerDied() {
        for end in ledger.back { learn(end, isSure: false) }
        (ledger.back, ledger.isKnown) = ([], true)
        _ = ledger.takeHeard()
        stirLedgers()
    }

    /// An operation may concern many campaigns at once.
    func stirLedgers(by kind: OperationKind) {
        if kind == .putBack { ledger.wasPutBack = true }
        switch kind {
        case .reload, .removeApp, .addApp, .removeSource, .addSource, .putBack, .prune: stirLedgers()
        case .withdraw: ledger.stirred.formUnion(told.keys)
        default: break
        }
    }

    /// Every campaign that is not over begins anew. So does a campaign that this turn has announced, or still announces, and that nothing
    /// has shown yet.
    func stirLedgers() {
        ledger.stirredAt = clock.now.wall
        for (id, known) in told where !known.campaign.isOver { ledger.stirred.insert(id) }
    }

    /// The same version is asked for again. If its text differs, a campaign that is being sent stops, and begins anew with that text: a
    /// refusal that comes back after the stop suspends nothing, since its cause may have been mended, and a push that was refused before a
    /// service had taken any is in line again (`CampaignLifecycle`).
    func reworded(_ app: Int, _ version: Int, to text: String?) {
        guard let place = model.newest(app, version), model.announcements[place].text != text else { return }
        model.announcements[place].text = text
        // The campaign may have begun in the turn that this falls into.
        observeCampaigns(isSure: true)
        for (id, facts) in model.campaigns
        where facts.announcement == place && told[id]?.campaign.state == "running" {
            ledger.stirred.insert(id)
        }
    }

    /// The relay shows a campaign that has changed.
    ///
    /// - Parameters:
    ///   - before: the campaign as it was shown last; nil: it is shown for the first time.
    ///   - createdAt: when it was announced, by the relay's clock.
    func noteLedger(of campaign: ToldCampaign, _ before: ToldCampaign?, createdAt: Timestamp) {
        ledger.changed.insert(campaign.id)
        // A campaign that was over begins anew when it reminds: pushes that a service refused, having taken none, are in line again.
        let isReopened = before?.isOver ?? false && !campaign.isOver
        let isStirred = before == nil && ledger.isStirred(at: createdAt)
        if isReopened || isStirred || ["paused", "suspended", "superseded"].contains(campaign.state) {
            ledger.stirred.insert(campaign.id)
        }
    }

    /// Outcomes are left out only for a campaign that was another relay's, or was pruned.
    func noteLate(_ message: String, _ fields: [(String, String)]) {
        guard message == "outcomes that came too late for their campaign are left out",
            let campaign = fields.first(where: { $0.0 == "campaign" })?.1
        else { return }
        ledger.comesLate(campaign)
        // They wait for the disk no more, and another campaign's push may leave in this turn.
        unrecordedSince = nil
        // The waits that the service asked for are left out, too.
        let ids = Set(ledger.back.filter(\.isLate).map(\.push.id))
        pushes.retries = pushes.retries.filter { !ids.contains($0.key) }
        guard !ledger.fenced.contains(campaign), !pushes.wasPruned, !ledger.wasPutBack, !rowsWereDeleted
        else { return }
        model.broke("lease.own", "outcomes of campaign \(campaign) are left out, and nobody else has had it")
    }

    /// Compares each list of deliveries that may have changed.
    func judgeLedgers() {
        noteRetired()
        guard ledger.isKnown, !isBack, !isDiskFailing, let relay, !ledger.changed.isEmpty else { return }
        let changed = ledger.changed.sorted()
        ledger.changed = []
        for id in changed {
            guard let known = told[id]?.campaign else { continue }
            let (record, rows): (CampaignRecord, [Delivery])
            do {
                guard let found = try relay.store.campaign(id: id) else { continue }
                record = found
                rows = try relay.store.deliveries(of: record.key, DeliveryFilter(), after: 0, limit: 1000)
            } catch {
                model.broke("store.check", "the deliveries of campaign \(id) cannot be read: \(plain(error))")
                continue
            }
            judgeChannels(record)
            guard let campaign = toldCampaign(record) else { continue }
            // A campaign whose deliveries were pruned has none.
            if rows.isEmpty, known.isOver, pushes.wasPruned { continue }
            let isClockRight = !wasClockSet
            func time(_ wall: Timestamp?) -> Int64? {
                guard isClockRight, let wall else { return nil }
                return milliseconds - (clock.now.wall - wall).milliseconds
            }
            let app = campaign.app
            model.tells(
                ToldLedger(
                    campaign: campaign, isBlock: record.requirement.kind == .blocked,
                    rows: rows.filter { !pushes.deletedRows.contains($0.device) }.map { row in
                        ToldDelivery(
                            device: row.device, token: row.token, user: row.telephone.flatMap(Phone.user),
                            state: row.state.name, reason: row.reason, attempts: row.attempts,
                            nextAt: time(row.nextAttemptAt), updatedAt: time(row.updatedAt))
                    },
                    filteredBy: Dictionary(
                        uniqueKeysWithValues: record.figures.filteredBy.map { ($0.key.rawValue, $0.value) }),
                    rejectedBy: record.figures.rejectedBy, expiresAt: time(record.facts.expiresAt),
                    isStirred: ledger.stirred.contains(id), wasFenced: ledger.fenced.contains(id),
                    wasStoppedInPart: ledger.stoppedInPart.contains(id),
                    calledManyDead: ledger.calledManyDead.contains(id),
                    hasTwoServices: settings.setup["sandbox", app] + settings.setup["astray", app] > 0
                        || triesOther(app),
                    wasDiskFailing: diskFailedAt != nil, isWhole: !pushes.wasPruned && !rowsWereDeleted))
        }
    }

    /// A channel counts no push as taken that its service has not taken, and together they count each that the campaign counts. A token
    /// that the other environment took counts as its own's.
    private func judgeChannels(_ record: CampaignRecord) {
        guard let app = settings.apps.first(where: { settings.key($0) == record.app }) else { return }
        let seen = ledger.takenBy[record.id] ?? [:]
        let channels = record.figures.channels.mapValues { $0[.accepted] }
        let all = channels.values.reduce(0, +)
        let isApart = !settings.isAndroid(app) && !triesOther(app)
        for (channel, count) in channels where isApart && count > seen[channel.environment == .sandbox, default: 0] {
            model.broke(
                "ledger.channels", "campaign \(record.id) counts \(count) as taken by \(channel.environment.name)")
        }
        if all > seen.values.reduce(0, +) || all < record.figures.counts.accepted {
            model.broke(
                "ledger.channels", "campaign \(record.id) counts \(all) as taken, of \(record.figures.counts.accepted)")
        }
    }

    // MARK: Dead tokens

    /// Notes the tokens that are dead in the registry.
    private func noteRetired() {
        let mark = registryMark
        guard !model.everDead.isEmpty, mark != ledger.retiredRead, let relay else { return }
        let query = """
            SELECT a.name, a.platform, d.token FROM device AS d JOIN app AS a ON a.id = d.app_id
            WHERE d.retired_at IS NOT NULL AND d.removed_at IS NULL
            """
        guard let rows = try? relay.store.inspect(query) else { return }
        var since: [String: MonotonicTime] = [:]
        for row in rows {
            guard let app = settings.apps.first(where: { settings.key($0).app == row[0] }) else { continue }
            let name = "\(app)/\(row[2])"
            since[name] = ledger.retiredSince[name] ?? tick
        }
        (ledger.retiredSince, ledger.retiredRead) = (since, mark)
    }

    /// A device that is dead in the registry gets no push.
    func judgeDead(_ push: SeenPush) {
        guard let since = ledger.retiredSince["\(push.app)/\(push.token)"], let relay,
            tick - since > .milliseconds(Model.batchGrace),
            let device = undisturbed({ try? relay.store.device(settings.key(push.app), token: push.token) }),
            device.retiredAt != nil
        else { return }
        model.broke("push.dead", "\(push.token) of app \(push.app) is pushed to and was retired \(tick - since) ago")
    }

    // MARK: In order

    /// A reader of the store between two writes, or after a kill there, sees no outcome without the suspension that it caused: no push that
    /// a service has refused is in line again while its campaign runs on.
    func judgeOrder() {
        guard ledger.mayStop, storage.writes != ledger.orderChange, let relay, !isBack else { return }
        ledger.orderChange = storage.writes
        // Only the main service stops the campaign, and only before its time to live is over: a refusal that comes later stops nothing.
        let now = clock.now.wall.milliseconds
        let query = """
            SELECT DISTINCT c.public_id, d.reason, c.created_at FROM campaign AS c JOIN delivery AS d ON d.campaign_id = c.id
            WHERE c.state = 'running' AND c.expires_at > \(now) AND d.state = 3 AND d.environment = 0 AND d.next_attempt_at <= d.updated_at
                AND d.reason IN ('InvalidProviderToken', 'PERMISSION_DENIED', 'Unregistered', 'UNREGISTERED')
            """
        guard let rows = undisturbed({ try? relay.store.inspect(query) }) else { return }
        /// A campaign of the turn in which all began anew may not have been shown yet.
        func isStirred(_ createdAt: String) -> Bool {
            Int64(createdAt).map { ledger.isStirred(at: Timestamp(milliseconds: $0)) } ?? false
        }
        for row in rows where !ledger.stirred.contains(row[0]) && !isStirred(row[2]) {
            model.broke(
                "commit.order",
                "campaign \(row[0]) runs, and has pushes in line again that were refused with \(row[1]): its suspension is not in the store"
            )
        }
    }
}
