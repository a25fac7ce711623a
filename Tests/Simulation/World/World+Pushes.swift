// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import PushProviders
import RelayEngine
import Signing
import WireFormat

/// The pushes that leave the relay, and the answers that come back.
extension World {
    func streams(of app: Int) -> Int { settings.setup["streams", app] }

    func isReachable(_ place: PushPlace) -> Bool { services[place]?.weather != .unreachable }

    /// FCM's access tokens come at once; their faults are part of the weather.
    func grantsAccess() -> FCMTokenSource.Reply {
        .answered(.granted(token: "token", lifetime: .seconds(3600)), retryAfter: nil)
    }

    func toldReceiver(_ campaign: String, _ state: String) {
        journal.trace("event \(campaign) \(state)")
        receivers[campaign] = state
    }

    /// A batch comes into the lane.
    func submitted(_ pushes: [SeenPush], to place: PushPlace) {
        judgeRecording(pushes.count)
        if isBack { model.broke("store.back", "\(pushes.count) pushes leave from a store that went back") }
        journal.trace("submit \(pushes.count) to \(place.host)")
        judgeWaves(of: pushes, at: place)
    }

    /// A push that was called back has its answer, or is lost with its connection. This is judged here because it happens within seconds,
    /// which the grace for pushes on their way would hide.
    func leavesCalledBack(_ push: SeenPush) {
        model.broke("push.calledBack", "push \(push.id) was called back, its connection died, and it goes out again")
    }

    /// A turn is over.
    ///
    /// - Parameter isUnrecorded: whether there are outcomes that are not in the store yet.
    func turned(isUnrecorded: Bool) {
        ledger.isKnown = !isUnrecorded
        let waits = isUnrecorded && isDiskFailing && storage.failures > 0
        unrecordedSince = waits ? unrecordedSince ?? tick : nil
        // With the outcomes that waited for the disk, the store takes the pause that it could not take before.
        for (place, pause) in pushes.pauses where pause.batch == nil && !pause.isKept {
            pushes.pauses[place]?.isKept = pause.waits && !isUnrecorded && !isDiskFailing && !isDoomed
            pushes.pauses[place]?.waits = isUnrecorded && (waits || pause.waits)
        }
    }

    /// While outcomes wait for the disk, more come back, but no other push leaves. In the first two seconds they may be waiting to be
    /// recorded together with others, and the failed write may be another part's.
    private func judgeRecording(_ count: Int) {
        guard let since = unrecordedSince, tick - since > .seconds(2), isDiskFailing, !triesOtherEnvironments
        else { return }
        model.broke(
            "push.unrecorded",
            "\(count) pushes leave, and the store has not taken others' outcomes for \(tick - since)")
    }

    /// Whether tokens are tried in the other environment, which keeps their batch out.
    private var triesOtherEnvironments: Bool {
        settings.apps.contains { settings.setup["other", $0] == 1 && !settings.isAndroid($0) }
    }

    /// A service that is out gets a few pushes, no more often than every ten seconds. Each of two campaigns that go on beside each other
    /// finds the outage by itself.
    private func judgeProbe(_ push: SeenPush, _ place: PushPlace) {
        let weather = services[place]?.weather
        for (campaign, held) in (outages[place] ?? [:]).sorted(by: { $0.key < $1.key })
        where isSent(push.campaign, byServiceOf: campaign) {
            guard weather == .serverErrors || weather == .closed, !wasClockSet else {
                outages[place]?[campaign] = nil
                continue
            }
            let pushes = held.pushes + 1
            outages[place]?[campaign]?.pushes = pushes
            let probes = Int((tick - held.since).milliseconds / 10_000)
            if pushes > 8 * probes {
                model.broke(
                    "service.probed", "\(place.host) is out, and gets \(pushes) pushes in \(tick - held.since)")
            }
        }
    }

