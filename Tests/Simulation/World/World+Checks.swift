// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import HTTPServer
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// The checks after every step.
extension World {
    func check() {
        model.now = milliseconds
        guard relay != nil, !isDying else { return }
        giveBackCampaign()
        observeCampaigns()
        judgeLedgers()
        for app in settings.apps where settings.hasApp[app] {
            askChannels(app)
            askBlocks(app)
            judgeVerdicts(app)
        }
        judgeReleasedWaves()
        judgeOpenHours()
        judgeStandstill()
        judgeUrgency()
        judgeHalts()
        judgeHolds()
        judgeOutside()
        judgeSandbox()
        judgeInFlight()
        judgeRestored()
        judgeRegistry()
    }

    /// A campaign that is over still shows the pushes on their way until their answers are there.
    private func judgeInFlight() {
        guard let relay else { return }
        let ended = told.filter { $1.since == tick && ["cancelled", "superseded"].contains($1.campaign.state) }
        for id in ended.keys.sorted() {
            let count = relay.lane.inFlight(of: id).count
            guard count > 0, let record = try? relay.store.campaign(id: id) else { continue }
            if let status = try? relay.control.status(record), status.counts.inFlight == 0 {
                model.broke(
                    "campaign.inFlight", "\(count) pushes of campaign \(id) are on their way, and none is shown")
            }
        }
    }

    /// The relay must know of a rollout that its store, which answers, has shown as halted for hours. While its disk fails, the relay
    /// cannot record the halt, and the recorded state stays in force.
    private func judgeHalts() {
        for (place, one) in model.announcements.enumerated() {
            let isOpenStill =
                one.isLive && !one.isDoubted && one.isGated && !one.isReleased && one.offeredAt != nil
                && one.haltedAt == nil
                && !one.lostItsGate
            // A superseded version is in force nowhere, and its store is not asked. A campaign that had come to its end stays completed.
            let isSuperseded =
                model.supersededAt(place) != nil
                || told.values.contains {
                    $0.campaign.app == one.app && $0.campaign.version == one.version
                        && $0.campaign.state == "superseded"
                }
            guard isOpenStill, !isSuperseded, !isDiskFailing, settings.isAndroid(one.app), settings.isGated(one.app),
                stores[one.app].answers,
                stores[one.app].verdict(on: one.version, minimum: settings.minimumPercent(one.app)) == .halted
            else {
                haltedSince[place] = nil
                continue
            }
            let since = haltedSince[place] ?? tick
            haltedSince[place] = since
            // A version that every user is offered is asked about again within six polls (`GooglePlaySource.editPace`), and a little later.
            if tick - since > .seconds(1800) + .seconds(7 * 60) * settings.setup["every"] {
                model.broke(
                    one.isForAll ? "inForce.haltUnheard" : "canary.halted",
                    "app \(one.app): the rollout of \(Self.text(version: one.version)) was halted \(tick - since) ago, and it is in force"
                )
            }
        }
    }

    /// The relay must find a version that another program has written within two of its looks. Not judged: a version that may wait for a
    /// person, which shows nothing, and one that was there when the disk failed, since taking it up is tried again only after a while.
    private func judgeOutside() {
        let longest = Duration.seconds(2 * settings.setup["look"] + 60)
        for app in settings.apps where settings.hasApp[app] && !isDiskFailing {
            guard let one = model.required(app), one.isUnnoticed, !one.isOfFile, !one.isUnclear, !one.isHeld,
                !model.wasTakenBack(app, one.version)
            else { continue }
            let asked = MonotonicTime(nanoseconds: UInt64(one.askedAt) * 1_000_000)
            guard tick - max(asked, quietSince) > longest, diskFailedAt.map({ $0 < asked }) ?? true else { continue }
            model.broke(
                "inForce.unheard",
                "another program has required \(Self.text(version: one.version)) of app \(app), and nobody has looked for \(tick - asked)"
            )
        }
    }

