// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Spaces the questions to one server, across all apps: "approximately 20 calls per minute" (PROTOCOLS 4). Pure.
package struct LookupPace: Hashable, Sendable {
    package let spacing: Duration
    private(set) var free: Timestamp?
    package private(set) var isBlocked = false

    /// Takes the right to ask now; where it is too early, returns when to try again.
    package mutating func take(at now: Timestamp) -> Timestamp? {
        let longest = isBlocked ? PollSchedule.longestRetryAfter : spacing
        if let time = free?.due(at: now, putOffAtMost: longest), time > now { return time }
        isBlocked = false
        free = now + spacing
        return nil
    }

    /// Asks nothing until `time`, as the server demands: it counts by address, so this holds for every app.
    package mutating func block(until time: Timestamp) {
        guard free.map({ $0 < time }) ?? true else { return }
        free = time
        isBlocked = true
    }
}
