// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements

/// The limits that push services share: the pace of their app (`SharedPacer`), and the quota of their project (`ProjectQuota`).
/// Pure: time, and the pauses that other relays left, are passed in.
struct SharedLimits: Sendable {
    /// A push service that sends under these limits.
    struct Service: Sendable {
        /// Its name among the services that share a limit.
        let name: String
        let app: AppKey
        /// nil: its provider knows no quota.
        let quota: QuotaLimit?
    }

    /// By app, where it has a pace.
    private var pacers: [AppKey: SharedPacer] = [:]
    /// By project, from its first push on.
    private var quotas: [String: ProjectQuota] = [:]
    /// The lowest limit that one of a project's apps is configured with: they share it.
    private var perMinute: [String: Int] = [:]

    // MARK: The configuration

    /// Takes up the pace of an app from now on; nil: it has none.
    mutating func take(_ pace: Pace?, of app: AppKey, at now: MonotonicTime) {
        guard let pace else { return pacers[app] = nil }
        pacers[app, default: SharedPacer(pace, at: now)].change(to: pace, at: now)
    }

    /// Takes up the limits of all apps from now on.
    mutating func take(_ limits: [QuotaLimit], at now: MonotonicTime) {
        perMinute = Dictionary(limits.map { ($0.project, $0.perMinute) }, uniquingKeysWith: min)
        for (project, perMinute) in perMinute { quotas[project]?.change(perMinute: perMinute, at: now) }
    }

    /// Forgets what is known of a project's quota, or of all: another relay may have sent for it since.
    mutating func forgetQuota(of project: String? = nil) {
        guard let project else { return quotas = [:] }
        quotas[project] = nil
    }

    // MARK: Handing out

    /// The pushes that the project's quota and the app's pace allow at this moment.
    ///
    /// - Parameter known: asked before the first push for a project: the pauses that another relay was given; nil: no other
    ///   relay has sent for it.
    mutating func allowance(
        for service: Service, at now: Moment, known: (_ project: String) -> [String: ProjectQuota.KnownPause]?
    ) -> SendingAllowance {
        var allowed = SendingAllowance.unlimited
        if let limit = service.quota {
            if quotas[limit.project] == nil { quotas[limit.project] = quota(limit, known(limit.project), at: now) }
            allowed = quotas[limit.project]?.allowance(for: service.name, at: now.tick) ?? allowed
            guard allowed.pushes > 0 else { return allowed }
        }
        guard let paced = pacers[service.app]?.allowance(for: service.name, at: now.tick) else { return allowed }
        return paced.pushes < allowed.pushes ? paced : allowed
    }

    private func quota(
        _ limit: QuotaLimit, _ known: [String: ProjectQuota.KnownPause]?, at now: Moment
    ) -> ProjectQuota {
        ProjectQuota(
            perMinute: perMinute[limit.project] ?? limit.perMinute, isShared: known != nil, pauses: known ?? [:],
            at: now)
    }

    /// Begins the app's ramp.
    mutating func beginRamp(of app: AppKey, at now: MonotonicTime) { pacers[app]?.begin(at: now) }

    /// Counts pushes that leave now, or that left without an allowance: later pushes make up for those.
    mutating func consume(_ requests: Int, of service: Service, at now: MonotonicTime) {
        pacers[service.app]?.consume(requests, by: service.name)
        if let limit = service.quota { quotas[limit.project]?.consume(requests, by: service.name, at: now) }
    }

    /// Counts every resend of a batch that is back, and gives back pushes that never left.
    mutating func settle(_ end: ServiceMachine.End, of service: Service, at now: MonotonicTime) {
        pacers[service.app]?.refund(end.unreached, at: now)
        if end.shard != nil || end.source == .retries {
            pacers[service.app]?.consume(end.resends, by: service.name)
        }
        guard let limit = service.quota else { return }
        quotas[limit.project]?.refund(end.unreached, at: now)
        quotas[limit.project]?.consume(end.resends, by: service.name, at: now)
    }

    // MARK: Pauses

    /// Judges the project's quota by a batch's answers.
    ///
    /// - Parameter random: a number from 0 up to, not including, 1; asked where the service has a quota.
    /// - Returns: the project, and how long the service sends nothing from now on; nil where no pause begins.
    mutating func answered(
        _ answers: Int, of service: Service, _ report: BatchReport, at now: MonotonicTime, random: () -> Double
    ) -> (project: String, pause: Duration)? {
        guard let project = service.quota?.project,
            let pause = quotas[project]?.answered(
                answers, of: service.name, throttled: report.throttled, retryAfter: report.throttledFor, at: now,
                random: random())
        else { return nil }
        return (project, pause)
    }

    /// The pauses of a project's services that are in force, for another relay that may take over; nil: the project is not used.
    func pauses(of project: String, at now: Moment) -> [String: ProjectQuota.KnownPause]? {
        quotas[project]?.pauses(at: now)
    }

    /// The project whose quota the service has reached, and for how much longer it sends nothing; nil where it does not pause.
    func pause(of service: Service, at now: MonotonicTime) -> (project: String, pause: Duration)? {
        guard let project = service.quota?.project, let pause = quotas[project]?.pause(of: service.name, at: now)
        else { return nil }
        return (project, pause)
    }

    /// Whether the service's next pushes probe the project's quota.
    func isProbing(_ service: Service) -> Bool {
        service.quota.flatMap { quotas[$0.project]?.isProbing(service.name) } ?? false
    }

    /// A person does not want to wait: the service sends a probe now.
    mutating func probeAtOnce(_ service: Service, at now: MonotonicTime) {
        if let limit = service.quota { quotas[limit.project]?.probeAtOnce(service.name, at: now) }
    }

    // MARK: Figures

    /// The app's pace at present; nil: it has none.
    func pacer(of app: AppKey) -> Pacer? { pacers[app]?.pacer }

    /// By app with a pace: pushes a second at this moment.
    func rates(at now: MonotonicTime) -> [AppKey: Double] { pacers.mapValues { $0.pacer.rate(at: now) } }
}
