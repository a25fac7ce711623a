// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Telemetry
import WireFormat

/// What services share with others: the quota of a project, and a credential that is on its way.
extension Dispatcher {
    // MARK: Quotas

    /// What the service's project allows at this moment.
    mutating func allowance(of service: PushService, at now: MonotonicTime) -> ProjectQuota.Allowance {
        guard let limit = service.quota else { return .unlimited }
        if quotas[limit.project] == nil {
            quotas[limit.project] = ProjectQuota(perMinute: perMinute(of: limit), at: now)
        }
        return quotas[limit.project]?.allowance(at: now) ?? .unlimited
    }

    /// The least that one of the project's apps is configured with: they share it.
    private func perMinute(of limit: QuotaLimit) -> Int {
        routes.values.compactMap(\.provider.quota).filter { $0.project == limit.project }.map(\.perMinute).min()
            ?? limit.perMinute
    }

    /// Routes have changed.
    mutating func changeQuotas(at now: MonotonicTime) {
        for route in routes.values {
            guard let limit = route.provider.quota else { continue }
            let perMinute = perMinute(of: limit)
            quotas[limit.project]?.change(perMinute: perMinute, at: now)
        }
    }

    mutating func consumeQuota(of service: PushService, _ requests: Int, at now: MonotonicTime) {
        guard let limit = service.quota else { return }
        quotas[limit.project]?.consume(requests, at: now)
    }

    /// What went out more than once counts each time; what never left does not.
    mutating func settleQuota(of service: PushService, _ end: ServiceMachine.End, at now: MonotonicTime) {
        guard let limit = service.quota else { return }
        quotas[limit.project]?.refund(end.unreached, at: now)
        quotas[limit.project]?.consume(end.resends, at: now)
    }

    /// A batch's answers say how the project's quota does.
    mutating func judgeQuota(of service: PushService, _ report: BatchReport, answers: Int, at now: Moment) {
        let random = random
        guard let limit = service.quota,
            let pause = quotas[limit.project]?.answered(
                answers, throttled: report.throttled, retryAfter: report.throttledFor, at: now.tick,
                random: random.unit())
        else { return }
        log(
            .warning, "the project's quota is reached: nothing is sent to it for a while",
            [("project", limit.project), ("until", (now.wall + pause).internetTime)])
        for service in servicesInOrder where service.quota?.project == limit.project { service.withdraw() }
    }

    /// Why the service waits for its quota, or for a campaign's first minute to begin; nil where it does not.
    func quotaText(_ service: PushService, at now: Moment) -> String? {
        guard let limit = service.quota else { return nil }
        if let opening = service.machine.opening(at: now) {
            return "waiting until \(opening.internetTime): \(service.providerName) asks that no campaign begins around "
                + "a quarter of an hour"
        }
        guard let pause = quotas[limit.project]?.pause(at: now.tick) else { return nil }
        return "the quota of the project is reached (\(limit.project)): sending goes on by itself at "
            + (now.wall + pause).internetTime
    }

    /// When a campaign may begin there; nil: at once.
    func opening(_ service: PushService, of run: CampaignRun, keepsRamp: Bool, at now: Timestamp) -> Timestamp? {
        // What has sent before is past its first minute.
        guard let limit = service.quota, limit.avoidsQuarterHours, !keepsRamp, run.record.counts.accepted == 0 else {
            return nil
        }
        let opening = QuietQuarter.opening(at: now)
        return opening > now ? opening : nil
    }

    // MARK: Credentials

    /// The name of the fault that a service's credential is not to be had.
    private func credentialPart(_ service: PushService) -> String { service.key.part("credential") }

    /// Before anything is read for the service.
    ///
    /// - Returns: how long until the credential is asked for again, where there is none; nil where there is.
    /// - Throws: what an operator has to put right.
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
            if let fault = pending.fault, faults.set(part, Self.pendingText(fault)) {
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

    private static func pendingText(_ fault: String) -> String {
        "no credential for the push service: \(fault); sending waits and goes on by itself"
    }

    func credentialText(_ service: PushService) -> String? { faults.text(credentialPart(service)) }

    /// Nobody sends there any more: whether the credential is to be had is not known.
    mutating func forgetCredentialFault(of service: PushService) {
        _ = faults.clear(credentialPart(service))
    }
}
