// SPDX-License-Identifier: Apache-2.0

/// The upgrade that a phone is asked for: a version to come up to, or one to leave.
package struct UpgradeTarget: Hashable, Sendable {
    package let version: Version
    package let isBlock: Bool

    package init(_ version: Version, isBlock: Bool) {
        self.version = version
        self.isBlock = isBlock
    }

    /// The floor; nil where a version must be left.
    package var required: Version? { isBlock ? nil : version }
    /// The version that must be left; nil where there is a floor.
    package var blocked: Version? { isBlock ? version : nil }

    /// Whether it concerns a user of this version; nil: an unknown version, which may be below a floor but does not count as blocked.
    package func concerns(_ installed: Version?) -> Bool {
        guard let installed else { return !isBlock }
        return isBlock ? installed == version : installed < version
    }

    /// The order in which a verdict looks at targets: the highest version first, and a block before a floor of the same version.
    package static func isJudgedBefore(_ left: UpgradeTarget, _ right: UpgradeTarget) -> Bool {
        left.version == right.version ? left.isBlock && !right.isBlock : right.version < left.version
    }

    /// Whether this change of a device's version can reach any target: only a rise can, or a first known version.
    package static func mayBeReached(by new: Version, from old: Version?) -> Bool { old.map { $0 < new } ?? true }

    /// Whether a device that was seen with `old`, and now with `new`, has met the target in between.
    ///
    /// - Parameter old: nil: its version was unknown.
    package func isReached(by new: Version, from old: Version?) -> Bool {
        if isBlock { return new > version && (old.map { $0 <= version } ?? true) }
        return new >= version && (old.map { $0 < version } ?? true)
    }
}
