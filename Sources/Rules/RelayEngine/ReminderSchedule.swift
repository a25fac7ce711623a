// SPDX-License-Identifier: Apache-2.0

/// Decides when devices that are still behind are pushed to again (`push.remind`). Pure: a campaign's start and its last
/// reminder in, the next step out.
///
/// The times count from the campaign's start. If several passed while the daemon was down, or while the campaign was still
/// being sent, only the latest is made up for: one push is as good as three.
package struct ReminderSchedule: Sendable, Equatable {
    package enum Decision: Sendable, Equatable {
        /// The reminder that was due at this moment must be sent.
        case begin(dueAt: Timestamp)
        /// The next one is due then.
        case wait(until: Timestamp)
        /// None is left, or there are none at all.
        case over
    }

    /// The times of the reminders, from the campaign's start, ascending.
    package var times: [Duration]

    package init(_ times: [Duration]) {
        self.times = times
    }

    /// - Parameters:
    ///   - startedAt: when the campaign's first push might leave.
    ///   - last: when the last reminder that was sent was due; nil: none was sent. Earlier ones are over.
    package func next(startedAt: Timestamp, last: Timestamp?, at now: Timestamp) -> Decision {
        let left = times.map { startedAt + $0 }.filter { due in last.map { $0 < due } ?? true }
        if let due = left.last(where: { $0 <= now }) { return .begin(dueAt: due) }
        return left.first.map { .wait(until: $0) } ?? .over
    }
}