    /// A push leaves: the model judges, the service answers.
    func leaves(_ push: SeenPush, at place: PushPlace) -> ServiceAnswer {
        model.now = milliseconds
        judgeHours(push)
        judgeDead(push)
        let user = Phone.user(push.telephone)
        // A device that already has the push may get it again by a reminder, which the model may not know of yet.
        observeCampaigns(
            isSure: model.campaigns[push.campaign].map { $0.settled[push.token, default: 0] > $0.reminders }
                ?? model.block(of: push.campaign).map { model.blocks[$0].settled[push.token, default: 0] > 0 } ?? true)
        judgeProbe(push, place)
        model.leaves(app: push.app, token: push.token, user: user, campaign: push.campaign)
        judgePause(push, place)
        pushes.sentBefore.remove(push.id)
        owed[push.campaign]?.remove(push.token)
        let phone = phonesByToken["\(push.app)/\(push.token)"].map { place, installation in
            var phone = phones[place]
            // An installation that was replaced by another one is gone.
            if installation != phone.installation {
                (phone.isInstalled, phone.goneAt) = (false, clock.rightTime.milliseconds - 1000)
            }
            return phone
        }
        let isOwn = phone.map { $0.isSandbox == place.isSandbox || settings.isAndroid(place.app) } ?? false
        let answer =
            services[place]?.answer(push, phone: phone, isOwn: isOwn, now: clock.rightTime.milliseconds)
            ?? ServiceAnswer()
        journal.trace("push \(push.id) \(push.telephone) \(place.host) \(answer.kind) \(answer.status)")
        journal.reach("answer: \(answer.kind == .answered ? String(answer.status) : "\(answer.kind)")")
        remember(answer, to: push, phone, at: place)
        return answer
    }

    private func remember(_ answer: ServiceAnswer, to push: SeenPush, _ phone: Phone?, at place: PushPlace) {
        let name = "\(push.app)/\(push.token)"
        guard answer.kind == .answered else { return }
        pushes.note(answer, to: push, at: place)
        if answer.status == 401 || answer.status == 403 { countRefusal(of: push, place) }
        if answer.status == 200, let version = model.version(of: push.campaign) { pushes.took(push, version: version) }
        if answer.status == 200, let block = model.block(of: push.campaign) {
            model.blocks[block].taken.insert(push.token)
        }
        let isDead = answer.status == 410 || answer.body.contains("UNREGISTERED")
        if isDead {
            pushes.calledDead.insert(name)
            model.everDead.insert(name)
        }
        if answer.body.contains("BadDeviceToken") || answer.body.contains("SENDER_ID_MISMATCH") {
            pushes.calledWrong[push.campaign, default: []].insert(push.token)
        }
        if isDead || answer.status == 200 {
            pushes.faults[push.campaign] = nil
        } else if services[place]?.weather == .badKey, lasts(place) > .seconds(60),
            phone?.saysSandbox == place.isSandbox
        {
            // A refusal of the credential by the other environment changes nothing about the answer of the token's own.
            pushes.faults[push.campaign, default: []].insert(push.token)
        }
    }

    private func countRefusal(of push: SeenPush, _ place: PushPlace) {
        var refusals = pushes.refusals[push.id] ?? (tick, 0)
        if tick - refusals.since > .seconds(60) { refusals = (tick, 0) }
        refusals.count += 1
        pushes.refusals[push.id] = refusals
        if refusals.count == 20 {
            model.broke(
                "push.refused", "\(place.host) has refused the credential of push \(push.id) 20 times within a minute")
        }
    }

    /// The answer to a push comes into the relay.
    func delivered(_ answer: ServiceAnswer, to push: SeenPush, of batch: ObjectIdentifier, at place: PushPlace) {
        let end = tick
        noteMadness(answer, push, batch, place)
        if answer.body.contains("TooManyProviderTokenUpdates") {
            pushes.pauses[place] = .init(since: end + .seconds(35), until: end + .seconds(600), batch: batch)
        } else if answer.retryAfter > 0, answer.status != 200, !pushes.sentBefore.contains(push.id) {
            pushes.retries[push.id] = .init(
                app: push.app, notBefore: end + .seconds(Int64(answer.retryAfter) - 1))
        }
    }

