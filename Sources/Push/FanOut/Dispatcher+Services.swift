// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Push services: how they are made when needed, and how their troubles are reported.
extension Dispatcher {
    mutating func service(
        _ app: AppKey, _ channel: Channel, _ route: AppRoute, _ track: PushService.Track = .everybody
    ) -> PushService {
        let key = PushService.Key(app: app, channel: channel, track: track)
        if let known = services[key] { return known }
        let machine = ServiceMachine(limits: configuration.limits, outageProbes: configuration.outageProbes)
        let other = services.first { $0.key.app == app && $0.key.channel == channel }?.value
        let service = PushService(
            key, route: route, machine: machine, lanes: lanes, clock: clock.shown,
            tokens: other?.tokens ?? JudgedTokens())
        services[key] = service
        return service
    }

    /// The fields that name a service in the log. Campaigns that are sent side by side have services of their own, so
    /// the campaign that the service sends, if any, is one of the fields.
    func names(of service: PushService) -> Log.Fields {
        let run = runs.values.first { run in
            run.services.contains { $0 === service } && service.machine.progress(of: run.record.key.row) != nil
        }
        return [("app", service.key.app.app), ("environment", service.key.channel.label(on: service.key.app.platform))]
            + (run.map { [("campaign", $0.record.id)] } ?? [])
    }

    /// Whether a campaign sends to it, or may do so later.
    func isUsed(_ service: PushService) -> Bool {
        runs.values.contains { $0.record.app == service.key.app && $0.track == service.key.track }
    }

    // MARK: Connections

    mutating func noteConnections(_ address: PoolAddress, _ condition: PoolCondition) {
        guard let (service, isForSecondTries) = owners[address] else { return }
        switch condition {
        case .connected where isForSecondTries:
            service.secondTriesRestUntil = nil
        case .failing(let error, _) where isForSecondTries:
            restSecondTries(at: service, for: .seconds(60), "it cannot be reached: \(error)")
        case .connected:
            if service.machine.connected() {
                _ = faults.clear(service.connectionPart)
                log(.notice, "connected to the push service again", names(of: service))
            }
        case .failing(let error, let attempts):
            // A pool that sends nothing dials no more, and so would never report that the fault is over.
            guard isUsed(service) else { return }
            _ = faults.set(service.connectionPart, service.unreachableText(error))
            if service.machine.connectionFailed(error) {
                log(
                    .error, "cannot reach the push service",
                    names(of: service) + [("error", error), ("attempts", String(attempts))])
            }
        }
    }

    // MARK: Outages

    mutating func report(_ change: OutageHold.Change, of service: PushService, _ answer: String, at now: Moment) {
        if !answer.isEmpty { service.outageText = answer }
        switch change {
        case .nothing:
            break
        case .began(let until):
            noteOutage(of: service, until: now.wall(at: until))
            log(
                .error, "the push service answers 5xx: sending is held",
                names(of: service)
                    + [("answer", service.outageText), ("until", now.wall(at: until).internetTime)])
            // Pushes that have not left are called back: they are read again later, or due as retries at once.
            service.withdraw()
        case .goesOn(let until):
            noteOutage(of: service, until: now.wall(at: until))
        case .ended(let time):
            _ = faults.clear(service.outagePart)
            log(
                .notice, "the push service takes pushes again: sending goes on",
                names(of: service) + [("seconds", String(time.milliseconds / 1000))])
        }
    }

    mutating func noteOutage(of service: PushService, until: Timestamp) {
        _ = faults.set(service.outagePart, service.outageText(until: until))
    }

    /// Forgets the troubles of services that no campaign uses: the next campaign finds out for itself, with its own small batch.
    mutating func forgetIdleTroubles() {
        for service in services.values where credentialText(service) != nil && !isUsed(service) {
            forgetCredentialFault(of: service)
        }
        for service in services.values where service.tokens.moved.isSuspect && !isUsed(service) {
            _ = faults.clear(service.environmentPart)
        }
        let troubled = services.values.filter { service in
            (service.machine.isInOutage || service.machine.connectionFault != nil) && !isUsed(service)
        }
        for service in troubled.sorted(by: { $0.key < $1.key }) { forgetTroubles(of: service, isReported: true) }
        // The campaign of a blocked version uses its services alone: once it is over, they have nothing more to send.
        for service in servicesInOrder where service.key.track.isOfOneCampaign && !isUsed(service) { close(service) }
    }

