// SPDX-License-Identifier: Apache-2.0

/// The users of a campaign, and how many of them were seen in each wave.
///
/// Users are drawn at random, so a wave holds its percentage only within bounds: the number of users in the first waves is
/// binomial. A count of pushes is below that number, because some users are left out. So each count is only bounded from above:
/// that of the first waves by their share, that of the later ones by the rest.
struct WaveShares {
    /// A less likely number of users counts as a fault. A release judges some 10^6 waves: one release in 1,000 may err.
    static let chance = 1e-9

    /// The percentage of users in each wave and those before it, ascending; the last is 100.
    let ends: [Int]
    /// The number of users when the campaign began.
    let users: Int
    /// The number of users who had their first push in each wave.
    private(set) var counts: [Int]

    init(ends: [Int], users: Int) {
        (self.ends, self.users) = (ends, users)
        counts = ends.map { _ in 0 }
    }

    /// Counts a user's first push.
    ///
    /// - Parameter wave: from 1.
    /// - Returns: the fault in the shares; nil: none.
    mutating func pushes(inWave wave: Int) -> String? {
        guard counts.indices.contains(wave - 1) else { return "it has no more than \(counts.count) waves" }
        counts[wave - 1] += 1
        for (place, end) in ends.dropLast().enumerated() {
            let first = counts[...place].reduce(0, +)
            let rest = counts[(place + 1)...].reduce(0, +)
            let share = Double(end) / 100
            if Self.tail(first, of: [(users, share)]) < Self.chance {
                return "its first \(end) % hold \(first) of \(users) users"
            }
            if Self.tail(rest, of: [(users, 1 - share)]) < Self.chance {
                return "the \(100 - end) % after its first \(end) % hold \(rest) of \(users) users"
            }
        }
        return nil
    }

    /// The fault of several campaigns together, each of which draws its users anew: this is the best test of small audiences.
    ///
    /// - Returns: the fault in the shares; nil: none.
    static func fault(in all: [WaveShares]) -> String? {
        let all = all.filter { $0.ends.count > 1 }
        let users = all.reduce(0) { $0 + $1.users }
        func fault(_ name: String, _ count: (WaveShares) -> Int, _ percentage: (WaveShares) -> Int) -> String? {
            let count = all.reduce(0) { $0 + count($1) }
            let groups = all.map { ($0.users, Double(percentage($0)) / 100) }
            guard tail(count, of: groups) < chance else { return nil }
            let expected = groups.reduce(0) { $0 + Double($1.0) * $1.1 }
            return "the \(name) of \(all.count) campaigns hold \(count) of \(users) users, "
                + "and \(Int(expected.rounded())) are expected"
        }
        func before(_ shares: WaveShares) -> Int { shares.ends[shares.ends.count - 2] }
        return fault("first waves", \.counts[0], \.ends[0])
            ?? fault("waves before the last", { $0.counts.dropLast().reduce(0, +) }, before)
            ?? fault("last waves", { $0.counts[$0.counts.count - 1] }, { 100 - before($0) })
    }

    /// The probability that at least `count` users are drawn from groups, in each of which users are drawn with one probability:
    /// the exact tail of a sum of binomial distributions.
    ///
    /// - Parameter share: above 0 and below 1.
    static func tail(_ count: Int, of groups: [(users: Int, share: Double)]) -> Double {
        guard count > 0 else { return 1 }
        // By number: the probability that so many of the users so far are drawn.
        var chances = [1.0]
        for (users, share) in groups {
            for _ in 0..<users {
                chances.append(0)
                for number in chances.indices.reversed() {
                    chances[number] = chances[number] * (1 - share) + (number > 0 ? chances[number - 1] * share : 0)
                }
            }
        }
        // The smallest are added first, so that none is lost.
        return chances.dropFirst(count).reversed().reduce(0, +)
    }
}
