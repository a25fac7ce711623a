// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Limits that services share: the pace of an app, the quota of a project, and a credential that is on its way.
extension Dispatcher {
    // MARK: Pace and quota

    /// The pushes that the project's quota and the app's pace allow at this moment.
    mutating func allowance(of service: PushService, at now: MonotonicTime) -> SendingAllowance {
        var allowed = SendingAllowance.unlimited
        if let limit = service.quota {
            if quotas[limit.project] == nil { quotas[limit.project] = takeUpQuota(limit) }
            allowed = quotas[limit.project]?.allowance(for: service.name, at: now) ?? allowed
            guard allowed.pushes > 0 else { return allowed }
        }
        guard let paced = pacers[service.key.app]?.allowance(for: service.name, at: now) else { return allowed }
        return paced.pushes < allowed.pushes ? paced : allowed
    }

    /// The project's quota when this relay begins to use it: pauses that another relay noted still hold.
    private func takeUpQuota(_ limit: QuotaLimit) -> ProjectQuota {
        guard !store.membership.isAlone else { return ProjectQuota(perMinute: perMinute(of: limit), at: now.tick) }
        // A store that cannot be read just now has its own fault; the next answers show the quota.
        let known = (try? store.quotaPauses(of: limit.project)) ?? [:]
        return ProjectQuota(perMinute: perMinute(of: limit), isShared: true, pauses: known, at: now)
    }

    /// Whether the service's next pushes probe the project's quota.
    func isProbing(_ service: PushService) -> Bool {
        service.quota.flatMap { quotas[$0.project]?.isProbing(service.name) } ?? false
    }

    /// Begins the ramp with the app's campaign or its next wave, unless another of its campaigns is being sent.
    mutating func beginRamp(of run: CampaignRun, at now: MonotonicTime) {
        let app = run.record.app
        let others = runs.values.filter { $0 !== run && $0.record.app == app && $0.lifecycle.isSending }
        guard others.allSatisfy(\.hours.isAsleep) else { return }
        pacers[app]?.begin(at: now)
    }

    /// Takes up the pace of the app's route from now on.
    mutating func takePace(of app: AppKey, at now: MonotonicTime) {
        guard let pace = routes[app]?.pace else { return pacers[app] = nil }
        pacers[app, default: SharedPacer(pace, at: now)].change(to: pace, at: now)
    }

    /// The lowest limit that one of the project's apps is configured with: they share it.
    private func perMinute(of limit: QuotaLimit) -> Int {
        routes.values.flatMap(\.quotas).filter { $0.project == limit.project }.map(\.perMinute).min()
            ?? limit.perMinute
    }

    /// Applies changed routes to the quotas.
    mutating func changeQuotas(at now: MonotonicTime) {
        for route in routes.values {
            for limit in route.quotas {
                let perMinute = perMinute(of: limit)
                quotas[limit.project]?.change(perMinute: perMinute, at: now)
            }
        }
    }

    /// Counts pushes that leave now, or that left without an allowance: later pushes make up for those.
    mutating func consume(_ requests: Int, of service: PushService, at now: MonotonicTime) {
        pacers[service.key.app]?.consume(requests, by: service.name)
        if let limit = service.quota { quotas[limit.project]?.consume(requests, by: service.name, at: now) }
    }

    /// Counts every resend, and gives back pushes that never left.
    mutating func settleUse(of service: PushService, _ end: ServiceMachine.End, at now: MonotonicTime) {
        pacers[service.key.app]?.refund(end.unreached, at: now)
        if end.shard != nil || end.source == .retries {
            pacers[service.key.app]?.consume(end.resends, by: service.name)
        }
        guard let limit = service.quota else { return }
        quotas[limit.project]?.refund(end.unreached, at: now)
        quotas[limit.project]?.consume(end.resends, by: service.name, at: now)
    }

    /// Judges the project's quota by a batch's answers.
    mutating func judgeQuota(of service: PushService, _ report: BatchReport, answers: Int, at now: Moment) {
        let random = random
        guard let limit = service.quota,
            let pause = quotas[limit.project]?.answered(
                answers, of: service.name, throttled: report.throttled, retryAfter: report.throttledFor, at: now.tick,
                random: random.unit())
        else { return }
        log(
            .warning, "the project's quota is reached: nothing of the app is sent for a while",
            [
                ("project", limit.project), ("app", service.key.app.app),
                ("until", (now.wall + pause).internetTime),
            ])
        service.withdraw()
        keepPauses(of: limit.project, at: now)
    }

