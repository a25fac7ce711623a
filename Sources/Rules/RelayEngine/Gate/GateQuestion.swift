// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The question to a store about one requirement: whether it offers a version that meets it.
package struct GateQuestion: Hashable, Sendable {
    /// The floor, the newest version, or the version that must be left.
    package var version: Version
    /// The version's Android version code, if it is known.
    package var build: Int64?
    /// Whether no user is forced, so that the store need not have shown the version for a while.
    package var isReminder: Bool
    /// All versions of the app that must be left: users who are sent to the store must not come back with one of them.
    package var blocked: [Version]

    package init(_ version: Version, build: Int64? = nil, isReminder: Bool = false, blocked: [Version] = []) {
        self.version = version
        self.build = build
        self.isReminder = isReminder
        self.blocked = blocked
    }

    /// Whether users may be sent to a version that a store offers. A version that must be left is itself in `blocked`, so a
    /// later one is needed.
    package func isMet(by offered: Version) -> Bool { offered >= version && !blocked.contains(offered) }

    /// The version that is waited for: "2.0.0", "a version above 2.1.5".
    var wanted: String { blocked.contains(version) ? "a version above \(version)" : version.text }

    /// The text that follows a version that a store shows: why it is not enough, where that is not obvious.
    func remark(on shown: Version?) -> String { shown.map(blocked.contains) ?? false ? ", which is blocked" : "" }
}
