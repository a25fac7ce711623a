// SPDX-License-Identifier: Apache-2.0

/// What is wanted of a phone: a version to come up to, or one to leave.
package struct UpgradeTarget: Hashable, Sendable {
    package let version: Version
    package let isBlock: Bool

    package init(_ version: Version, isBlock: Bool) {
        self.version = version
        self.isBlock = isBlock
    }

    /// The floor; nil where a version is to be left.
    package var required: Version? { isBlock ? nil : version }
    /// The version that is to be left; nil where there is a floor.
    package var blocked: Version? { isBlock ? version : nil }

    /// Whether it speaks of who runs this version; nil: not known, which may be below a floor, and is not known to be what is blocked.
    package func concerns(_ installed: Version?) -> Bool {
        guard let installed else { return !isBlock }
        return isBlock ? installed == version : installed < version
    }

    /// The order in which a verdict looks at targets: the highest version first, of one version what blocks it.
    package static func isJudgedBefore(_ left: UpgradeTarget, _ right: UpgradeTarget) -> Bool {
        left.version == right.version ? left.isBlock && !right.isBlock : right.version < left.version
    }

    /// Whether a device that was seen with `old`, and is now with `new`, has obeyed in between.
    ///
    /// - Parameter old: nil: its version was not known.
    package func isReached(by new: Version, from old: Version?) -> Bool {
        if isBlock { return new > version && (old.map { $0 <= version } ?? true) }
        return new >= version && (old.map { $0 < version } ?? true)
    }
}
