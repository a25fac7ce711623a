// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides how a login changes a device: it reports a version without registering the device. Pure.
package struct LoginRule: Sendable {
    /// The time of the login. A login may be stored later than it happened.
    package let at: Timestamp
    /// The last time at which the device reported a version, by registering or at login.
    package let lastReport: Timestamp
    /// Fields whose value at the login differs from the store's: `.version`, `.osVersion`.
    package let differing: DeviceFieldSet

    /// - Parameters:
    ///   - at: the time of the login; nil: `now`. A later time counts as `now`.
    package init(at: Timestamp?, now: Timestamp, lastReport: Timestamp, differing: DeviceFieldSet) {
        self.at = min(at ?? now, now)
        self.lastReport = lastReport
        self.differing = differing
    }

    package struct Verdict: Hashable, Sendable {
        /// Fields that take the login's value.
        package var writes: DeviceFieldSet
        /// Whether the device was seen at `at`.
        package var isSeen: Bool
    }

    /// Whether there is anything to write. Most logins bring nothing new, and those do not wait for the store's writer.
    package var isNews: Bool { !differing.isEmpty || isLongAgo }

    /// - Parameter isOlder: whether the login's value of `.version` or `.osVersion` is a version below the device's.
    package func verdict(isOlder: (DeviceField) -> Bool) -> Verdict {
        // The device has reported since this login: an app is not downgraded without a registration.
        if isLate, isOlder(.version) { return Verdict(writes: [], isSeen: false) }
        var writes = differing
        if isLate, writes.contains(.osVersion), isOlder(.osVersion) { writes.remove(.osVersion) }
        return Verdict(writes: writes, isSeen: !writes.isEmpty || isLongAgo)
    }

    private var isLate: Bool { at <= lastReport }

    /// Whether the last report is so old that a login with the same values is stored too. So the time last seen stays recent
    /// enough, although most logins write nothing.
    private var isLongAgo: Bool { at - lastReport >= RetirementRules.seenEvery }
}
