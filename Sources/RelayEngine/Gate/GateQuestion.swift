// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// What a store is asked about one requirement: whether it offers something that meets it.
package struct GateQuestion: Hashable, Sendable {
    /// The floor, the newest version, or the one that is to be left.
    package var version: Version
    /// Android's version code of it, where it is known.
    package var build: Int64?
    /// Nobody is forced: what the store shows need not have been there for a while.
    package var isReminder: Bool
    /// All versions of the app that must be left: whoever is sent to the store must not come back with one of them.
    package var blocked: [Version]

    package init(_ version: Version, build: Int64? = nil, isReminder: Bool = false, blocked: [Version] = []) {
        self.version = version
        self.build = build
        self.isReminder = isReminder
        self.blocked = blocked
    }

    /// Whether a version that a store offers is one that users may be sent to. What is to be left is among `blocked`, so that takes one above
    /// it.
    package func isMet(by offered: Version) -> Bool { offered >= version && !blocked.contains(offered) }

    /// What is waited for: "2.0.0", "a version above 2.1.5".
    var wanted: String { blocked.contains(version) ? "a version above \(version)" : version.text }

    /// After a version that a store shows: why it is not enough, where that is not plain.
    func remark(on shown: Version?) -> String { shown.map(blocked.contains) ?? false ? ", which is blocked" : "" }
}
