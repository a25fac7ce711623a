// SPDX-License-Identifier: Apache-2.0

/// How many requests a push service lets a whole project make: all apps of the project share it.
package struct QuotaLimit: Sendable, Hashable {
    /// The project that the quota belongs to; equal where the push service sees one project.
    package var project: String
    package var perMinute: Int
    /// Whether a campaign's first minute does not begin near a quarter of an hour (`QuarterHourAvoidance`).
    package var avoidsQuarterHours: Bool

    package init(project: String, perMinute: Int, avoidsQuarterHours: Bool) {
        self.project = project
        self.perMinute = perMinute
        self.avoidsQuarterHours = avoidsQuarterHours
    }
}

/// Decides how many requests a project's services may make now, all together. Pure: time is passed in.
///
/// Google (PROTOCOLS 2.4) allows so many a minute and counts those that it refuses. It asks for a ramp of at least a minute
/// from nothing to the whole rate, and for a minute's requests not to crowd at its beginning. So this is a pacer: never a
/// burst, and in no minute more than the quota, wherever the minute begins.
///
/// | what | then |
/// |---|---|
/// | nothing was sent for a minute | the ramp begins again, from zero, with a probe on credit |
/// | a fifth of a service's last answers, of twenty at least, are 429 | that service pauses; then a new ramp, if no other has sent |
///
/// A pause lasts until `Retry-After`, an hour at most, or for a minute that doubles each time up to a quarter of an hour.
///
/// Each service is judged by its own answers: where it is the project's quota, each finds that out by a probe; where one
/// app's devices are busy, the other apps go on. A single 429 is a device's own, or a topic's: only that push waits. The same
/// holds for a 429 to a push that failed before: only first tries are judged (`Settlement.answered`).
package struct ProjectQuota: Sendable, Equatable {
    /// How long the ramp takes.
    package static let ramp = Duration.seconds(60)
    /// After this time without a request the next one begins a new ramp.
    package static let idle = Duration.seconds(60)
    /// Requests that a ramp begins with, on credit: a probe, whose answers are judged together. No more are sent until the
    /// ramp has caught up with them.
    package static let probe = 64
    /// How long a service sends nothing where the push service does not name a time.
    package static let pauses = Duration.seconds(60)...Duration.seconds(900)
    /// Answers that are needed before a service is paused.
    package static let sample = 20.0
    private static let share = 0.2
    /// The number of earlier answers that are weighed with those of a batch.
    private static let memory = 100.0

    /// The state of one of the services.
    private struct Service: Sendable, Equatable {
        var answers = 0.0
        var throttled = 0.0
        /// Pauses in a row.
        var setbacks = 0
        /// The service sends nothing before this moment.
        var pausedUntil: MonotonicTime?
        /// Whether it is after a pause, and its answers have not been judged since.
        var isProbing = false
        var lastUse: MonotonicTime?
    }

    /// A service's pause, as a relay hands it to another one.
    package struct KnownPause: Sendable, Hashable {
        package var until: Timestamp
        /// Pauses in a row, this one among them.
        package var setbacks: Int

        package init(until: Timestamp, setbacks: Int) { (self.until, self.setbacks) = (until, setbacks) }
    }

    package private(set) var perMinute: Int
    /// Whether a ramp begins with a probe on credit.
    private let givesCredit: Bool
    private var pacer: SharedPacer
    /// Requests that are left of the probe.
    private var credit = 0
    private var services: [String: Service] = [:]

    /// - Parameters:
    ///   - isShared: whether another relay may have sent for the project within the last minute. Then nothing goes on credit,
    ///     so that both together, the other until its end and this one on its ramp, send the quota at most in any minute.
    ///   - pauses: pauses that another relay was given, by service.
    package init(
        perMinute: Int, isShared: Bool = false, pauses: [String: KnownPause] = [:], at now: Moment
    ) {
        self.perMinute = perMinute
        givesCredit = !isShared
        pacer = SharedPacer(Self.pace(perMinute), at: now.tick)
        for (name, pause) in pauses where pause.until > now.wall {
            services[name] = Service(
                setbacks: pause.setbacks,
                pausedUntil: now.tick + min(pause.until - now.wall, RetrySchedule.longestRetryAfter))
        }
    }

    package init(perMinute: Int, at now: MonotonicTime) {
        self.init(perMinute: perMinute, at: Moment(wall: Timestamp(milliseconds: 0), tick: now))
    }

    /// The pauses that are in force, for another relay that may take over.
    package func pauses(at now: Moment) -> [String: KnownPause] {
        services.compactMapValues { service in
            service.pausedUntil.flatMap { until in
                now.tick < until
                    ? KnownPause(until: now.wall + (until - now.tick), setbacks: service.setbacks) : nil
            }
        }
    }

    /// A pacer hands out `rate × (t + 0.1) + 1` in t seconds at most: within a minute that is the quota, and never more.
    private static func pace(_ perMinute: Int) -> Pace {
        Pace(
            ratePerSecond: max(Double(perMinute) - 1, 0.5) / 60.1, rampUp: Pace.RampUp(from: 0, over: ramp))
    }

    // MARK: Handing out

    package mutating func allowance(for service: String, at now: MonotonicTime) -> SendingAllowance {
        if let pausedUntil = services[service]?.pausedUntil {
            guard now >= pausedUntil else { return SendingAllowance(pushes: 0, wait: pausedUntil - now) }
            services[service]?.pausedUntil = nil
            services[service]?.isProbing = true
            services[service]?.lastUse = nil
        }
        if services.values.allSatisfy({ $0.lastUse.map { now - $0 > Self.idle } ?? true }) { begin(at: now) }
        let allowed = pacer.allowance(for: service, at: now)
        return credit > allowed.pushes ? SendingAllowance(pushes: credit) : allowed
    }

    private mutating func begin(at now: MonotonicTime) {
        pacer.begin(at: now)
        credit = givesCredit ? min(Self.probe, max(1, perMinute / 20)) : 0
    }

    /// These requests have left, or were sent again without asking for an allowance.
    package mutating func consume(_ requests: Int, by service: String, at now: MonotonicTime) {
        guard requests > 0 else { return }
        pacer.consume(requests, by: service)
        credit = max(0, credit - requests)
        services[service, default: Service()].lastUse = now
    }

    /// This many of the consumed requests did not leave.
    package mutating func refund(_ requests: Int, at now: MonotonicTime) {
        pacer.refund(requests, at: now)
    }

    // MARK: What happened

    package mutating func change(perMinute: Int, at now: MonotonicTime) {
        guard perMinute != self.perMinute else { return }
        self.perMinute = perMinute
        pacer.change(to: Self.pace(perMinute), at: now)
    }

    /// A batch has its answers.
    ///
    /// - Parameters:
    ///   - throttled: the answers that were 429.
    ///   - retryAfter: the longest `Retry-After` of these.
    ///   - random: a number from 0 up to, not including, 1.
    /// - Returns: how long the service sends nothing from now on; nil where no pause begins.
    package mutating func answered(
        _ answers: Int, of name: String, throttled: Int, retryAfter: Duration?, at now: MonotonicTime, random: Double
    ) -> Duration? {
        var service = services[name] ?? Service()
        defer { services[name] = service }
        // An answer that comes in a pause is to a request that left before it.
        guard answers > 0, service.pausedUntil.map({ now >= $0 }) ?? true else { return nil }
        service.isProbing = false
        let weight = min(1, Self.memory / max(1, service.answers))
        service.answers = service.answers * weight + Double(answers)
        service.throttled = service.throttled * weight + Double(throttled)
        guard throttled > 0, service.answers >= Self.sample, service.throttled >= service.answers * Self.share else {
            if service.throttled < 1 { service.setbacks = 0 }
            return nil
        }
        var pause = Self.pauses.lowerBound
        for _ in 0..<service.setbacks where pause < Self.pauses.upperBound { pause *= 2 }
        pause = min(pause, Self.pauses.upperBound)
        if let retryAfter { pause = min(max(retryAfter, .seconds(1)), RetrySchedule.longestRetryAfter) }
        pause += .milliseconds(Int64(Double(pause.milliseconds) * 0.25 * random))
        service.setbacks = min(service.setbacks + 1, 16)
        (service.answers, service.throttled) = (0, 0)
        service.pausedUntil = now + pause
        return pause
    }

    /// A person does not want to wait: the service sends a probe now.
    package mutating func probeAtOnce(_ service: String, at now: MonotonicTime) {
        if pause(of: service, at: now) != nil { services[service]?.pausedUntil = now }
    }

    /// How much longer the service sends nothing because the quota is reached; nil where it does not pause.
    package func pause(of service: String, at now: MonotonicTime) -> Duration? {
        services[service]?.pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }

    /// Whether the service will be judged by what it sends now.
    package func isProbing(_ service: String) -> Bool {
        services[service].map { $0.isProbing || $0.pausedUntil != nil } ?? false
    }
}
