// SPDX-License-Identifier: Apache-2.0

/// Finds out how many connections it takes to hide a service's latency. Pure: readings in, a number of connections out.
///
/// Requests on their way = rate x latency (Little's law), and a connection carries a thousand: at 50 ms that is 20,000
/// requests a second. So while all streams are taken and requests wait, more connections are tried, up to the operator's
/// limit. Each step is judged by what it brought. The rate is streams divided by latency. Where the streams became k times as
/// many and the latency stayed, the rate became k times as high: the step brought all it could. Where the latency became k
/// times as long, requests only wait elsewhere, at the service, on the network, for our own CPU: the step brought nothing.
///
/// The first step is from one stream to a connection's many. It is judged likewise, but by the quickest answer, since one
/// answer alone may have been slow for its own reasons: a service that answers at once is never asked for a second
/// connection.
///
/// How far the next step goes depends on what the last one brought. If it brought nearly all it could, no request was made to
/// wait, and the same law gives the number of connections that carry what a lane can send. They are opened at once, `longest`
/// at most, because each step takes some round trips, and a million pushes are gone in seconds. If it brought less than that,
/// the steps are one, four, eight and so on. If it brought less than `worth`, it was vain: no other step follows until a rest
/// is over, and connections that the rate does not need are given back, so that no more requests wait at the service than
/// before. A rate that rises later, with the answers as quick as ever, ends that rest.
package struct ConnectionSearch: Sendable {
    /// How long answers took while all streams were taken.
    package struct Reading: Sendable, Hashable {
        package var streams: Int
        /// The average latency.
        package var latency: Duration
        /// The latency of the quickest answer.
        package var least: Duration

        /// - Parameter least: default `latency`.
        package init(streams: Int, latency: Duration, least: Duration? = nil) {
            self.streams = streams
            self.latency = latency
            self.least = least ?? latency
        }

        /// Answers a second, by Little's law.
        fileprivate var rate: Double { Double(streams) / (Double(max(latency.nanoseconds, 1)) / 1e9) }

        /// The share of the possible gain in rate: 1 where the rate rose as the streams did, 0 where it stayed.
        fileprivate func gain(over before: Reading) -> Double {
            let streams = Double(streams) / Double(before.streams)
            let latency = Double(max(latency.nanoseconds, 1)) / Double(max(base(before).nanoseconds, 1))
            return (streams / latency - 1) / (streams - 1)
        }

        /// The latency of an answer whose request waits for no other, as far as is known.
        fileprivate func base(_ before: Reading) -> Duration {
            before.streams == 1 ? min(before.least, least) : before.latency
        }

        /// Connections whose streams carry `rate` answers a second, each after `latency`.
        fileprivate func connections(for rate: Double, after latency: Duration, of wanted: Int) -> Int {
            let width = Double(streams) / Double(wanted)
            return max(1, Int((rate * Double(latency.nanoseconds) / 1e9 / width).rounded(.up)))
        }
    }

    private enum Phase: Sendable {
        /// Nothing has been answered yet.
        case new
        /// A step was made from this reading; `misses` counts the readings since that did not show that it was worth it.
        case stepped(from: Reading, misses: Int)
        /// The last step was not worth it, or there is none left.
        /// - base: the latency of an answer whose request waits for no other; nil unless connections were given back.
        case resting(until: MonotonicTime, base: Duration?)
    }

    /// The share of the possible gain that a step must bring.
    package static let worth = 0.4
    /// The same for the first step, whose quickest answer may be much quicker than most.
    package static let worthOfFirst = 0.2
    /// Answers a second of one connection that are enough, so that no step follows: a quarter of what one processor's lane can
    /// send (`make bench`).
    package static let plenty = 50_000.0
    /// The share from which a step has made no request wait: answers took at most half as long again.
    package static let unhindered = 2.0 / 3
    /// Answers a second that connections are opened for at once: what a lane can send on a processor of its own, and half as
    /// much again, because streams stand empty between an answer and the next request.
    package static let ample = 6 * plenty
    /// The most connections after a step that more than doubles them.
    package static let longest = 16
    /// Readings below the required share before the step is given up: TCP takes some round trips to send a burst (RFC 5681,
    /// 3.1), and latency always varies.
    package static let readings = 4
    /// A reading that shows a smaller share than this counts twice.
    package static let nothing = 0.1
    /// The connections that stay after a vain step carry this many times the rate that was reached.
    private static let reserve = 2.0
    /// How long no step follows a vain one; doubles with each in a row.
    package static let rests = Duration.seconds(60)...Duration.seconds(3600)
    /// Connections after the second step: a service that is made for volume can take them, and one step finds out quicker than
    /// several.
    private static let second = 4

    private let limit: Int
    private var phase = Phase.new
    private var rest = rests.lowerBound
    /// Connections that are worth it, as far as is known.
    package private(set) var wanted = 1
    /// Connections beyond this number brought nothing and may be given back; nil: there are none.
    package private(set) var most: Int?

    /// - Parameter limit: connections at most.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a reading over as many connections as are wanted, while all streams were taken and more requests waited.
    package mutating func consider(_ reading: Reading, at now: MonotonicTime) {
        guard reading.rate < Self.plenty * Double(wanted) else { return }
        switch phase {
        case .new:
            phase = .stepped(from: reading, misses: 0)
        case .stepped(let before, let misses):
            guard reading.streams > before.streams else {
                // The service narrowed its connections: it would not welcome more.
                return rest(at: now)
            }
            let gain = reading.gain(over: before)
            if gain >= (before.streams == 1 ? Self.worthOfFirst : Self.worth) {
                rest = Self.rests.lowerBound
                step(to: next(after: reading, gain: gain), from: reading, at: now)
                return
            }
            let misses = misses + (gain < Self.nothing ? 2 : 1)
            if misses < Self.readings {
                phase = .stepped(from: before, misses: misses)
            } else {
                giveUp(reading, after: before, at: now)
            }
        case .resting(let end, let base):
            // Much may have changed since: one connection more finds out.
            if now >= end { return step(to: wanted + 1, from: reading, at: now) }
            // Twice the rate that was reached is carried now: the service was not the limit, or no longer is.
            if let base, reading.latency * 2 <= base * 3 { step(to: wanted * 2, from: reading, at: now) }
        }
    }

    /// Takes the reading of a single stream, before there were more.
    package mutating func considerFirst(_ reading: Reading) {
        if case .new = phase { phase = .stepped(from: reading, misses: 0) }
    }

    /// No more than `connections` are available: another could not be dialled, or the service asked for calm.
    package mutating func refused(beyond connections: Int, at now: MonotonicTime) {
        wanted = max(1, min(wanted, connections))
        phase = .resting(until: now + Self.rests.lowerBound, base: nil)
    }

    private func next(after reading: Reading, gain: Double) -> Int {
        let doubled = max(Self.second, wanted * 2)
        guard gain >= Self.unhindered else { return doubled }
        let needed = reading.connections(for: Self.ample, after: reading.latency, of: wanted)
        return max(doubled, min(needed, Self.longest))
    }

    private mutating func step(to connections: Int, from reading: Reading, at now: MonotonicTime) {
        most = nil
        guard wanted < limit else {
            phase = .resting(until: now + Self.rests.upperBound, base: nil)
            return
        }
        wanted = min(connections, limit)
        phase = .stepped(from: reading, misses: 0)
    }

    private mutating func giveUp(_ reading: Reading, after before: Reading, at now: MonotonicTime) {
        let base = reading.base(before)
        let former = reading.connections(for: before.rate, after: before.latency, of: wanted)
        let needed = reading.connections(for: reading.rate * Self.reserve, after: base, of: wanted)
        guard max(former, needed) < wanted else { return rest(at: now) }
        wanted = max(former, needed)
        most = wanted
        rest(base: base, at: now)
    }

    private mutating func rest(base: Duration? = nil, at now: MonotonicTime) {
        phase = .resting(until: now + rest, base: base)
        rest = min(rest * 2, Self.rests.upperBound)
    }
}
