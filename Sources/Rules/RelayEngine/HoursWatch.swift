// SPDX-License-Identifier: Apache-2.0

/// Decides whether a campaign may begin anything now, by its app's hours and by whether a person wants it sent at once. Pure:
/// only the last window is kept, so that most looks compare two times.
package struct HoursWatch: Sendable {
    package enum Change: Sendable, Equatable {
        case none
        /// Nothing new is begun until then: call back the pushes that have not left.
        case fellAsleep(until: Timestamp)
        /// It goes on.
        case woke
    }

    /// nil: at any time.
    private let hours: SendingHours?
    private var window: SendingHours.Window?
    private var lookedAt: Timestamp?
    /// Until when nothing is begun; nil: the campaign may begin things.
    package private(set) var sleepsUntil: Timestamp?
    /// When `isAsleep` changes by itself; nil: never.
    package private(set) var changesAt: Timestamp?

    package init(_ hours: SendingHours?) {
        self.hours = hours
    }

    package var isAsleep: Bool { sleepsUntil != nil }

    /// - Parameters:
    ///   - isUrgent: whether a person wants the campaign sent whatever the hour.
    ///   - now: by the believed clock, which may have been set since the last call.
    package mutating func look(isUrgent: Bool, at now: Timestamp) -> Change {
        guard let hours else { return .none }
        let wasAsleep = isAsleep
        if isUrgent {
            (sleepsUntil, changesAt, window) = (nil, nil, nil)
            return wasAsleep ? .woke : .none
        }
        let isKnown = window.map { now < $0.closes } ?? false && lookedAt.map { now >= $0 } ?? false
        let window = isKnown ? self.window ?? hours.window(at: now) : hours.window(at: now)
        (self.window, lookedAt) = (window, now)
        sleepsUntil = now < window.opens ? window.opens : nil
        changesAt = sleepsUntil ?? window.closes
        switch (wasAsleep, sleepsUntil) {
        case (false, let until?): return .fellAsleep(until: until)
        case (true, nil): return .woke
        default: return .none
        }
    }
}
