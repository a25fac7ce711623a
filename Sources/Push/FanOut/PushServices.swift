// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// The push services of all apps: made when a campaign first needs them, kept until a reload changes how they are reached; with the pools
/// that belong to them, and their faults.
///
/// Belongs to the fan-out's thread.
struct PushServices {
    private(set) var byKey: [PushService.Key: PushService] = [:]
    /// The service that each pool belongs to, and whether the pool is for second tries.
    private(set) var owners: [PoolAddress: (service: PushService, isForSecondTries: Bool)] = [:]
    /// By the name of the service's part (`PushService.Key.part`).
    var faults = FaultLog()
    let runs: CampaignRuns
    let lanes: LaneSet
    let limits: BatchLimits
    let outageProbes: ClosedRange<Duration>
    let clock: BelievedTime
    let log: Log

    init(
        _ runs: CampaignRuns, _ lanes: LaneSet, _ configuration: FanOut.Configuration, _ clock: BelievedTime, _ log: Log
    ) {
        (self.runs, self.lanes, self.clock, self.log) = (runs, lanes, clock, log)
        (limits, outageProbes) = (configuration.limits, configuration.outageProbes)
    }

    /// A hash order would differ in each process.
    var inOrder: [PushService] { byKey.values.sorted { $0.key < $1.key } }

    mutating func service(
        _ app: AppKey, _ channel: Channel, _ route: AppRoute, _ track: PushService.Track = .everybody
    ) -> PushService {
        let key = PushService.Key(app: app, channel: channel, track: track)
        if let known = byKey[key] { return known }
        let machine = ServiceMachine(limits: limits, outageProbes: outageProbes)
        let other = byKey.first { $0.key.app == app && $0.key.channel == channel }?.value
        let service = PushService(
            key, route: route, machine: machine, lanes: lanes, clock: clock.shown,
            tokens: other?.tokens ?? JudgedTokens())
        byKey[key] = service
        return service
    }

    /// Shares out the budget: each service may have as many pushes on their way as fill its connections, as far as
    /// there is room for all.
    func shareBudget() {
        let busy = inOrder.filter(\.machine.isBusy)
        let shares = BatchBudget(limits).shares(streams: busy.map(\.pushesAtOnce))
        for (service, share) in zip(busy, shares) { service.machine.change(share: share) }
    }

    /// Closes the app's services, or has them make their requests anew where the new route leads where the old one did.
    mutating func reroute(_ app: AppKey, isSameWay: Bool) {
        for service in inOrder where service.key.app == app {
            if isSameWay { service.forgetTemplate() } else { close(service) }
        }
    }

    private mutating func close(_ service: PushService) {
        forgetTroubles(of: service, isReported: false)
        forgetCredentialFault(of: service)
        service.close()
        owners = owners.filter { $0.value.service !== service }
        byKey[service.key] = nil
    }

    // MARK: Connections

    /// Hands requests to a lane: over connections of their own where they are second tries.
    mutating func submit(_ requests: RequestBatch, to service: PushService, pin: Int, asSecondTries: Bool = false) {
        let connections = asSecondTries ? service.secondTryConnections : service.connections
        if let address = connections.submit(requests, pin: pin) { owners[address] = (service, asSecondTries) }
    }

    /// Notes how many requests a pool carries at once.
    ///
    /// - Returns: whether that changes a service's share of the budget.
    func note(_ address: PoolAddress, carries streams: Int) -> Bool {
        guard let owner = owners[address], !owner.isForSecondTries else { return false }
        owner.service.connections.note(lane: address.lane, carries: streams)
        return true
    }

