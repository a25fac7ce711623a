// SPDX-License-Identifier: Apache-2.0

/// Holds the pushes back from a push service that answers 5xx to nearly everything, and finds out when that is over. Pure:
/// answers and time in, leave for pushes out. One for each app and service.
///
/// Without it each push of the audience would be tried once before it waits for its own schedule: a million vain requests
/// at a service in trouble, and a million rows to be tried again.
///
/// A *balance* counts the answers: a 5xx adds one, any other takes nine away, and it is never below zero. It grows only where
/// more than nine in ten are 5xx, and at `sample` the hold begins. From then on *probes* of a few pushes test the service:
///
/// | probe | not before |
/// |---|---|
/// | first | 10 s after the hold began |
/// | each after one that found the service no better | the previous time, doubled, 5 min at most |
/// | after an answer with `Retry-After` | that time, where it is the longer one |
///
/// Jitter adds up to a quarter. A probe with fewer than nine 5xx in ten answers ends the hold at once. If the next hold
/// follows before a sample of good answers, the time goes on doubling: a service that falls over under each rush is asked
/// ever more rarely.
///
/// Pushes that had been tried before, and failed again, begin no hold: they come back together, and may be at fault
/// themselves while the service accepts all others. In a hold they count as any other.
///
/// Answers are reported by batch, and batches are known by their tags, which rise: a batch that left before the hold began
/// proves nothing about the service since.
package struct OutageHold: Sendable, Equatable {
    /// The balance at which a hold begins. After as many good answers the next hold begins with the shortest time again.
    package static let sample = 20
    /// 5xx that one good answer makes up for: at a share of nine in ten the balance stands still.
    package static let worthOfGood = 9
    /// Pushes of a probe.
    package static let probeSize = 8
    /// The time until the first probe, and the longest.
    package static let intervals = Duration.seconds(10)...Duration.seconds(300)
    /// One batch's answers from one service. A push with no answer, or one that shows nothing about the service, is in
    /// neither count.
    package struct Answers: Sendable, Equatable {
        /// Any answer but a 5xx: the service is at work.
        package var good: Int
        package var failed: Int
        /// Failed pushes that had been tried before.
        package var repeated = 0
        /// The shortest `Retry-After` of a 5xx: each such push keeps its own, other pushes may probe after this one.
        package var retryAfter: Duration?

        fileprivate var balance: Int { failed - worthOfGood * good }
    }

    package enum Change: Sendable, Equatable {
        case nothing
        /// Sending is held; the first probe may leave at `until`.
        case began(until: MonotonicTime)
        /// The probe found the service no better.
        case goesOn(until: MonotonicTime)
        /// The service takes pushes again.
        case ended(heldFor: Duration)
    }

    /// Which pushes may be sent now.
    package enum Leave: Sendable, Equatable {
        /// All.
        case open
        /// A probe.
        case probe
        /// None before then; nil: none before the probe is back.
        case closed(until: MonotonicTime?)
    }

    private enum State: Sendable, Equatable {
        /// `good`: answers since the last hold ended, a sample at most.
        case open(balance: Int, good: Int)
        case held(Held)
    }

    private struct Held: Sendable, Equatable {
        var since: MonotonicTime
        var until: MonotonicTime
        /// The batch that is out to probe.
        var probe: Int?
    }

    private let intervals: ClosedRange<Duration>
    private var state = State.open(balance: 0, good: sample)
    /// Vain probes and begun holds, in a row.
    private var setbacks = 0
    /// Batches with a lower tag left before the last hold ended or began.
    private var firstTag = 0

    /// - Parameter intervals: the time until the first probe, and the longest.
    package init(intervals: ClosedRange<Duration> = intervals) {
        self.intervals = intervals
    }

    package var isHeld: Bool { if case .held = state { true } else { false } }

    /// When the next probe may leave, or left; nil where nothing is held.
    package var until: MonotonicTime? { if case .held(let held) = state { held.until } else { nil } }

    package func leave(at now: MonotonicTime) -> Leave {
        guard case .held(let held) = state else { return .open }
        guard held.probe == nil else { return .closed(until: nil) }
        return now >= held.until ? .probe : .closed(until: held.until)
    }

    // MARK: What happened

    /// A batch with pushes to this service has left.
    package mutating func left(tag: Int) {
        guard case .held(var held) = state, held.probe == nil else { return }
        held.probe = tag
        state = .held(held)
    }

    /// A batch is back.
    ///
    /// - Parameters:
    ///   - nextTag: the tag of the next batch to leave.
    ///   - random: a number from 0 up to, not including, 1.
    package mutating func answered(
        _ answers: Answers, tag: Int, nextTag: Int, at now: MonotonicTime, random: Double
    ) -> Change {
        guard answers.good + answers.failed > 0, tag >= firstTag else { return .nothing }
        switch state {
        case .open(let balance, let good):
            let balance = max(0, balance + answers.balance - answers.repeated)
            guard balance >= Self.sample else {
                let good = min(Self.sample, good + answers.good)
                if good == Self.sample { setbacks = 0 }
                state = .open(balance: balance, good: good)
                return .nothing
            }
            firstTag = nextTag
            return .began(until: hold(since: now, answers, at: now, random: random))
        case .held(let held):
            guard tag == held.probe else { return .nothing }
            guard answers.balance < 0 else {
                return .goesOn(until: hold(since: held.since, answers, at: now, random: random))
            }
            firstTag = nextTag
            state = .open(balance: 0, good: min(Self.sample, answers.good))
            return .ended(heldFor: now - held.since)
        }
    }

    /// A batch is recorded, or came back as a whole without an answer. If it was the probe and found out nothing, another probe
    /// follows.
    package mutating func ended(tag: Int, at now: MonotonicTime) {
        guard case .held(var held) = state, held.probe == tag else { return }
        held.probe = nil
        held.until = now + interval
        state = .held(held)
    }

    /// A person does not want to wait: the next probe may leave now.
    package mutating func probeAtOnce(at now: MonotonicTime) {
        guard case .held(var held) = state, held.probe == nil else { return }
        held.until = min(held.until, now)
        state = .held(held)
    }

    /// Sending has ended: the next campaign finds out for itself.
    package mutating func forget() {
        self = OutageHold(intervals: intervals)
    }

    private mutating func hold(since: MonotonicTime, _ answers: Answers, at now: MonotonicTime, random: Double)
        -> MonotonicTime
    {
        setbacks += 1
        let asked = min(answers.retryAfter ?? .zero, RetrySchedule.longestRetryAfter)
        let wait = max(interval, asked)
        let until = now + wait + .milliseconds(Int64(Double(wait.milliseconds) * 0.25 * random))
        state = .held(Held(since: since, until: until))
        return until
    }

    private var interval: Duration {
        var interval = intervals.lowerBound
        for _ in 1..<max(setbacks, 1) where interval < intervals.upperBound { interval *= 2 }
        return min(interval, intervals.upperBound)
    }
}
