// SPDX-License-Identifier: Apache-2.0

/// A time zone: the time on its clocks, from their offset from UTC at each moment. Pure: `Threading` reads the tz
/// database.
package struct LocalZone: Sendable, Hashable {
    /// As the tz database names it, such as "Asia/Shanghai".
    package let name: String
    /// The offset from UTC in seconds, by seconds since 1970; below 0 west of Greenwich.
    private let offset: @Sendable (Int64) -> Int64

    package init(name: String, offset: @escaping @Sendable (_ secondsSince1970: Int64) -> Int64) {
        self.name = name
        self.offset = offset
    }

    /// The time that its clocks show, as if they showed UTC.
    package func local(_ moment: Timestamp) -> Timestamp {
        moment + .seconds(offset(moment.wholeSeconds))
    }

    /// The moments at which its clocks show a time: none where they leap over it, two where they are set back and show it again.
    ///
    /// - Parameter local: the time on its clocks, as if they showed UTC.
    package func moments(of local: Timestamp) -> [Timestamp] {
        let (before, after) = offsets(around: local)
        return [before, after].filter { offset((local - .seconds($0)).wholeSeconds) == $0 }
            .map { local - .seconds($0) }
            .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
            .sorted()
    }

    /// The moment at which its clocks leap over a time that they never show.
    package func leap(over local: Timestamp) -> Timestamp {
        let (before, after) = offsets(around: local)
        // Clocks are set at whole seconds.
        var (low, high) = ((local - .seconds(after)).wholeSeconds, (local - .seconds(before)).wholeSeconds)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return Timestamp(seconds: high)
    }

    /// The offsets a day before `local` and a day after it: no zone sets its clocks twice in two days.
    private func offsets(around local: Timestamp) -> (before: Int64, after: Int64) {
        let day = Duration.seconds(86_400)
        return (offset((local - day).wholeSeconds), offset((local + day).wholeSeconds))
    }

    package static func == (left: LocalZone, right: LocalZone) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Timestamp {
    /// Seconds since 1970, rounded towards the past.
    fileprivate var wholeSeconds: Int64 { (milliseconds - (milliseconds % 1000 + 1000) % 1000) / 1000 }
}