    /// A service calls living tokens dead. The relay learns of it when the batch is back.
    private func noteMadness(
        _ answer: ServiceAnswer, _ push: SeenPush, _ batch: ObjectIdentifier, _ place: PushPlace
    ) {
        let name = "\(push.app)/\(push.token)"
        guard let index = pushes.madness.lastIndex(where: { $0.place == place }) else { return }
        // A token that the service takes again is not lost to its madness of before, whatever the next answer is.
        if answer.status == 200 {
            for past in pushes.madness.indices.prefix(index) where pushes.madness[past].place == place {
                pushes.madness[past].tokens.remove(name)
            }
        }
        let isInstalled = phonesByToken[name].map {
            phones[$0.place].isInstalled && phones[$0.place].installation == $0.installation
        }
        let isDead = answer.status == 410 || answer.body.contains("UNREGISTERED")
        if pushes.acceptedCampaigns.contains(push.campaign) {
            if isDead { pushes.acceptedTokens.insert(name) }
        } else if isDead, isInstalled == true {
            pushes.answers[batch, default: .init(entry: index)].calledDead(name, in: index)
        } else {
            pushes.answers[batch, default: .init(entry: index)].others += 1
        }
    }

    /// No push leaves in a pause that its service has asked for. Nothing is judged by a clock that was set.
    private func judgePause(_ push: SeenPush, _ place: PushPlace) {
        if let retry = pushes.retries.removeValue(forKey: push.id), tick < retry.notBefore, !wasClockSet {
            let seconds = (retry.notBefore - tick).milliseconds / 1000
            model.broke("push.pause", "push \(push.id) goes out again \(seconds) s before its Retry-After is over")
        }
        guard let pause = pushes.pauses[place], !wasClockSet, tick > pause.since, tick < pause.until else { return }
        model.broke(
            "push.pause",
            "\(place.host) answered TooManyProviderTokenUpdates and gets a push \((pause.until - tick).milliseconds / 1000) s too early"
        )
    }

    /// A batch is back with its answers. Pushes that a service took before it called all tokens dead come back between the first of those
    /// answers, or in one batch with them: the tokens are judged beside good answers, and the relay does not see when those were given.
    func returned(_ batch: ObjectIdentifier, taken: [SeenPush]) {
        pushes.returned += taken
        ledger.unheard += 1
        pushes.hear(batch)
        for (place, pause) in pushes.pauses where pause.batch == batch {
            pushes.pauses[place] = .init(
                since: pause.since, until: pause.until, batch: nil, isKept: !isDiskFailing && !isDoomed)
        }
        guard let push = taken.first else { return }
        let place = PushPlace(app: push.app, isSandbox: push.isSandbox)
        guard services[place]?.weather == .allGone,
            let index = pushes.madness.lastIndex(where: { $0.place == place })
        else { return }
        pushes.judgedSane(index)
    }

    /// All outcomes that are back are in the store now.
    func recorded() {
        // A batch waits, with all of its answers, for the tokens that are tried in the other environment. They may just have been called back.
        if triesOtherEnvironments, relay?.lane.isIdle == false || ledger.unheard > 0 { return ledger.isKnown = false }
        learnLedger()
        // An answer for a row that is gone counts for no device, also where the push was on its way when another program deleted the row.
        // For a campaign that was another relay's, it cannot be seen from outside which answers were recorded before.
        for push in pushes.returned
        where !pushes.deletedRows.contains(push.device) && !ledger.fenced.contains(push.campaign) {
            model.settled(push.token, campaign: push.campaign)
        }
        pushes.returned = []
    }
}