    /// A running campaign that has not changed for long gives a reason; and where nothing is in trouble, it does change.
    private func judgeStandstill() {
        guard !isDiskFailing else { return quietSince = tick }
        let running = told.filter { $1.campaign.state == "running" }
        for (id, known) in running.sorted(by: { $0.key < $1.key }) {
            let campaign = known.campaign
            let stands = tick - max(known.since, quietSince)
            let isBetweenWaves = campaign.wavesBegun < campaign.waves
            let waits = (campaign.counts["pending"] ?? 0) + (campaign.counts["retrying"] ?? 0)
            guard stands > .seconds(1200), waits > 0, !isBetweenWaves else { continue }
            guard let record = try? relay?.store.campaign(id: id), !record.isCanary || record.canary?.endedAt == nil,
                // A campaign that ends in this minute gives no reason any more.
                record.facts.expiresAt > clock.now.wall
            else { continue }
            let reason = try? relay?.control.status(record).record.facts.reason
            if reason != nil { spokeAt[id] = tick }
            guard stands > .seconds(2400) else { continue }
            // A reason that has just ended explains it.
            if reason == nil, tick - (spokeAt[id] ?? known.since) > .seconds(2400) {
                if !settings.hasApp[campaign.app] {
                    model.broke(
                        "campaign.noRoute",
                        "campaign \(id) of app \(campaign.app), which is not configured, is running without a reason")
                } else if campaign.counts["retrying"] == 0 {
                    model.broke("campaign.silent", "campaign \(id) has stood still for \(stands) and says no reason")
                }
            }
            // Longer than the longest delay of a push: four hours, and a quarter for the jitter.
            let places = [false, true].map { PushPlace(app: campaign.app, isSandbox: $0) }
            guard min(stands, awake(campaign.app, id)) > .seconds(6 * 3600), settings.hasApp[campaign.app],
                places.allSatisfy({
                    services[$0]?.weather == .good && lasts($0) > .seconds(6 * 3600)
                })
            else { continue }
            model.broke(
                wasClockSet ? "campaign.clock" : "dispatcher.stuck",
                "campaign \(id) has stood still for \(stands) in good weather: \(campaign.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }), \(reason ?? "no reason")"
            )
        }
    }

    // MARK: Campaigns

    /// A number that differs after any write to the store, by any program.
    var change: Int { storage.writes }

    /// Passes to the model each campaign that has changed since it was last seen.
    ///
    /// - Parameter isSure: whether the campaigns are read in any case; else only if anything was written since.
    func observeCampaigns(isSure: Bool = false) {
        guard let relay else { return }
        undisturbed {
            let change = change
            guard isSure || change != seenChange else { return }
            seenChange = change
            var open: [String: String] = [:]
            var records = campaigns(limit: isSure ? 60 : 12)
            // An old campaign that is open, or may be open again because the one that superseded it was taken back.
            let oldest = records.last?.key
            let listed = Set(records.map(\.id))
            let old = told.filter { id, known in
                !listed.contains(id) && (!known.campaign.isOver || mayBeOpenAgain(known.campaign))
            }
            for id in old.keys.sorted() {
                guard let record = try? relay.store.campaign(id: id), let oldest, record.key < oldest else { continue }
                records.append(record)
            }
            for record in records.reversed() {
                guard let campaign = toldCampaign(record) else { continue }
                if !campaign.isOver {
                    let block = record.requirement.kind == .blocked ? "the block of " : ""
                    let key = "app \(campaign.app) \(block)\(World.text(version: campaign.version))"
                    if let other = open[key] {
                        model.broke("campaign.two", "\(key) has two open campaigns, \(other) and \(campaign.id)")
                    }
                    open[key] = campaign.id
                }
                if told[campaign.id]?.campaign == campaign { continue }
                let before = told[campaign.id]?.campaign.state ?? "new"
                if before != campaign.state { journal.reach("campaign: \(before) → \(campaign.state)") }
                journal.trace("campaign \(campaign.id) \(campaign.state) \(shown(campaign.counts))")
                if before != campaign.state {
                    note(
                        "campaign \(campaign.id) of \(World.text(version: campaign.version)) of app \(campaign.app) is \(campaign.state)"
                            + (campaign.reason.map { ": \($0)" } ?? ""))
                }
                noteLedger(of: campaign, told[campaign.id]?.campaign, createdAt: record.facts.createdAt)
                told[campaign.id] = (campaign, tick)
                judgeWaves(of: record, campaign.app)
                judgePauses(of: record, campaign)
                if before != campaign.state, record.state == .completed {
                    judgeRefusals(of: record)
                    let isAlone = !told.values.contains { other, _ in
                        other.app == campaign.app && other.id != campaign.id && other.state == "running"
                    }
                    if isAlone { pushes.ended(campaignOf: campaign.app) }
                }
                if before == "running", record.state == .suspended { oweFaults(record) }
                let reason = campaign.reason ?? ""
                if record.state == .suspended, reason.hasPrefix("StoreConflict"), !rowsWereDeleted,
                    !ledger.wasPutBack, !ledger.fenced.contains(campaign.id)
                {
                    model.broke("store.conflict", "campaign \(campaign.id) is suspended: \(reason)")
                }
                if record.state == .suspended, reason.isEmpty || reason.hasPrefix(":") {
                    model.broke("campaign.silent", "campaign \(campaign.id) is suspended for \"\(reason)\"")
                }
                model.tells(
                    campaign, needsApproval: settings.needsApproval(campaign.app) && record.requirement.canary == nil)
            }
        }
    }