    /// Keeps the pauses in the store, so that they outlive this relay.
    private mutating func keepPauses(of project: String, at now: Moment) {
        guard !store.membership.isAlone, let quota = quotas[project] else { return }
        do {
            try store.keepQuotaPauses(of: project, quota.pauses(at: now))
        } catch {
            noteStore(error)
        }
    }

    /// The wait of a service for its quota, or for the moment at which a campaign may begin; nil: none.
    func quotaWait(_ service: PushService, at now: Moment) -> SendingWait? {
        guard let limit = service.quota else { return nil }
        if let opening = service.machine.opening(at: now) {
            return SendingWait(
                cause: .quarterHour,
                text:
                    "waiting until \(opening.internetTime): \(service.providerName) asks that no campaign begins around "
                    + "a quarter of an hour")
        }
        guard let pause = quotas[limit.project]?.pause(of: service.name, at: now.tick) else { return nil }
        return SendingWait(
            cause: .quota,
            text: "the quota of the project is reached (\(limit.project)): sending goes on by itself at "
                + (now.wall + pause).internetTime)
    }

    // MARK: Ending waits at once

    /// Ends the waits of apps whose operator does not want to wait: a few pushes probe their services.
    mutating func endWaits() {
        guard !impatient.isEmpty else { return }
        let now = now
        for run in runsInOrder where impatient.contains(run.record.app) && run.lifecycle.isSending {
            // A service that refused the credential is tried as at the start of the campaign.
            guard run.services.contains(where: { $0.machine.stopReason != nil }) else { continue }
            rerouted.insert(run.record.key)
            halt(run)
        }
        for service in servicesInOrder where impatient.contains(service.key.app) {
            let waits = waits(of: service, at: now)
            service.machine.probeAtOnce(at: now)
            service.provider.askAtOnce()
            if let limit = service.quota { quotas[limit.project]?.probeAtOnce(service.name, at: now.tick) }
            if service.machine.isInOutage { noteOutage(of: service, until: now.wall) }
            if service.machine.connectionFault != nil {
                // The next pool dials at once.
                service.connections.close()
                owners = owners.filter { $0.value.service !== service || $0.value.isForSecondTries }
            }
            guard let first = waits.first else { continue }
            log(
                .notice, "the push service is tried at once, by hand",
                names(of: service) + [("waitedFor", first.cause.rawValue)])
        }
        impatient = []
    }

    /// When a campaign may begin there; nil: at once.
    func opening(_ service: PushService, of run: CampaignRun, keepsRamp: Bool, at now: Timestamp) -> Timestamp? {
        // A campaign that has sent before is past its first minute.
        guard !keepsRamp, run.record.figures.counts.accepted == 0 else { return nil }
        return quietEnd(of: service, at: now)
    }

    /// When a campaign or wave that would begin now may begin there; nil: at once.
    func quietEnd(of service: PushService, at now: Timestamp) -> Timestamp? {
        guard let limit = service.quota, limit.avoidsQuarterHours else { return nil }
        let opening = QuarterHourAvoidance.opening(at: now)
        return opening > now ? opening : nil
    }

    // MARK: Credentials

    /// The name of the fault that a service has no credential.
    private func credentialPart(_ service: PushService) -> String { service.key.part("credential") }

    /// Checks the credential before anything is read for the service.
    ///
    /// - Returns: how long until a missing credential is asked for again; nil where there is one.
    /// - Throws: a fault that an operator has to put right.
    mutating func waitForCredential(
        of service: PushService, _ run: CampaignRun
    ) throws -> Duration? {
        let part = credentialPart(service)
        do {
            _ = try service.template(for: run)
            if faults.clear(part) {
                log(.notice, "the credential is there again", [("app", service.key.app.app)])
            }
            return nil
        } catch let pending as CredentialPending {
            if let fault = pending.fault,
                faults.set(part, "no credential for the push service: \(fault); sending waits and goes on by itself")
            {
                log(
                    .error, "no credential for the push service: sending waits and goes on by itself",
                    [("app", service.key.app.app), ("error", fault)])
            }
            return pending.until.map { max($0 - service.clock(), .milliseconds(1)) } ?? .seconds(3600)
        } catch {
            _ = faults.clear(part)
            throw error
        }
    }

    func credentialText(_ service: PushService) -> String? { faults.text(credentialPart(service)) }

    /// Clears the fault: nothing is sent to the service now, so the credential's state is unknown.
    mutating func forgetCredentialFault(of service: PushService) {
        _ = faults.clear(credentialPart(service))
    }
}
