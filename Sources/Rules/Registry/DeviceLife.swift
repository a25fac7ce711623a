// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The times of a device: of its registration, of its death, and of the last version that it reported without registering.
package struct DeviceLife: Hashable, Sendable {
    package var registered: Timestamp
    /// The time at which the push service declared the token dead; nil: alive.
    package var dead: Timestamp?
    package var seen: Timestamp?
    package var wasRemoved = false

    package init(registered: Timestamp, dead: Timestamp? = nil, seen: Timestamp? = nil, wasRemoved: Bool = false) {
        self.registered = registered
        self.dead = dead
        self.seen = seen
        self.wasRemoved = wasRemoved
    }

    /// The life after an observation.
    ///
    /// - Parameter before: nil where the token is new.
    init(after said: Observation, from source: RegistrationSource, before: DeviceLife?, at now: Timestamp) {
        if source == .registration {
            self.init(registered: now, seen: before?.seen)
            return
        }
        let death = said.deadSince.map { min($0, now) }
        // `seen` is the time of a reported version, so an observation without a version does not change it.
        let seen = said.leftOut.contains(.version) ? nil : said.seenAt.map { min($0, now) }
        if let before, !before.wasRemoved || before.dead != nil {
            self.init(
                registered: max(before.registered, min(said.registeredAt ?? before.registered, now)), dead: before.dead,
                seen: Self.later(before.seen, seen))
        } else {
            // Without a registration time, the time of death counts, else the time last seen, else now.
            self.init(registered: min(said.registeredAt ?? death ?? said.seenAt ?? now, now), seen: seen)
        }
        if let dead, registered > dead { self.dead = nil }
        if dead == nil, let death, death >= registered { dead = death }
    }

    private static func later(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    /// The last time at which the device itself reported a version.
    private var lastReport: Timestamp { max(registered, seen ?? registered) }

    /// Whether a version in records, of the app or of the system, is ignored because the device has reported one since.
    ///
    /// - Parameters:
    ///   - new: the life after those records.
    ///   - isOlder: whether the records' version is older than the device's. Called only where it decides.
    func outlasts(_ said: Observation, _ new: DeviceLife, isOlder: @autoclosure () -> Bool) -> Bool {
        let time = said.seenAt ?? new.registered
        // Where no time was given, an older version is ignored: neither app nor system is downgraded without a registration.
        return time <= lastReport && (said.seenAt != nil && time < lastReport || isOlder())
    }
}
