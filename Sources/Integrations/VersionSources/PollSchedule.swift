// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The next step of a source that is polled.
package enum PollStep<Question: Hashable & Sendable>: Hashable, Sendable {
    case ask(Question)
    case wait(until: Timestamp)

    func map<Other>(_ change: (Question) -> Other) -> PollStep<Other> {
        switch self {
        case .ask(let question): .ask(change(question))
        case .wait(let time): .wait(until: time)
        }
    }
}

/// Decides the next question to a source that is polled, and combines the answers of a round. Pure.
protocol PollMachine: Sendable {
    associatedtype Question: Hashable & Sendable

    func next(at now: Timestamp) -> PollStep<Question>
}

/// When a source is asked next. Pure.
///
/// | what happened | next question after |
/// |---|---|
/// | a good answer | `every` |
/// | a fault | `every`, or the server's Retry-After where that is longer |
/// | asked too often, with Retry-After | that; from the second time in a row at least `every`, doubled each time |
/// | asked too often, without | `every`, doubled each time in a row |
///
/// A back-off is six hours at most, or `every` where that is longer; a longer Retry-After counts up to a day. A caller may
/// `hasten` the next question, but not where the source asked for a pause.
package struct PollSchedule: Hashable, Sendable {
    package static let longestBackOff = Duration.seconds(6 * 3600)
    package static let longestRetryAfter = Duration.seconds(86_400)

    package let every: Duration
    package private(set) var next: Timestamp
    /// By how much `next` was put off: after a clock was set back, it is put off by no more than that.
    private var putOff: Duration
    /// How often in a row the source reported that it was asked too often.
    private var throttled = 0
    /// Whether the source asked for a pause.
    private var isHeldBack = false

    /// - Parameter start: when the first question is due.
    package init(every: Duration, start: Timestamp) {
        self.every = every
        next = start
        putOff = every
    }

    /// When the next question is due.
    package func due(at now: Timestamp) -> Timestamp {
        // A small correction of the clock causes no question.
        next.due(at: now, putOffAtMost: putOff + .seconds(60))
    }

    /// - Parameter pause: a pause that the source asks of all its clients, where that is longer.
    package mutating func succeeded(at now: Timestamp, atLeast pause: Duration = .zero) {
        throttled = 0
        isHeldBack = false
        putOff(every, at: now)
        rest(pause, at: now)
    }

    private mutating func putOff(_ time: Duration, at now: Timestamp) {
        (next, putOff) = (now + time, time)
    }

    /// Asks nothing for `pause`.
    package mutating func rest(_ pause: Duration, at now: Timestamp) {
        guard pause > .zero else { return }
        isHeldBack = true
        if now + pause > next { putOff(pause, at: now) }
    }

    /// Asks as early as `time`, if the source allows it.
    package mutating func hasten(to time: Timestamp) {
        if !isHeldBack { next = min(next, time) }
    }

    /// The question, once it is due.
    func next<Question>(_ question: Question, at now: Timestamp) -> PollStep<Question> {
        let due = due(at: now)
        return now >= due ? .ask(question) : .wait(until: due)
    }

    package mutating func failed(_ fault: SourceFault, at now: Timestamp) {
        let asked = fault.retryAfter.map { min(max($0, .seconds(1)), Self.longestRetryAfter) }
        isHeldBack = fault.isThrottled || asked != nil
        guard fault.isThrottled else {
            throttled = 0
            putOff(max(every, asked ?? .zero), at: now)
            return
        }
        throttled += 1
        if let asked {
            putOff(throttled == 1 ? asked : max(asked, backOff(doublings: throttled - 2)), at: now)
        } else {
            putOff(backOff(doublings: throttled), at: now)
        }
    }

    private func backOff(doublings: Int) -> Duration {
        min(every * (1 << min(doublings, 10)), max(Self.longestBackOff, every))
    }
}
