// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// The meaning of a batch's answers for its campaign and its service: go on, pause, sign anew, or stop and report why.
extension Dispatcher {
    /// Judges the answers of a batch. Done once, even if the store then refuses the commit: answers that the breaker has counted,
    /// or that a credential was renewed for, must not count again when the commit is tried again.
    mutating func settle(_ batch: Batch, of run: CampaignRun, _ service: PushService, at now: Moment) {
        let provider = service.provider
        var settlement = Settlement(
            tag: batch.tag, expiresAt: run.record.facts.expiresAt, isPayloadTaken: run.isPayloadTaken,
            connectionReasons: provider.connectionReasons, now: now.wall, random: random)
        batch.settle(with: &settlement, at: now.wall)
        run.isPayloadTaken = settlement.isPayloadTaken
        settlement.judgeTokens(
            by: &service.tokens.unregistered, limit: run.unregisteredLimit, takenNow: batch.taken(of:))
        let judges = services.judging(service, for: run)
        let other = judges.dropFirst().first
        if let other {
            settlement.judgeOtherTokens(
                by: &other.tokens.unregistered, limit: run.unregisteredLimit, takenNow: batch.taken(of:))
            services.noteMoves(
                settlement.judgeMoves(by: &service.tokens.moved, takenNow: batch.taken(of:)), of: service)
        }
        if let pause = settlement.pause { services.pauseCredential(of: service, until: pause.until, at: now.wall) }
        if let other, let pause = settlement.secondTries.pause {
            services.pauseCredential(of: other, until: pause.until, at: now.wall)
        }
        let judgement = service.machine.answered(
            settlement.report, campaign: run.record.key.row, nextTag: nextTag, at: now,
            random: random.unit())
        // A pause of either credential, or the app's hours, may have kept bad tokens from their second try.
        let pauseEnds =
            [settlement.pause?.until, run.hours.sleepsUntil] + judges.map { services.pauseEnd(at: $0, now.wall) }
        let deniedUntil = batch.secondTries.isDenied ? pauseEnds.compactMap(\.self).max() ?? now.wall : nil
        let recalled = weigh(judgement.trust, &settlement, batch, of: run, service, deniedUntil: deniedUntil, at: now)
        services.report(judgement.outage, of: service, settlement.failureText, at: now)
        judgeQuota(of: service, settlement.report, answers: settlement.answered, at: now)
        if settlement.needsNewCredential, let template = batch.load?.sent?.template,
            let reason = services.renewCredential(of: service, run, after: template)
        {
            stop(run, service, .credential, for: reason)
        }
        if judgement.isKeyUnrelated {
            let place = service.place(of: run)
            stop(
                run, service, .credential,
                for: provider.explain(.unrelatedKey, reason: "UnrelatedKeyIdInToken", refused: nil, place))
        }
        if let other, let reason = settlement.secondTries.fault {
            services.restSecondTries(at: other, for: .seconds(3600), "it refuses the credential: \(reason)", now)
        }
        var commit = batch.commit(for: run.record.key, settlement, at: now.wall)
        commit.doubts = judges.flatMap { $0.tokens.changes(at: $0.key.channel) }
        batch.settled(Batch.Commits(outcomes: commit, recalled: recalled))
    }

    /// Stops sending to the service at once. The lifecycle decides what that means for the campaign.
    mutating func stop(_ run: CampaignRun, _ service: PushService, _ cause: SuspensionCause, for reason: String) {
        guard service.machine.stopReason == nil else { return }
        let isMain = service === run.services.first
        guard run.lifecycle.refused(isMain: isMain, CampaignLifecycle.Suspension(cause, reason)) else { return }
        if isMain { return run.callBack() }
        service.machine.stop(campaign: run.record.key.row, for: reason)
        service.withdraw()
        log(
            .error, "nothing is sent to one of the app's push services",
            [
                ("campaign", run.record.id), ("environment", service.key.channel.label(on: run.record.app.platform)),
                ("reason", reason),
            ])
    }

    /// The reason why nothing can be sent to a service, by an error from before the first push.
    func reason(for error: any Error, _ service: PushService, _ run: CampaignRun) -> String {
        guard let error = error as? UnusableCredential else { return "\(error)" }
        return service.provider.explain(
            error.fault, reason: error.reason, refused: nil, service.place(of: run))
    }

    // MARK: The breaker

    /// - Returns: the earlier refusals of the service, to be tried again; nil: they stand.
    private mutating func weigh(
        _ trust: ServiceMachine.Trust, _ settlement: inout Settlement, _ batch: Batch, of run: CampaignRun,
        _ service: PushService, deniedUntil: Timestamp?, at now: Moment
    ) -> LedgerCommit? {
        var recalled: LedgerCommit?
        let channel = service.key.channel
        let remembered = run.unjudged[channel] ?? UnjudgedRefusals()
        let actions = settlement.weigh(
            trust, isSending: run.lifecycle.isSending,
            triesOtherEnvironment: run.route.triesOtherEnvironment(of: channel),
            deniedUntil: deniedUntil, remembered: remembered.refusals)
        for action in actions {
            switch action {
            case .retry(let reasons, let time):
                batch.retry(reasons, at: time)
            case .keepTokens:
                settlement.keepTokens()
            case .remember(let reasons):
                run.unjudged[channel, default: UnjudgedRefusals()]
                    .add(settlement.refusals, batch.refusals(reasons))
            case .forgetRemembered:
                run.unjudged[channel] = nil
            case .recallRemembered:
                recalled = remembered.recall(for: run.record.key, at: now.wall)
            case .stop(let cause, let fault, let reason, let trip):
                let refused = (trip.pushes, trip.answers)
                let place = service.place(of: run)
                stop(
                    run, service, cause,
                    for: service.provider.explain(fault, reason: reason, refused: refused, place))
            }
        }
        return recalled
    }
}
