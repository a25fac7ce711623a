// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import TestStores
import UpgradeRules

/// The end of a history: all trouble ends, a patient operator does what states and error texts offer, and then every user must have been
/// notified and every campaign must be over.
extension World {
    func heal() {
        journal.step = 0
        guard !script.operations.isEmpty || relay != nil else { return }
        undisturbed { endTrouble() }
        var refusals: [String] = []
        // More than a day where there are hours, so that every due campaign begins within it.
        let rest = Duration.seconds(settings.apps.contains { settings.hours($0) != nil } ? 26 * 3600 : 6 * 3600)
        for round in 0..<20 {
            // The longest that anything waits by itself: a day's hold, a retry of four hours, a pause of an hour.
            let isHeld = settings.apps.contains { settings.setup["gate", $0] == 1 && settings.setup["hold", $0] > 0 }
            // A look in the middle of the hold: the version is announced by then.
            if round == 0 && isHeld { step(.seconds(4 * 3600)) }
            step(round == 0 && isHeld ? .seconds(26 * 3600) : rest)
            var acted = undisturbed { actPatiently(round, &refusals) }
            step(.seconds(60))
            acted = undisturbed { actPatiently(round, &refusals) } || acted
            // A reminder may have just begun, and there is more to do after its end.
            if !acted, round > 2, campaigns().allSatisfy(\.state.isFinal) { break }
        }
        undisturbed {
            step(.seconds(3600))
            judgeEnd(refusals)
        }
    }

    private func endTrouble() {
        note("all trouble ends")
        inTheMiddleIsOver()
        if isDoomed { die(downFor: .zero) }
        storage.disarm()
        isDiskFailing = false
        clock.error = .zero
        for place in services.keys { _ = set(.good, at: place) }
        for app in settings.apps {
            stores[app].answers = true
            for release in stores[app].releases { stores[app].halt(release.version, false) }
            if let wanted = model.required(app)?.version {
                stores[app].publish(wanted, percent: 100, at: clock.rightTime.milliseconds)
            }
        }
        var whole = settings
        (whole.hasApp, whole.hasSources) = ([true, settings.setup["apps"] > 1], [true, true])
        whole.hasHours = [true, true]
        // One person ends it alone: the rule of two is taken out, while requests may wait.
        whole.hasEyes = [false, false]
        if relay == nil { start() }
        do {
            try relay?.reload(whole)
            stirLedgers()
            settings = whole
            quietSince = tick
            model.routeGoneAt = [nil, nil]
        } catch {
            model.broke("store.check", "the relay does not take its configuration: \(error)")
        }
        correctEnvironments()
        // A registration reports a version, which may support the versions that other programs wrote.
        model.doubtAgain()
        relay?.poke()
    }

    /// Where the relay does not try the other environment, the next build reports the right one, as the error text asks for.
    private func correctEnvironments() {
        for place in phones.indices where phones[place].isAstray && settings.setup["other", phones[place].app] == 0 {
            phones[place].saysSandbox.toggle()
            guard model.device(phones[place].app, token(phones[place]))?.isRegistered == true else { continue }
            do { try put(place) } catch { model.broke("store.refuses", "\(error)") }
        }
    }

    /// Acts as an operator who goes by states and error texts, and nothing else.
    ///
    /// - Returns: whether there was anything to do.
    private func actPatiently(_ round: Int, _ refusals: inout [String]) -> Bool {
        var acted = false
        func attempt(_ body: () throws -> String?) {
            do {
                if let text = try body() {
                    acted = true
                    note("the operator: \(text)")
                }
            } catch {
                refusals.append(plain(error))
                note("the operator is refused: \(plain(error))")
            }
        }
        for campaign in campaigns() {
            switch campaign.state {
            case .paused, .suspended: attempt { try resume(campaign) }
            case .waiting where round > 1: attempt { try release(campaign) }
            case .running where campaign.isCanary && campaign.canary?.endedAt != nil: attempt { try release(campaign) }
            default: break
            }
        }
        for app in settings.apps {
            // A block waits where the store offers nothing above it, as its reason shows.
            for block in campaigns() where round > 1 && block.requirement.kind == .blocked && block.state == .waiting {
                guard self.app(of: block) == app else { continue }
                attempt { try unblock(app, version: Self.number(of: block.requirement.version.text)) }
            }
            // It ended with pushes that its service had refused, as its counts show.
            for block in campaigns()
            where block.requirement.kind == .blocked && block.state == .completed && block.figures.counts.rejected > 0 {
                guard self.app(of: block) == app, round < 3 else { continue }
                attempt { try retry(block) }
            }
            guard let required = model.required(app) else { continue }
            // A version that is required and blocked waits for its block, as the refusal explains.
            if isBlocked(app, required.version), said(app) != required.version {
                attempt { try unblock(app, version: required.version) }
            }
            if said(app) != required.version, round > 1 {
                attempt { try releaseApp(app) }
            }
            let own = campaigns().filter {
                self.app(of: $0) == app && Self.number(of: $0.requirement.version.text) == required.version
                    && $0.requirement.kind != .blocked
            }
            guard let newest = own.first, newest.state.isFinal, model.campaigns[newest.id]?.cancelledAt == nil,
                isAnybodyLeft(app, required)
            else { continue }
            attempt { try retry(newest) }
        }
        return acted
    }

