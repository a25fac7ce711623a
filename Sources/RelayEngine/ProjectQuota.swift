// SPDX-License-Identifier: Apache-2.0

/// How many requests a push service lets a whole project make: all apps of the project share it.
package struct QuotaLimit: Sendable, Hashable {
    /// Whose quota it is; equal where the push service sees one project.
    package var project: String
    package var perMinute: Int
    /// Whether a campaign's first minute does not begin near a quarter of an hour (`QuietQuarter`).
    package var avoidsQuarterHours: Bool

    package init(project: String, perMinute: Int, avoidsQuarterHours: Bool) {
        self.project = project
        self.perMinute = perMinute
        self.avoidsQuarterHours = avoidsQuarterHours
    }
}

/// Says how many requests a project's services may make now, all together. Pure: time is passed in.
///
/// Google (PROTOCOLS 2.4) allows so many a minute, counts those that it refuses, and asks to go from nothing to the whole rate
/// in a minute at least and not to crowd a minute's requests at its beginning. So it is a `Pacer`: never a burst, and in no
/// minute more than the quota, wherever the minute begins.
///
/// | what | then |
/// |---|---|
/// | nothing was sent for a minute | the ramp begins anew, at nothing but a probe, on credit |
/// | a fifth of the last answers, of twenty at least, are 429 | nobody sends until `Retry-After`, or for a minute that doubles each time up to a quarter of an hour; then the ramp |
///
/// A single 429 is a device's own, or a topic's: that push waits, nobody else. So is one of a push that failed before: only
/// first tries are judged by (`Settlement.answered`).
package struct ProjectQuota: Sendable, Equatable {
    /// How long the ramp takes.
    package static let ramp = Duration.seconds(60)
    /// After so long without a request the next one is the first of a new ramp.
    package static let idle = Duration.seconds(60)
    /// Requests that a ramp begins with, on credit: a probe, whose answers are judged together. What the ramp would have allowed
    /// is caught up with before more are sent.
    package static let probe = 64
    /// How long nobody sends where the service does not say.
    package static let pauses = Duration.seconds(60)...Duration.seconds(900)
    /// Answers that are looked at before nobody sends.
    package static let sample = 20.0
    private static let share = 0.2
    /// Answers from before that are weighed with a batch's own.
    private static let memory = 100.0

    /// What may be sent at this moment.
    package struct Allowance: Sendable, Equatable {
        package var pushes: Int
        /// Where none may: how long until that changes.
        package var wait: Duration?

        package init(pushes: Int, wait: Duration? = nil) {
            self.pushes = pushes
            self.wait = wait
        }

        /// No quota.
        package static let unlimited = Allowance(pushes: .max)
    }

    package private(set) var perMinute: Int
    private var pacer: Pacer
    private var lastUse: MonotonicTime?
    /// What is left of the probe.
    private var credit = 0
    /// Nobody sends before then.
    private var pausedUntil: MonotonicTime?
    private var answers = 0.0
    private var throttled = 0.0
    /// Pauses in a row.
    private var setbacks = 0

    package init(perMinute: Int, at now: MonotonicTime) {
        self.perMinute = perMinute
        pacer = Pacer(Self.pace(perMinute), at: now)
    }

    /// A pacer hands out `rate × (t + 0.1) + 1` in t seconds at most: of a minute that is the quota, and never more.
    private static func pace(_ perMinute: Int) -> Pace {
        Pace(
            ratePerSecond: max(Double(perMinute) - 1, 0.5) / 60.1, rampUp: Pace.RampUp(from: 0, over: ramp))
    }

    // MARK: Handing out

    package mutating func allowance(at now: MonotonicTime) -> Allowance {
        if let pausedUntil {
            guard now >= pausedUntil else { return Allowance(pushes: 0, wait: pausedUntil - now) }
            self.pausedUntil = nil
            begin(at: now)
            lastUse = now
        }
        if lastUse.map({ now - $0 > Self.idle }) ?? true { begin(at: now) }
        let pushes = max(pacer.allowance(at: now), credit)
        return pushes > 0 ? Allowance(pushes: pushes) : Allowance(pushes: 0, wait: pacer.wait(at: now))
    }

    private mutating func begin(at now: MonotonicTime) {
        pacer.begin(at: now)
        credit = min(Self.probe, max(1, perMinute / 20))
    }

    /// These have left, or were sent again without being asked for.
    package mutating func consume(_ requests: Int, at now: MonotonicTime) {
        guard requests > 0 else { return }
        pacer.consume(requests)
        credit = max(0, credit - requests)
        lastUse = max(lastUse ?? now, now)
    }

    /// So many that were taken did not leave.
    package mutating func refund(_ requests: Int, at now: MonotonicTime) {
        if requests > 0 { pacer.refund(requests, at: now) }
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
    ///   - throttled: those of them that were 429.
    ///   - retryAfter: the longest that one of these named.
    ///   - random: a number from 0 up to, not including, 1.
    /// - Returns: how long nobody sends from now on; nil where that is not new.
    package mutating func answered(
        _ answers: Int, throttled: Int, retryAfter: Duration?, at now: MonotonicTime, random: Double
    ) -> Duration? {
        // What comes back in a pause left before it.
        guard answers > 0, pausedUntil.map({ now >= $0 }) ?? true else { return nil }
        let weight = min(1, Self.memory / max(1, self.answers))
        self.answers = self.answers * weight + Double(answers)
        self.throttled = self.throttled * weight + Double(throttled)
        guard throttled > 0, self.answers >= Self.sample, self.throttled >= self.answers * Self.share else {
            if self.throttled < 1 { setbacks = 0 }
            return nil
        }
        var pause = Self.pauses.lowerBound
        for _ in 0..<setbacks where pause < Self.pauses.upperBound { pause *= 2 }
        pause = min(pause, Self.pauses.upperBound)
        if let retryAfter { pause = min(max(retryAfter, .seconds(1)), RetrySchedule.longestRetryAfter) }
        pause += .milliseconds(Int64(Double(pause.milliseconds) * 0.25 * random))
        setbacks = min(setbacks + 1, 16)
        (self.answers, self.throttled) = (0, 0)
        pausedUntil = now + pause
        return pause
    }

    /// How long nobody sends yet because the quota is reached; nil where it is not.
    package func pause(at now: MonotonicTime) -> Duration? {
        pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }
}