    /// The next wave depends on the results of the one before, so each device of that one has an outcome. Pushes to another service that is
    /// in trouble hold up no wave.
    private func judgeWaves(of campaign: CampaignRecord, _ app: Int) {
        guard campaign.state == .running, campaign.figures.rounds.isEmpty,
            settings.setup["sandbox", app] + settings.setup["astray", app] == 0,
            let wave = campaign.figures.waves.list.first(where: { $0.endedAt != nil && $0.isOpen })
        else { return }
        model.broke(
            "wave.cut",
            "wave \(wave.number + 1) of campaign \(campaign.id) is over, and \(wave.pending) of its devices wait")
    }

    /// The text that Swift's reflection would give for such a list.
    private func shown(_ counts: [String: Int64]) -> String {
        "[\(counts.sorted { $0.key < $1.key }.map { "(key: \"\($0.key)\", value: \($0.value))" }.joined(separator: ", "))]"
    }

    private func mayBeOpenAgain(_ campaign: ToldCampaign) -> Bool {
        campaign.state == "superseded"
            && model.campaigns[campaign.id].map { model.supersededAt($0.announcement) == nil } ?? true
    }

    /// A campaign is taken up, by a process or by a person. Its pushes that a service refused, before that service had taken a push or
    /// called a token dead, may have failed for the credential, and are in line again.
    func owe(_ campaign: CampaignRecord) {
        guard [.running, .paused, .suspended].contains(campaign.state), campaign.figures.counts.rejected > 0
        else { return }
        let unproven = campaign.figures.unprovenChannels.keys
        let tokens = refused(campaign).filter { token in
            // Apps that name the wrong environment change a device's service while its push is on its way.
            guard let app = app(of: campaign), settings.setup["astray", app] == 0,
                let device = try? relay?.store.device(campaign.app, token: token)
            else { return !campaign.figures.counts.proveCredential }
            return unproven.contains(device.registration.channel)
        }
        if !tokens.isEmpty { owed[campaign.id] = tokens }
    }

    /// A campaign was suspended for its credential: the pushes that were refused for that, since a service last took any, are in line
    /// again.
    private func oweFaults(_ campaign: CampaignRecord) {
        let faults = ["InvalidProviderToken", "PERMISSION_DENIED"]
        guard faults.contains(where: { campaign.facts.reason?.contains($0) ?? false }) else { return }
        owed[campaign.id, default: []].formUnion(refused(campaign).intersection(pushes.faults[campaign.id] ?? []))
    }

    /// The tokens whose push was refused by a service, as the relay lists them.
    private func refused(_ campaign: CampaignRecord) -> Set<String> {
        let rows = try? relay?.store.deliveries(
            of: campaign.key, DeliveryFilter(state: .rejected), after: 0, limit: 1000)
        return Set((rows ?? []).filter { $0.attempts > 0 }.map(\.token))
    }

    /// A campaign has ended: no token that it owed another push is still refused.
    private func judgeRefusals(of campaign: CampaignRecord) {
        guard let owed = owed.removeValue(forKey: campaign.id), !rowsWereDeleted else { return }
        // After its time to live no push is tried again.
        if let end = campaign.facts.finishedAt, end >= campaign.facts.expiresAt { return }
        guard let token = owed.intersection(refused(campaign)).min() else {
            return
        }
        model.broke(
            "campaign.refusals",
            "campaign \(campaign.id) has ended, and \(token), refused when it was taken up, was not tried again")
    }

    func toldCampaign(_ record: CampaignRecord) -> ToldCampaign? {
        guard let app = app(of: record) else { return nil }
        var counts = Dictionary(
            uniqueKeysWithValues: DeliveryState.allCases.map { ($0.name, record.figures.counts[$0]) })
        counts["audience"] = record.figures.counts.audience
        return ToldCampaign(
            id: record.id, app: app, version: Self.number(of: record.requirement.version.text),
            state: record.state.rawValue,
            reason: record.facts.reason, wavesBegun: record.figures.waves.list.count { $0.begunAt != nil },
            emptyWaves: emptyWaves(of: record),
            waves: record.figures.waves.list.count, reminders: record.figures.rounds.count { $0.kind == .reminder },
            retries: record.figures.rounds.count { $0.kind == .retry }, counts: counts)
    }

    // MARK: Restarts

    /// An answer that a restart must not change.
    struct RestartAnswer: Equatable {
        let text: String
        /// The devices that keep a running campaign from its end.
        var open: Set<String> = []

        static func == (one: RestartAnswer, other: RestartAnswer) -> Bool { one.text == other.text }
    }

    /// The answers of the login check, and the state of each campaign.
    func answers() -> [RestartAnswer] {
        guard let relay, let zero = try? Version("0.1") else { return [] }
        return undisturbed {
            settings.apps.filter { settings.hasApp[$0] }.flatMap { app in
                [nil, 0, 1].map { user in
                    let told = relay.cache.check(
                        settings.key(app), version: zero, user: .init(user.map(Phone.telephone)))?.toldAtLogin?.version
                    let name = "app \(app), user \(user.map(String.init) ?? "unknown")"
                    return RestartAnswer(text: "\(name): \(told?.text ?? "nothing")")
                }
            }
                + campaigns().map { campaign in
                    let open = openDevices(campaign)
                    let state = open?.isEmpty == true ? CampaignState.completed : campaign.state
                    return RestartAnswer(text: "campaign \(campaign.id): \(state.rawValue)", open: open ?? [])
                }
        }
    }

    /// The devices, as app and token, without an outcome that may still be pushed: not one whose user logged out or lost the app while a
    /// push was on its way or waited for its turn. Where there is none, the next look, or that push's answer, ends the campaign, and a relay
    /// that starts looks at once. Nil: the campaign does not end by these.
    private func openDevices(_ campaign: CampaignRecord) -> Set<String>? {
        guard campaign.state == .running, !campaign.isCanary, campaign.figures.isPlanned, let app = app(of: campaign),
            campaign.figures.waves.list.allSatisfy({ $0.begunAt != nil })
        else { return nil }
        let counts = campaign.figures.counts
        // Pushes that were refused before their service had taken any are in line again after a start, and may not be pushed any more, either.
        // The model does not know the devices that a block is still for, so a block is through in each case.
        let refused = campaign.figures.unprovenChannels.values.reduce(0) { $0 + $1[.rejected] }
        let recalled = campaign.requirement.kind == .blocked ? 0 : min(refused, counts.rejected)
        guard counts.pending + counts.retrying + recalled > 0 else { return [] }
        let rows = (try? relay?.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 1000)) ?? []
        let open: [DeliveryState] = [.pending, .inFlight, .retrying] + (recalled > 0 ? [.rejected] : [])
        let settled = Set(rows.filter { !open.contains($0.state) }.map(\.token))
        let devices = phones.filter { phone in
            phone.app == app && phone.isInstalled && !settled.contains(token(phone))
                && !pushes.calledDead.contains("\(app)/\(token(phone))")
                && model.isOfAudience(app, token(phone), of: campaign.id)
                && model.mayBePushed(app, token(phone), for: Self.number(of: campaign.requirement.version.text))
        }
        return Set(devices.map { "\(app)/\(token($0))" })
    }

    func compare(_ before: [RestartAnswer]) {
        let after = answers()
        guard before != after, !before.isEmpty else { return }
        let lost = zip(before, after).first { before, after in
            // A relay that starts pushes at once, and its service may call every open device dead.
            let areDead = !before.open.isEmpty && before.open.isSubset(of: pushes.calledDead)
            return before != after && !(areDead && after.text.hasSuffix(": completed"))
        }
        guard lost != nil || before.count != after.count else { return }
        model.broke(
            "restart.answers",
            "before: \(lost?.0.text ?? "\(before.count) answers"), after: \(lost?.1.text ?? "\(after.count)")")
    }
}

extension CampaignFigures {
    /// The answers of push services that have neither taken a push of the campaign nor called a token dead.
    fileprivate var unprovenChannels: [Channel: ChannelAnswers] {
        channels.filter { $0.value[.accepted] + $0.value[.unregistered] == 0 }
    }
}
