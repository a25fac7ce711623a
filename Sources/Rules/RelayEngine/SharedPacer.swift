// SPDX-License-Identifier: Apache-2.0

/// A pace that several push services share: an app's (production and sandbox, and those of a campaign for some users alone), or a
/// project's quota. Pure: time is passed in.
///
/// They take turns, in the order in which they asked in vain. The service whose turn it is has a moment to ask again, and is
/// passed over if it has nothing left to send: a canary beside a campaign for a million devices does not wait until that is
/// over.
package struct SharedPacer: Sendable, Equatable {
    private static let moment = Duration.milliseconds(1)

    package private(set) var pacer: Pacer
    /// The services that have asked in vain since they last sent, in the order of asking.
    private var waiting: [String] = []
    private var turn: Turn?

    private struct Turn: Sendable, Equatable {
        var service: String
        var until: MonotonicTime
    }

    package init(_ pace: Pace, at now: MonotonicTime) {
        pacer = Pacer(pace, at: now)
    }

    /// - Parameter service: the service that asks, and has something to send.
    package mutating func allowance(for service: String, at now: MonotonicTime) -> SendingAllowance {
        let pushes = pacer.allowance(at: now)
        guard pushes > 0 else { return wait(service, for: pacer.wait(at: now)) }
        if let turn, now < turn.until {
            return turn.service == service ? SendingAllowance(pushes: pushes) : wait(service, for: turn.until - now)
        }
        turn = nil
        guard let first = waiting.first, first != service else { return SendingAllowance(pushes: pushes) }
        waiting.removeFirst()
        turn = Turn(service: first, until: now + Self.moment)
        return wait(service, for: Self.moment)
    }

    private mutating func wait(_ service: String, for time: Duration) -> SendingAllowance {
        if !waiting.contains(service), turn?.service != service { waiting.append(service) }
        return SendingAllowance(pushes: 0, wait: time)
    }

    /// This many pushes of the service have left, or will leave without asking for an allowance.
    package mutating func consume(_ pushes: Int, by service: String) {
        guard pushes > 0 else { return }
        waiting.removeAll { $0 == service }
        if turn?.service == service { turn = nil }
        pacer.consume(pushes)
    }

    /// This many of the consumed pushes did not leave.
    package mutating func refund(_ pushes: Int, at now: MonotonicTime) {
        if pushes > 0 { pacer.refund(pushes, at: now) }
    }

    /// Sending begins, or goes on after it stood still.
    package mutating func begin(at now: MonotonicTime) { pacer.begin(at: now) }

    /// Another pace holds from now on.
    package mutating func change(to pace: Pace, at now: MonotonicTime) {
        if pacer.pace != pace { pacer.change(to: pace, at: now) }
    }
}