    mutating func note(_ address: PoolAddress, is condition: PoolCondition, at now: Moment) {
        guard let (service, isForSecondTries) = owners[address] else { return }
        switch condition {
        case .connected where isForSecondTries:
            service.secondTriesRestUntil = nil
        case .failing(let error, _) where isForSecondTries:
            restSecondTries(at: service, for: .seconds(60), "it cannot be reached: \(error)", now)
        case .connected:
            if service.machine.connected() {
                _ = faults.clear(service.connectionPart)
                log(.notice, "connected to the push service again", names(of: service))
            }
        case .failing(let error, let attempts):
            // A pool that sends nothing dials no more, and so would never report that the fault is over.
            guard runs.uses(service) else { return }
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

    private mutating func noteOutage(of service: PushService, until: Timestamp) {
        _ = faults.set(service.outagePart, service.outageText(until: until))
    }

    // MARK: Waits

    /// Ends the waits of the service: an operator does not want to wait, and a few pushes probe it.
    mutating func probeAtOnce(_ service: PushService, _ sharedLimits: inout SharedLimits, at now: Moment) {
        let waits = waits(of: service, sharedLimits, at: now)
        service.machine.probeAtOnce(at: now)
        service.provider.askAtOnce()
        sharedLimits.probeAtOnce(service.limited, at: now.tick)
        if service.machine.isInOutage { noteOutage(of: service, until: now.wall) }
        if service.machine.connectionFault != nil {
            // The next pool dials at once.
            service.connections.close()
            owners = owners.filter { $0.value.service !== service || $0.value.isForSecondTries }
        }
        guard let first = waits.first else { return }
        log(
            .notice, "the push service is tried at once, by hand",
            names(of: service) + [("waitedFor", first.cause.rawValue)])
    }

    /// The reasons why nothing is sent to the service, the gravest first; empty while pushes are sent.
    func waits(of service: PushService, _ sharedLimits: SharedLimits, at now: Moment) -> [SendingWait] {
        func wait(_ cause: SendingWait.Cause, _ text: String?) -> SendingWait? {
            text.map { SendingWait(cause: cause, text: $0) }
        }
        // Nearly always there is no trouble, and then no fault is looked up by name.
        guard service.machine.isInTrouble || service.quota != nil || !faults.texts.isEmpty else { return [] }
        return [
            wait(.keyPause, service.machine.pause.map(service.pauseText)),
            wait(.stopped, service.machine.stopReason),
            wait(.unreachable, faults.text(service.connectionPart)),
            wait(.outage, faults.text(service.outagePart)),
            wait(.credential, faults.text(service.credentialPart)),
            quotaWait(service, sharedLimits, at: now),
        ].compactMap(\.self)
    }

    /// The wait of a service for its quota, or for the moment at which a campaign may begin; nil: none.
    private func quotaWait(_ service: PushService, _ sharedLimits: SharedLimits, at now: Moment) -> SendingWait? {
        guard service.quota != nil else { return nil }
        if let opening = service.machine.opening(at: now) {
            return SendingWait(cause: .quarterHour, text: service.quarterHourText(until: opening))
        }
        guard let (project, pause) = sharedLimits.pause(of: service.limited, at: now.tick) else { return nil }
        return SendingWait(cause: .quota, text: service.quotaText(of: project, until: now.wall + pause))
    }

    // MARK: The end of troubles

    /// Forgets the troubles of services that no campaign uses: the next campaign finds out for itself, with its own small batch.
    mutating func forgetIdleTroubles() {
        for service in byKey.values where faults.text(service.credentialPart) != nil && !runs.uses(service) {
            forgetCredentialFault(of: service)
        }
        for service in byKey.values where service.tokens.moved.isSuspect && !runs.uses(service) {
            _ = faults.clear(service.environmentPart)
        }
        let troubled = byKey.values.filter { service in
            (service.machine.isInOutage || service.machine.connectionFault != nil) && !runs.uses(service)
        }
        for service in troubled.sorted(by: { $0.key < $1.key }) { forgetTroubles(of: service, isReported: true) }
        // The campaign of a blocked version uses its services alone: once it is over, they have nothing more to send.
        for service in inOrder where service.key.track.isOfOneCampaign && !runs.uses(service) { close(service) }
    }

    private mutating func forgetTroubles(of service: PushService, isReported: Bool) {
        let had = service.machine.forgetTrouble()
        for part in [had.outage ? service.outagePart : nil, had.connection ? service.connectionPart : nil] {
            guard let part, faults.clear(part), isReported else { continue }
            log(
                .notice, "the push service is not waited for any more", names(of: service))
        }
    }

    /// The fields that name a service in the log. Campaigns that are sent side by side have services of their own, so
    /// the campaign that the service sends, if any, is one of the fields.
    private func names(of service: PushService) -> Log.Fields {
        [("app", service.key.app.app), ("environment", service.key.channel.label(on: service.key.app.platform))]
            + (runs.sender(of: service).map { [("campaign", $0.record.id)] } ?? [])
    }
}
