// SPDX-License-Identifier: Apache-2.0

/// One requirement of an app, and the users whom it is for: all that a verdict depends on. The parts that depend on time (a store,
/// a stage) have been decided before, and are in `forces` and `reach`.
package struct UpgradeRule: Hashable, Sendable {
    /// The reach of a rule for everybody, in ten-thousandths of the users.
    package static let everybody = UserDraw.parts

    /// The requirement's id.
    package let id: Int64
    package let version: Version
    /// Whether users whom it concerns must upgrade; false: they are notified of it, and may go on.
    package let forces: Bool
    /// Whether exactly this version must be left; false: it is a floor, or a newest version, and concerns all users below it.
    package let isBlock: Bool
    /// The share of the users that the rule is for, in ten-thousandths. `UserDraw` decides which users are in it.
    package let reach: Int
    /// The oldest OS version that the version runs on; for a block, the oldest that any version above it runs on. "17.0", for
    /// example, or on Android the API level; nil: any.
    package let minimumOS: Version?
    /// The telephones that the rule names; it is for these users whatever its reach, once they are proven.
    private let canary: Set<WireText>

    package init(
        id: Int64 = 0, _ version: Version, forces: Bool = true, isBlock: Bool = false, reach: Int = everybody,
        canary: [String] = [], minimumOS: Version? = nil
    ) {
        self.id = id
        self.version = version
        self.forces = forces
        self.isBlock = isBlock
        self.reach = reach
        self.minimumOS = minimumOS
        self.canary = reach == Self.everybody ? [] : Set(canary.map { WireText($0) })
    }

    package var isForEverybody: Bool { reach == Self.everybody }

    package var target: UpgradeTarget { UpgradeTarget(version, isBlock: isBlock) }

    /// Whether the rule names users; no answer may reveal who they are.
    package var namesUsers: Bool { !canary.isEmpty }

    /// Whether the rule is for this user.
    package func reaches(_ user: User) -> Bool {
        if isForEverybody { return true }
        guard let telephone = user.telephone else { return false }
        return user.isProven && canary.contains(WireText(telephone))
            || UserDraw(requirement: id).part(of: telephone.utf8) < reach
    }

    /// Whether the version runs on this OS version; true where that is unknown. A force that the phone cannot obey would lock its user
    /// out for good.
    package func runs(on system: Version?) -> Bool {
        guard let minimumOS, let system else { return true }
        return system >= minimumOS
    }

    /// The user who asks, or is asked about.
    package struct User: Hashable, Sendable {
        /// The logged-in user's telephone; nil where the user is unknown, as for a proxy or a launch document.
        package var telephone: String?
        /// Whether the telephone is proven to be the asking user's. Only then is it compared with the telephones that a rule
        /// names. The draw needs no proof, because its result does not reveal who is registered.
        package var isProven: Bool
        /// The phone's OS version, on Android its API level; nil: unknown.
        package var system: Version?

        package init(_ telephone: String?, isProven: Bool = false, system: Version? = nil) {
            self.telephone = telephone
            self.isProven = isProven
            self.system = system
        }

        /// A user about whom nothing is known.
        package static let nobody = User(nil)
    }
}
