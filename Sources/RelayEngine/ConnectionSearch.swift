// SPDX-License-Identifier: Apache-2.0

/// Finds out how many connections it takes to hide a service's latency. Pure: readings in, a number of connections out.
///
/// Requests on their way = rate x latency (Little's law), and a connection carries a thousand: at 50 ms that is 20,000
/// requests a second. So while all streams are taken and requests wait, more connections are tried: 1, 4, 8, 16 and so on
/// up to the operator's limit. Each step is judged by what it brought. The rate is streams by latency; where the streams
/// became k times as many, and the latency stayed, the rate became k times as high: the step brought all of what it could.
/// Where the latency became k times as long, requests only wait elsewhere, at the service, on the network, for our own CPU:
/// the step brought nothing. One that brings less than `worth` is not followed by another, until a rest is over.
///
/// The first step of all is from one stream to a connection's many. It is judged likewise, from the quickest answer of all,
/// since one answer alone may have been slow for its own reasons: a service that answers at once is never asked for a second
/// connection.
package struct ConnectionSearch: Sendable {
    /// How long answers took while all streams were taken.
    package struct Reading: Sendable, Hashable {
        package var streams: Int
        /// On average.
        package var latency: Duration
        /// Of the quickest.
        package var least: Duration

        /// - Parameter least: nil: as the others.
        package init(streams: Int, latency: Duration, least: Duration? = nil) {
            self.streams = streams
            self.latency = latency
            self.least = least ?? latency
        }

        /// Answers a second, by Little's law.
        fileprivate var rate: Double { Double(streams) / (Double(max(latency.nanoseconds, 1)) / 1e9) }

        /// What became of the rate, of what could: 1 where it rose as the streams did, 0 where it stayed.
        fileprivate func gain(over before: Reading) -> Double {
            let streams = Double(streams) / Double(before.streams)
            let base = before.streams == 1 ? min(before.least, least) : before.latency
            let latency = Double(max(latency.nanoseconds, 1)) / Double(max(base.nanoseconds, 1))
            return (streams / latency - 1) / (streams - 1)
        }
    }

    private enum Phase: Sendable {
        /// Nothing has been answered yet.
        case new
        /// A step was made from this reading; so many readings did not show that it was worth it.
        case stepped(from: Reading, misses: Int)
        /// The last step was not worth it, or there is none left.
        case resting(until: MonotonicTime)
    }

    /// The share of what a step could bring that it has to bring.
    package static let worth = 0.4
    /// The same of the first, whose quickest answer may be much quicker than most.
    package static let worthOfFirst = 0.2
    /// Answers a second of one connection: a quarter of what one processor's lane can send (`make bench`).
    package static let plenty = 50_000.0
    /// Readings that may miss it before the step is given up: TCP takes some round trips to send a burst (RFC 5681, 3.1), and
    /// nobody's latency is always the same.
    package static let readings = 4
    /// How long a vain step is not followed by another; doubles with each in a row.
    package static let rests = Duration.seconds(60)...Duration.seconds(3600)
    /// The second step: what a service for volume does not mind, for "open" answers quicker than "one more" four times.
    private static let second = 4

    private let limit: Int
    private var phase = Phase.new
    private var rest = rests.lowerBound
    /// Connections that are worth it, as far as is known.
    package private(set) var wanted = 1

    /// - Parameter limit: connections at most.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Answers came while all streams were taken and more requests waited, over as many connections as are wanted.
    package mutating func took(_ reading: Reading, at now: MonotonicTime) {
        guard reading.rate < Self.plenty * Double(wanted) else { return }
        switch phase {
        case .new:
            phase = .stepped(from: reading, misses: 0)
        case .stepped(let before, let misses):
            guard reading.streams > before.streams else {
                // The service narrowed its connections: it does not want more.
                return giveUp(at: now)
            }
            if reading.gain(over: before) >= (before.streams == 1 ? Self.worthOfFirst : Self.worth) {
                rest = Self.rests.lowerBound
                step(to: wanted < Self.second ? Self.second : wanted * 2, from: reading, at: now)
            } else if misses + 1 < Self.readings {
                phase = .stepped(from: before, misses: misses + 1)
            } else {
                giveUp(at: now)
            }
        case .resting(let end):
            // Much may have changed meanwhile; one connection more finds out.
            if now >= end { step(to: wanted + 1, from: reading, at: now) }
        }
    }

    /// What a single stream said before there were more.
    package mutating func tookFirst(_ reading: Reading) {
        if case .new = phase { phase = .stepped(from: reading, misses: 0) }
    }

    /// More than these were not to be had: one could not be dialled, or the service asked for calm.
    package mutating func refused(beyond connections: Int, at now: MonotonicTime) {
        wanted = max(1, min(wanted, connections))
        phase = .resting(until: now + Self.rests.lowerBound)
    }

    private mutating func step(to connections: Int, from reading: Reading, at now: MonotonicTime) {
        guard wanted < limit else {
            phase = .resting(until: now + Self.rests.upperBound)
            return
        }
        wanted = min(connections, limit)
        phase = .stepped(from: reading, misses: 0)
    }

    private mutating func giveUp(at now: MonotonicTime) {
        phase = .resting(until: now + rest)
        rest = min(rest * 2, Self.rests.upperBound)
    }
}