    private func said(_ app: Int) -> Int? {
        guard let relay, let zero = try? Version("0.1") else { return nil }
        return relay.cache.check(settings.key(app), version: zero, user: .nobody)?.toldAtLogin.map {
            Self.number(of: $0.version.text)
        }
    }

    // MARK: Promises at the end

    /// Phones that a requirement had to reach and did not. Phones that changed since it was asked for may have been notified at login.
    func untold(_ app: Int, _ required: Announcement) -> [Phone] {
        phones.filter { phone in
            guard phone.app == app, phone.isInstalled, let state = model.device(app, token(phone)) else { return false }
            // A phone that the service called dead has had its answer.
            return model.mayBePushed(app, token(phone), for: required.version)
                && !pushes.calledDead.contains("\(app)/\(token(phone))")
                && state.since < required.askedAt && !pushes.has(app, token(phone), required.version)
        }
    }

    private func isAnybodyLeft(_ app: Int, _ required: Announcement) -> Bool { !untold(app, required).isEmpty }

    private func judgeEnd(_ refusals: [String]) {
        guard let relay else { return }
        let campaigns = campaigns()
        for app in settings.apps {
            guard let required = model.required(app) else { continue }
            let said = said(app)
            // Whether the relay doubts the file's version and refuses it is not seen from outside: a row that another program deleted may
            // support the version that its phone had.
            if required.isOfFile, required.isUnnoticed, required.isUnclear { continue }
            // After two asks before one look, the cancelled campaign may belong to either.
            if required.isUnclear, model.campaigns.values.contains(where: { $0.cancelledAt != nil }) { continue }
            if said != required.version {
                let words = refusals.isEmpty ? "" : "; an operator was told: \(refusals.joined(separator: " | "))"
                let rule =
                    wasClockSet
                    ? "campaign.clock"
                    : required.lostItsGate
                        ? "inForce.removedSource" : required.isForAll ? "inForce.never" : "canary.deadEnd"
                model.broke(
                    rule,
                    "app \(app) requires \(World.text(version: required.version)) and forces \(said.map { "\(World.text(version: $0))" } ?? "nothing")\(words)"
                )
                continue
            }
            judgeTold(app, required, campaigns, refusals)
        }
        for campaign in campaigns where !campaign.state.isFinal {
            // A campaign that has just begun to remind has not had the time to end.
            if let round = campaign.figures.rounds.last, round.kind == .reminder,
                milliseconds - round.begunAt.milliseconds < 12 * 3_600_000
            {
                continue
            }
            let reason = try? relay.control.status(campaign).record.facts.reason
            model.broke(
                wasClockSet ? "campaign.clock" : "campaign.never",
                "campaign \(campaign.id) of \(campaign.requirement.version) is \(campaign.state.rawValue): \(reason ?? "no reason"), \(campaign.figures.counts)"
            )
        }
        judgeBlocks()
        judgeRecords(relay, campaigns)
        judgeTokens(relay)
        judgeShares(relay)
    }

    private func judgeTold(
        _ app: Int, _ required: Announcement, _ campaigns: [CampaignRecord], _ refusals: [String]
    ) {
        let own = campaigns.filter {
            self.app(of: $0) == app && Self.number(of: $0.requirement.version.text) == required.version
                && $0.requirement.kind != .blocked
        }
        // A person cancelled it.
        guard !own.contains(where: { model.campaigns[$0.id]?.cancelledAt != nil }) else { return }
        // A campaign whose deliveries were pruned no longer shows whom it reached.
        let isForgotten = own.allSatisfy { $0.state == .superseded } || refusals.contains { $0.contains("were pruned") }
        guard !pushes.wasPruned || !isForgotten else { return }
        let untold = untold(app, required).filter { phone in
            // Retired devices are judged in `judgeTokens`.
            (try? relay?.store.device(settings.key(app), token: token(phone)))??.retiredAt == nil
        }
        guard let first = untold.first else { return }
        let states = own.map { "\($0.id) \($0.state.rawValue)" }.joined(separator: ", ")
        let text =
            "\(untold.count) phones of app \(app) were not told of \(World.text(version: required.version)), such as \(first.number); its campaigns: \(states)"
        if own.isEmpty {
            model.broke("campaign.none", text)
        } else if own.contains(where: { !$0.state.isFinal }) {
            // Judged as a campaign that does not end.
            return
        } else if refusals.isEmpty {
            model.broke("everybody.told", text)
        } else {
            model.broke(
                "everybody.deadEnd", "\(text); an operator was told: \(Set(refusals).sorted().joined(separator: " | "))"
            )
        }
    }

