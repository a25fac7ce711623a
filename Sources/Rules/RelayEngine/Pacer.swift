// SPDX-License-Identifier: Apache-2.0

/// Decides how many pushes of one app may be handed out now. Pure: time is passed in.
///
/// A token bucket that is refilled without steps and hardly holds anything: a push and a tenth of a second's worth, so that a
/// late thread makes up for what it missed and nothing more. In any stretch of `t` seconds at most `rate × (t + 0.1) + 1`
/// pushes are handed out, however long nothing was sent before. A push that was sent without an allowance (another try on
/// another connection) is a debt that later pushes wait for.
///
/// | rate | handed out at a time | wakes per second |
/// |---|---|---|
/// | 0.5/s | 1 | 0.5 |
/// | 10/s | 1 | 10 |
/// | 1,000/s | 20 | 50 |
/// | 100,000/s | 2,000 | 50 |
package struct Pacer: Sendable, Equatable {
    /// Seconds' worth of pushes that the bucket holds beside one push.
    private static let depth = 0.1
    /// Seconds' worth of pushes that is enough for a batch of its own.
    private static let quantum = 0.02
    /// Seconds over which `usage` is measured.
    private static let memory = 10.0

    package private(set) var pace: Pace
    /// When the ramp began.
    private var beganAt: MonotonicTime
    private var refilledAt: MonotonicTime
    private var tokens = 1.0
    /// Tokens that the bucket got lately, and those of them that ran over because they were not taken.
    private var given = 0.0
    private var spilt = 0.0

    /// The ramp begins, and one push may leave at once.
    package init(_ pace: Pace, at now: MonotonicTime) {
        self.pace = pace
        beganAt = now
        refilledAt = now
    }

    // MARK: Handing out

    /// Pushes that may leave now; 0 while they are too few for a batch.
    package mutating func allowance(at now: MonotonicTime) -> Int {
        refill(at: now)
        return tokens + Self.rounding >= quantum(at: now) ? Int(tokens + Self.rounding) : 0
    }

    /// These pushes have left, or will leave without asking for an allowance.
    package mutating func consume(_ pushes: Int) {
        tokens -= Double(pushes)
    }

    /// How long until `allowance` gives something.
    package mutating func wait(at now: MonotonicTime) -> Duration {
        refill(at: now)
        let missing = quantum(at: now) - tokens
        guard missing > Self.rounding else { return .zero }
        return .nanoseconds(Int64(min(time(for: missing, at: now) * 1e9 + 1000, 9e18)))
    }

    // MARK: What happened

    /// Sending begins, or goes on after it stood still: the ramp begins, and nothing was saved up.
    package mutating func begin(at now: MonotonicTime) {
        refill(at: now)
        tokens = min(tokens, 1)
        beganAt = now
        (given, spilt) = (0, 0)
    }

    /// Another pace holds from now on; a ramp that has begun goes on.
    package mutating func change(to pace: Pace, at now: MonotonicTime) {
        refill(at: now)
        self.pace = pace
        tokens = min(tokens, capacity(at: now))
        (given, spilt) = (0, 0)
    }

    /// This many of the consumed pushes did not leave. Tokens that have filled the bucket since are not given twice.
    package mutating func refund(_ pushes: Int, at now: MonotonicTime) {
        refill(at: now)
        tokens = min(tokens + Double(pushes), max(tokens, capacity(at: now)))
    }

    // MARK: What to expect

    /// Pushes a second at this moment of the ramp.
    package func rate(at now: MonotonicTime) -> Double {
        guard let ramp = pace.rampUp else { return pace.ratePerSecond }
        let over = ramp.over.seconds
        let share = over > 0 ? min((now - beganAt).seconds / over, 1) : 1
        return pace.ratePerSecond * (ramp.from + (1 - ramp.from) * share)
    }

    /// The share of the possible pushes of the last ten seconds that was sent: below 1, something other than the pace is slower.
    package var usage: Double { given > 0 ? max(0, 1 - spilt / given) : 1 }

    /// Seconds until `pushes` more have left at the present usage; nil where nothing leaves.
    package func seconds(for pushes: Double, at now: MonotonicTime) -> Double? {
        guard pushes > 0 else { return 0 }
        // A hundredth counts as nothing: with a service that stands still, usage only approaches 0.
        guard usage > 0.01 else { return nil }
        return time(for: pushes, at: now) / usage
    }

    // MARK: Arithmetic

    /// Tokens are sums of many small parts, so comparisons allow for this much.
    private static let rounding = 1e-6

    private func capacity(at now: MonotonicTime) -> Double { 1 + rate(at: now) * Self.depth }

    private func quantum(at now: MonotonicTime) -> Double { max(1, rate(at: now) * Self.quantum) }

    private mutating func refill(at now: MonotonicTime) {
        guard now > refilledAt else { return }
        let seconds = (now - refilledAt).seconds
        let gain = amount((now - beganAt).seconds) - amount((refilledAt - beganAt).seconds)
        refilledAt = now
        let full = tokens + gain
        tokens = min(full, max(capacity(at: now), tokens))
        let fading = 1 / (1 + seconds / Self.memory)
        given = given * fading + gain
        spilt = spilt * fading + (full - tokens)
    }

    /// Tokens that the bucket gets in the first `seconds` of the ramp.
    private func amount(_ seconds: Double) -> Double {
        let rate = pace.ratePerSecond
        guard let ramp = pace.rampUp, ramp.over > .zero else { return rate * seconds }
        let (first, over) = (rate * ramp.from, ramp.over.seconds)
        let inRamp = min(seconds, over)
        return first * inRamp + (rate - first) * inRamp * inRamp / (2 * over) + rate * max(seconds - over, 0)
    }

    /// Seconds until the bucket has got `tokens` more: the inverse of `amount`.
    private func time(for tokens: Double, at now: MonotonicTime) -> Double {
        let (rate, since) = (pace.ratePerSecond, (now - beganAt).seconds)
        guard let ramp = pace.rampUp, ramp.over > .zero, since < ramp.over.seconds else { return tokens / rate }
        let over = ramp.over.seconds
        let inRamp = amount(over) - amount(since)
        guard tokens < inRamp else { return over - since + (tokens - inRamp) / rate }
        let (speed, growth) = (self.rate(at: now), rate * (1 - ramp.from) / over)
        guard growth > 0 else { return tokens / speed }
        return ((speed * speed + 2 * growth * tokens).squareRoot() - speed) / growth
    }
}

extension Duration {
    /// In seconds, as near as a `Double` comes.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
