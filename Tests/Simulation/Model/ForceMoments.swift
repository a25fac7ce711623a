// SPDX-License-Identifier: Apache-2.0

/// The moments that the relay gives as "in force since", of one app's requirements that are in force for everybody. Each moment lies between
/// the last look that did not find the requirement so and the first look that did, and stays, whatever is killed in between.
///
/// Times are milliseconds of the relay's wall clock.
struct ForceMoments {
    /// By requirement.
    private var known: [Int64: Int64] = [:]
    private var lookedAt = Int64.min

    /// Judges what a look has found.
    ///
    /// - Parameters:
    ///   - isClockRight: whether the wall clock was never set.
    ///   - moments: by requirement that is in force for everybody, in order; nil: the relay gives none.
    /// - Returns: the first requirement whose moment is wrong, and why.
    mutating func look(
        at now: Int64, isClockRight: Bool, _ moments: [(requirement: Int64, since: Int64?)]
    ) -> (requirement: Int64, why: String)? {
        let (before, last) = (known, lookedAt)
        known = moments.reduce(into: [:]) { $0[$1.requirement] = $1.since }
        lookedAt = now
        for (requirement, since) in moments {
            guard let since else { return (requirement, "no moment is given") }
            // It may have been taken back and have come again since the last look.
            if before[requirement] == since || !isClockRight { continue }
            if since > now { return (requirement, "the moment given is \(since - now) ms ahead") }
            guard since < last else { continue }
            let was = before[requirement] == nil ? "it was not" : "another moment was given"
            return (requirement, "the moment given is \(now - since) ms ago, and \(now - last) ms ago \(was)")
        }
        return nil
    }

    /// Notes a look that found what the one before had found.
    mutating func looked(at now: Int64) { lookedAt = now }
}
