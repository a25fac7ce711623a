// SPDX-License-Identifier: Apache-2.0

/// Where LaunchGate, which compares lexically, would judge seen versions differently from their numbers.
public struct LockOutReport: Hashable, Sendable {
    /// Meet the requirement and would be taken for too old: their users could not go on and have nothing to upgrade to.
    public var lockedOut: [SeenVersion] = []
    /// Do not meet the requirement and would pass.
    public var letPass: [SeenVersion] = []

    /// Compares what LaunchGate makes of `published` with what `required` means.
    ///
    /// - Parameter published: the text in `minimumVersion`, which may be spelled otherwise than `required`.
    public init(required: Version, published: String, seen: SeenVersions) {
        for seen in seen.versions {
            let isBelow = LaunchGateClient.launchGate.isBelow(seen.version.text, published) ?? false
            if isBelow, seen.version >= required { lockedOut.append(seen) }
            if !isBelow, seen.version < required { letPass.append(seen) }
        }
    }
}
