// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// Push services that answer 5xx to nearly everything: what they are spared, and how it is told.
extension Conductor {
    // MARK: Who may send

    private func service(_ app: AppKey, _ environment: PushEnvironment) -> PoolTable.Owner {
        PoolTable.Owner(app: app, environment: environment, isForSecondTries: false)
    }

    func isHeld(_ app: AppKey, _ environment: PushEnvironment) -> Bool {
        outages[service(app, environment)]?.isHeld ?? false
    }

    /// Whether the campaign may send. A batch holds pushes to both of the app's services as they come, so it waits for the
    /// one that is held the longest.
    func outageGate(_ run: CampaignRun, at now: Timestamp) -> OutageHold.Gate {
        guard !outages.isEmpty else { return .open }
        return PushEnvironment.allCases.reduce(.open) { gate, environment in
            outages[service(run.record.app, environment)].map { gate.and($0.gate(at: now)) } ?? gate
        }
    }

    /// Pushes that the campaign may send now, as far as its services take any.
    func outageAllowance(_ run: CampaignRun, at now: Timestamp) -> Int {
        switch outageGate(run, at: now) {
        case .open: .max
        case .probe: OutageHold.probeSize
        case .closed: 0
        }
    }

    /// How long until the campaign may send; nil where the probe has to come back first.
    mutating func sendWait(_ run: CampaignRun, at now: Timestamp) -> Duration? {
        switch outageGate(run, at: now) {
        case .open, .probe: paceWait(run, at: now)
        case .closed(let until?): max(until - now, paceWait(run, at: now) ?? .zero)
        case .closed(nil): nil
        }
    }

    // MARK: What happened

    /// A batch has left: where a service is held it is the probe.
    mutating func noteProbe(_ flight: Flight, of run: CampaignRun) {
        guard !outages.isEmpty else { return }
        for (environment, _) in flight.batches { outages[service(run.record.app, environment)]?.left(tag: flight.tag) }
    }

    /// A batch is recorded, or came back as a whole unsent.
    mutating func noteLanding(_ flight: Flight, of run: CampaignRun, at now: Timestamp) {
        gaveBack(flight, of: run)
        if flight.metNobody { run.machine.batchMetNobody() }
        guard !outages.isEmpty else { return }
        for environment in PushEnvironment.allCases {
            outages[service(run.record.app, environment)]?.landed(tag: flight.tag, at: now)
        }
    }

    /// What the batch's answers say of the services themselves.
    mutating func weighOutage(_ settlement: Settlement, _ flight: Flight, of run: CampaignRun, at now: Timestamp) {
        guard !settlement.failures.isEmpty || !outages.isEmpty else { return }
        for (environment, answers, isMain) in flight.serviceAnswers(settlement) {
            let owner = service(run.record.app, environment)
            // Where few of an app's pushes go to a service, its outage does not hold up the others: those few have their
            // own schedule.
            guard isMain || isHeld(run.record.app, environment) else { continue }
            // Most services never fail; they have no entry.
            guard answers.failed > 0 || outages[owner] != nil else { continue }
            var hold = outages[owner] ?? OutageHold(intervals: configuration.outageProbes)
            let change = hold.answered(
                answers, tag: flight.tag, nextTag: nextTag, at: now, random: Double.random(in: 0..<1))
            outages[owner] = hold
            tell(change, owner, settlement.failures[environment]?.text ?? "")
        }
    }

    private mutating func tell(_ change: OutageHold.Change, _ owner: PoolTable.Owner, _ answer: String) {
        let (part, app) = (Self.outagePart(owner.app, owner.environment), owner.app.app)
        func text(_ until: Timestamp) -> String {
            "the push service answers \(answer) to nearly every push: sending waits and goes on by itself; "
                + "the next try is at \(until.internetTime)"
        }
        switch change {
        case .nothing:
            break
        case .began(let until):
            _ = faults.set(part, text(until))
            log(
                .error, "the push service answers 5xx: sending is held",
                [
                    ("app", app), ("environment", owner.environment.name), ("answer", answer),
                    ("until", until.internetTime),
                ])
            // What has not left yet does not leave: it is read again later, or due as a retry at once.
            pools.withdraw(owner.app)
        case .goesOn(let until):
            _ = faults.set(part, text(until))
        case .ended(let time):
            _ = faults.clear(part)
            log(
                .notice, "the push service takes pushes again: sending goes on",
                [
                    ("app", app), ("environment", owner.environment.name),
                    ("seconds", String(time.milliseconds / 1000)),
                ])
            // Not all at once to a service that has only just got up.
            for other in runs.values where other.record.app == owner.app { other.machine.probeAgain() }
        }
    }

    /// Nothing is held where no campaign sends: the next one begins with its own small batch.
    mutating func forgetIdleOutages() {
        guard !outages.isEmpty else { return }
        let busy = Set(runs.values.map(\.record.app))
        forgetOutages { !busy.contains($0) }
    }

    mutating func forgetOutages(of isConcerned: (AppKey) -> Bool = { _ in true }) {
        for owner in outages.keys where isConcerned(owner.app) {
            if outages.removeValue(forKey: owner)?.isHeld ?? false,
                faults.clear(Self.outagePart(owner.app, owner.environment))
            {
                log(
                    .notice, "the push service is not waited for any more",
                    [("app", owner.app.app), ("environment", owner.environment.name)])
            }
        }
    }

    /// The name of an outage among the faults.
    static func outagePart(_ app: AppKey, _ environment: PushEnvironment) -> String {
        environment == .production ? "outage:\(app.app)" : "outage:\(app.app)/sandbox"
    }
}
