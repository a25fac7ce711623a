// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// What the answers of a flight mean for its campaign: go on, pause, sign anew, or stop and say why.
extension Conductor {
    /// What a flight came to. Judged once, whatever the store says to it: answers that the breaker has counted, or that
    /// a credential was renewed for, must not count again when the store is tried again.
    mutating func settle(_ flight: Flight, of run: CampaignRun, at now: Timestamp) -> LedgerCommit {
        var settlement = Settlement(provider: run.route.provider, expiresAt: run.record.expiresAt, now: now)
        flight.settle(with: &settlement)
        weigh(settlement, flight, of: run, at: now)
        weighOutage(settlement, flight, of: run, at: now)
        if let found = settlement.stop {
            let remedy = run.remedy(for: found.environment, at: now)
            stop(run, for: run.route.provider.explain(found.fault, reason: found.reason, remedy), flight)
        }
        if let pause = settlement.pause { hold(run, until: pause.until, reason: pause.reason) }
        if settlement.needsNewCredential { renewCredential(run, flight, at: now) }
        weighReconnects(settlement, flight, of: run, at: now)
        if let (reason, environment) = settlement.otherEnvironmentFault {
            rest(secondTries(run.record.app, environment), for: .seconds(3600), "it refuses the credential: \(reason)")
        }
        let commit = flight.commit(for: run.record.key, settlement)
        flight.settled = commit
        return commit
    }

    /// Sends nothing more at once, and has the campaign suspended before the flight is recorded. Answers that come after
    /// it was halted suspend nothing: they are those of a credential that may have been repaired since.
    private func stop(_ run: CampaignRun, for reason: String, _ flight: Flight) {
        guard !run.machine.isHalted else { return }
        flight.suspension = reason
        halt(run)
    }

    // MARK: The breaker

    private func weigh(_ settlement: Settlement, _ flight: Flight, of run: CampaignRun, at now: Timestamp) {
        let refusals = settlement.refusals
        // What may be good in the other environment, and was not tried there, is not refused for good.
        if run.machine.isHalted, run.route.triesOtherEnvironment { flight.hold(refusals.keys, until: now) }
        if flight.isDeniedSecondTries, let end = settlement.pause?.until ?? run.pausedUntil, end < run.record.expiresAt
        {
            flight.hold(settlement.badTokenReasons, until: end)
        }
        guard run.breaker.isWatching else {
            if run.breaker.isTripped { flight.hold(refusals.keys, until: now) }
            return
        }
        run.suspects.add(refusals)
        if run.breaker.answered(accepted: settlement.proven, refused: settlement.refused) {
            flight.hold(refusals.keys, until: now)
            flight.recalled = run.suspects.recall(for: run.record.key, at: now)
            let verdict = run.breaker.verdict ?? CredentialBreaker.Count()
            stop(
                run,
                for: run.route.provider.explain(
                    .mostlyRefused, reason: run.suspects.mainReason ?? "",
                    refused: (pushes: verdict.refused, of: verdict.answers),
                    run.remedy(for: flight.mainEnvironment, at: now)), flight)
        } else if run.breaker.isWatching {
            run.suspects.add(flight.refusals(refusals.keys))
        } else {
            run.suspects = Suspects()
        }
    }

    // MARK: The provider token

    private func renewCredential(_ run: CampaignRun, _ flight: Flight, at now: Timestamp) {
        guard let template = flight.template else { return }
        run.forgetTemplates()
        do {
            switch try run.route.provider.refused(template, at: now) {
            case .alreadyRenewed, .paused:
                break
            case .sign:
                log(
                    .notice, "the provider token expired: a new one is signed",
                    [("campaign", run.record.id), ("app", run.record.app.app)])
            case .clockSkew:
                let remedy = run.remedy(for: flight.mainEnvironment, at: now)
                stop(run, for: run.route.provider.explain(.clock, reason: "ExpiredProviderToken", remedy), flight)
            }
        } catch {
            stop(run, for: "\(error)", flight)
        }
    }

    /// Sends nothing with this credential before `time`, for whichever campaign (PROTOCOLS 1.6,
    /// TooManyProviderTokenUpdates): another token would only make it worse.
    private func hold(_ run: CampaignRun, until time: Timestamp, reason: String) {
        run.route.provider.pauseCredential(until: time)
        for other in runs.values where other.route.provider.sharesCredential(with: run.route.provider) {
            pause(other, until: time, reason: reason)
        }
    }

    /// A campaign begins, or goes on, in a pause from before a restart or from another campaign.
    func takeUpPause(_ run: CampaignRun, at now: Timestamp) {
        guard let known = run.route.provider.credentialPause(at: now) else { return }
        pause(run, until: known.until, reason: known.reason)
    }

    private func pause(_ run: CampaignRun, until time: Timestamp, reason: String) {
        guard run.pausedUntil.map({ $0 < time }) ?? true else { return }
        run.pausedUntil = time
        run.pauseReason =
            "\(reason): APNs wants a pause from this key; sending goes on by itself at \(time.internetTime)"
        log(
            .warning, "the push service wants a pause",
            [("campaign", run.record.id), ("reason", reason), ("until", time.internetTime)])
    }

    /// New connections in a row that the service binds to another key before it is the key's fault.
    private static let reconnectLimit = 3

    private func weighReconnects(
        _ settlement: Settlement, _ flight: Flight, of run: CampaignRun, at now: Timestamp
    ) {
        if settlement.proven > 0 { run.reconnects = 0 }
        // What left before the last new connection was made says nothing about that one.
        guard settlement.reconnects > 0, settlement.proven == 0, flight.tag >= run.firstTagOnNewConnection else {
            return
        }
        run.reconnects += 1
        run.firstTagOnNewConnection = nextTag
        guard run.reconnects >= Self.reconnectLimit else { return }
        let remedy = run.remedy(for: flight.mainEnvironment, at: now)
        stop(run, for: run.route.provider.explain(.unrelatedKey, reason: "UnrelatedKeyIdInToken", remedy), flight)
    }

    // MARK: The other environment

    func secondTries(_ app: AppKey, _ environment: PushEnvironment) -> PoolTable.Owner {
        PoolTable.Owner(app: app, environment: environment, isForSecondTries: true)
    }

    mutating func noteSecondTries(_ owner: PoolTable.Owner, _ condition: PoolCondition) {
        switch condition {
        case .connected: secondTriesRest[owner] = nil
        case .failing(let error, _): rest(owner, for: .seconds(60), "it cannot be reached: \(error)")
        }
    }

    /// No second tries there for a while, and the first answers stand: nobody waits for a server that is only asked to
    /// make sure.
    private mutating func rest(_ owner: PoolTable.Owner, for time: Duration, _ reason: String) {
        if secondTriesRest.updateValue(.now + time, forKey: owner) == nil {
            log(
                .warning, "bad tokens are not tried in the other environment for now",
                [("app", owner.app.app), ("environment", owner.environment.name), ("reason", reason)])
        }
        pools.withdraw(owner)
    }
}
