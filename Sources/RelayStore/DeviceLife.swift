// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules

/// Who says something of a device.
package enum RegistrationSource: Sendable {
    /// The app itself: its device is registered now, and alive.
    case registration
    /// Somebody's records of what was registered before.
    case records
}

/// When a token was registered, when it died, and when a version was last told without registering.
package struct DeviceLife: Hashable, Sendable {
    package var registered: Timestamp
    package var dead: Timestamp?
    package var seen: Timestamp?
    package var wasRemoved = false

    package init(registered: Timestamp, dead: Timestamp? = nil, seen: Timestamp? = nil, wasRemoved: Bool = false) {
        self.registered = registered
        self.dead = dead
        self.seen = seen
        self.wasRemoved = wasRemoved
    }

    /// What a row makes of it.
    ///
    /// - Parameter before: nil where the token is new.
    package init(
        of row: RegistrationBatch.Row, from source: RegistrationSource, before: DeviceLife?, at now: Timestamp
    ) {
        if source == .registration {
            self.init(registered: now, seen: before?.seen)
            return
        }
        let death = row.deadSince.map { min($0, now) }
        // Who does not say a version was not seen with one.
        let seen = row.kept.contains(.version) ? nil : row.seenAt.map { min($0, now) }
        if let before, !before.wasRemoved || before.dead != nil {
            self.init(
                registered: max(before.registered, min(row.registeredAt ?? before.registered, now)), dead: before.dead,
                seen: [before.seen, seen].compactMap(\.self).max())
        } else {
            // It was registered before it died, before it was seen, and otherwise now at the latest.
            self.init(registered: min(row.registeredAt ?? death ?? row.seenAt ?? now, now), seen: seen)
        }
        if let dead, registered > dead { self.dead = nil }
        if dead == nil, let death, death >= registered { dead = death }
    }

    /// Whether a version, of the app or of the system, that records have of a device is passed over, for it told one since.
    ///
    /// - Parameters:
    ///   - row: the records'.
    ///   - new: what it makes of this life.
    ///   - isOlder: whether its version is older than the device's.
    package func outlasts(_ row: RegistrationBatch.Row, _ new: DeviceLife, isOlder: @autoclosure () -> Bool) -> Bool {
        let told = max(registered, seen ?? registered)
        let said = row.seenAt ?? new.registered
        // Where no time was said, an older version is: neither app nor system is downgraded without being registered anew.
        return said <= told && (row.seenAt != nil && said < told || isOlder())
    }
}
