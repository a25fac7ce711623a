// SPDX-License-Identifier: Apache-2.0

/// The users of a campaign, and how many of them each of its waves was seen to hold.
///
/// A user is drawn by chance, so a wave holds its percentage within bounds alone: the number of users in the first waves is binomial. A count of
/// pushes is below that number, for some users are left out; so each count is held from above, that of the first waves against their share and
/// that of the others against the rest.
struct WaveShares {
    /// A number of users that is less likely than this is no chance. A release judges some 10^6 waves: one release in 1,000 may err.
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

    /// A user has the first push.
    ///
    /// - Parameter wave: from 1.
    /// - Returns: what is wrong with the shares; nil: nothing.
    mutating func pushes(inWave wave: Int) -> String? {
        guard counts.indices.contains(wave - 1) else { return "it has no more than \(counts.count) waves" }
        counts[wave - 1] += 1
        for (place, end) in ends.dropLast().enumerated() {
            let first = counts[...place].reduce(0, +)
            let rest = counts[(place + 1)...].reduce(0, +)
            let share = Double(end) / 100
            if Self.tail(first, of: users, share) < Self.chance {
                return "its first \(end) % hold \(first) of \(users) users"
            }
            if Self.tail(rest, of: users, 1 - share) < Self.chance {
                return "the \(100 - end) % after its first \(end) % hold \(rest) of \(users) users"
            }
        }
        return nil
    }

    /// The probability that at least `count` of `users` are drawn, each with the probability `share`: the exact tail of the binomial distribution.
    ///
    /// - Parameter share: above 0 and below 1.
    static func tail(_ count: Int, of users: Int, _ share: Double) -> Double {
        guard count > 0 else { return 1 }
        guard count <= users else { return 0 }
        // From all of them down, each term out of the one before: C(n, k) = C(n, k + 1) (k + 1) / (n - k).
        var term = 1.0
        for _ in 0..<users { term *= share }
        var sum = term
        for number in (count..<users).reversed() {
            term *= Double(number + 1) / Double(users - number) * (1 - share) / share
            sum += term
        }
        return min(sum, 1)
    }
}