    private func judgeRecords(_ relay: Relay, _ campaigns: [CampaignRecord]) {
        judgeTrail()
        judgeShares()
        if !rowsWereDeleted, let faults = try? relay.store.check(begins: { _ in true }), let first = faults.first {
            model.broke("store.check", "\(first.check): \(first.detail)")
        }
        for campaign in campaigns where !pushes.wasPruned && !rowsWereDeleted && !isAnybodyRemoved(campaign) {
            guard campaign.figures.isPlanned,
                let rows = try? relay.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 1000)
            else { continue }
            var counted = CampaignCounts()
            for row in rows { counted[row.state] += 1 }
            // A device that changes hands between two waves may be counted by both until the last wave is over, and such devices are not
            // counted separately. The last wave is over in a campaign that completed before the end of its time to live.
            let hasExpired = campaign.facts.finishedAt.map { $0 >= campaign.facts.expiresAt } ?? false
            let isBetween = !campaign.figures.waves.isEmpty && wasMoved && (campaign.state != .completed || hasExpired)
            if counted != campaign.figures.counts, !isBetween {
                model.broke(
                    "campaign.counts", "campaign \(campaign.id) counts \(campaign.figures.counts), its list \(counted)")
            }
            if receivers[campaign.id] != campaign.state.rawValue {
                model.broke(
                    "events.last",
                    "a receiver was told last that campaign \(campaign.id) is \(receivers[campaign.id] ?? "nothing"); it is \(campaign.state.rawValue)"
                )
            }
        }
        // Once another program has deleted a device, its user is unknown.
        for user in model.erased.keys.sorted()
        where !rowsWereDeleted && !model.devices.values.contains(where: { $0.last?.user == user }) {
            judgeErasure(user)
        }
    }

    /// Whether a device of the campaign's app was removed, or may be in the other environment: pushes that were never sent to such a device
    /// are not listed.
    private func isAnybodyRemoved(_ campaign: CampaignRecord) -> Bool {
        guard let app = app(of: campaign), settings.setup["astray", app] == 0 else { return true }
        return model.devices.contains { $0.key.hasPrefix("\(app)/") && $0.value.contains { !$0.isRegistered } }
    }

    /// A mad service has retired no device. Judged before a person lets a campaign go on all the same.
    func judgeMadness() {
        let mad = pushes.mad
        guard !mad.isEmpty, let relay else { return }
        for phone in phones where phone.isInstalled && mad.contains("\(phone.app)/\(token(phone))") {
            guard let device = try? relay.store.device(settings.key(phone.app), token: token(phone)),
                device.retiredAt != nil
            else { continue }
            model.broke(
                "token.lost",
                "phone \(phone.number) of app \(phone.app) is retired by a service that called nearly all tokens dead")
        }
    }

    private func judgeTokens(_ relay: Relay) {
        judgeMadness()
        judgeReplaced(relay)
        let mad = pushes.mad
        for phone in phones {
            let name = "\(phone.app)/\(token(phone))"
            guard let state = model.device(phone.app, token(phone)), state.isRegistered else { continue }
            guard let device = try? relay.store.device(settings.key(phone.app), token: token(phone)) else {
                // A device that was rightly called dead is forgotten in time.
                if pushes.calledDead.contains(name), pushes.wasPruned {
                    if mad.contains(name) {
                        model.broke(
                            "token.lost",
                            "phone \(phone.number) of app \(phone.app) is forgotten after a service called nearly all tokens dead"
                        )
                    }
                    continue
                }
                model.broke("store.lost", "phone \(phone.number) of app \(phone.app) was registered and is not known")
                continue
            }
            if device.retiredAt != nil, phone.isInstalled {
                if !pushes.calledDead.contains(name), !wasClockSet || restored[name] == nil {
                    model.broke(
                        "token.wrong",
                        "phone \(phone.number) of app \(phone.app) is retired, and nobody called its token dead")
                }
            }
            let isSandbox = device.registration.environment == .sandbox
            if isSandbox != phone.saysSandbox {
                journal.reach("device: moved to the other environment")
                if !phone.isAstray {
                    model.broke(
                        "registry.moved",
                        "phone \(phone.number) of app \(phone.app) was moved out of its own environment")
                }
            }
            let version = device.registration.version.map { Self.number(of: $0.text) }
            // A clock that was set does not show which of two reports is the later one.
            if let own = state.version, version.map({ $0 < own }) ?? true, !wasClockSet {
                model.broke(
                    "registry.overruled",
                    "phone \(phone.number) of app \(phone.app) said \(World.text(version: own)), and the registry has \(version.map { "\(World.text(version: $0))" } ?? "nothing")"
                )
            }
        }
    }
}