    mutating func forgetTroubles(of service: PushService, isReported: Bool) {
        let had = service.machine.forgetTrouble()
        for part in [had.outage ? service.outagePart : nil, had.connection ? service.connectionPart : nil] {
            guard let part, faults.clear(part), isReported else { continue }
            log(
                .notice, "the push service is not waited for any more", names(of: service))
        }
    }

    // MARK: The other environment

    /// Sends pushes for tokens that a service called bad to the app's other environment, if the app's route tries that.
    ///
    /// - Returns: whether the batch is on its way again.
    mutating func sendSecondTries(_ batch: Batch) -> Bool {
        guard let run = batch.run, let service = batch.service,
            run.route.triesOtherEnvironment(of: service.key.channel),
            run.lifecycle.isSending, batch.secondTries == nil
        else { return false }
        let now = now
        _ = lookAtHours(of: run)
        if run.hours.isAsleep || !isTrusted {
            batch.isDeniedSecondTries = true
            return false
        }
        let other = other(of: service, for: run)
        // The pause belongs to the credential, in whichever environment it is used; a campaign that sends nothing to the other
        // environment has not taken its pause up.
        let isOneCredential = service.provider.credential == other.provider.credential
        if pauseEnd(at: other) != nil || isOneCredential && (pauseEnd(at: service) != nil || batch.wantsPause) {
            batch.isDeniedSecondTries = true
            return false
        }
        // A service in an outage gets none of these either: no push waits for them, so they are no probe.
        if other.machine.isInOutage || (other.secondTriesRestUntil.map { $0 > now.tick } ?? false) { return false }
        // No credential: the first answers stand, and the next batch reports why.
        guard let template = try? other.template(for: run),
            let requests = batch.makeSecondTries(with: template)
        else { return false }
        // These were sent without an allowance: later pushes make up for them.
        limits.consume(requests.count, of: other.limited, at: now.tick)
        if let address = other.secondTryConnections.submit(requests, pin: batch.pin) {
            owners[address] = (other, true)
        }
        return true
    }

    /// The services whose answers count for tokens that are sent to `service` first: itself, and the other one where that is
    /// asked second.
    mutating func services(judging service: PushService, for run: CampaignRun) -> [PushService] {
        run.route.triesOtherEnvironment(of: service.key.channel) ? [service, other(of: service, for: run)] : [service]
    }

    /// The app's service in its other environment.
    mutating func other(of service: PushService, for run: CampaignRun) -> PushService {
        self.service(run.record.app, service.key.channel.other, run.route, run.track)
    }

    /// The end of the pause that a service asks for with its credential; nil: none now.
    func pauseEnd(at service: PushService) -> Timestamp? {
        service.provider.credentialPause(at: service.server, now: now.wall)?.until
    }

    /// Notes whether the devices that the other environment took are moved there. They are not if nearly all were taken there,
    /// which is no single device's mistake.
    mutating func noteMoves(_ trip: CredentialBreaker.Trip?, of service: PushService) {
        guard let trip else {
            if !service.tokens.moved.isSuspect { _ = faults.clear(service.environmentPart) }
            return
        }
        guard faults.set(service.environmentPart, service.misplacedText(trip)) else { return }
        log(
            .warning, "devices are not moved to the other environment, for nearly all would be",
            [
                ("app", service.key.app.app), ("environment", service.key.channel.environment.name),
                ("taken", String(trip.pushes)),
                ("answers", String(trip.answers)),
            ])
    }

    /// Makes no second tries at the service for a while, and the first answers stand: no push waits for a server that
    /// is only asked as a check.
    mutating func restSecondTries(at service: PushService, for time: Duration, _ reason: String) {
        if service.secondTriesRestUntil == nil {
            log(
                .warning, "bad tokens are not tried in the other environment for now",
                [
                    ("app", service.key.app.app), ("environment", service.key.channel.environment.name),
                    ("reason", reason),
                ])
        }
        service.secondTriesRestUntil = now.tick + time
        service.secondTryConnections.withdraw()
    }
}
