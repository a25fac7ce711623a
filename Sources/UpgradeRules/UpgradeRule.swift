// SPDX-License-Identifier: Apache-2.0

/// What one requirement of an app says, and to whom: all that a verdict hangs on. What hangs on time (a store, a stage) has been
/// decided before, and is in `forces` and `reach`.
package struct UpgradeRule: Hashable, Sendable {
    /// The reach of what is for everybody, in ten-thousandths of the users.
    package static let everybody = UserDraw.parts

    /// Of the requirement.
    package let id: Int64
    package let version: Version
    /// Whether whoever it concerns must upgrade; false: users are told of it, and may go on.
    package let forces: Bool
    /// Whether exactly this version must be left; false: it is a floor, or a newest version, and concerns whoever is below.
    package let isBlock: Bool
    /// For how many of the users, drawn by the requirement.
    package let reach: Int
    /// The oldest system that the version runs on, or of a block what there is to leave it for (`Version` of "17.0"; on Android the API
    /// level); nil: any.
    package let minimumOS: Version?
    /// Those whom it names, whatever its reach.
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

    /// Whether it is for some whom it names: who they are is for nobody to find out.
    package var namesUsers: Bool { !canary.isEmpty }

    /// Whether it is for this user.
    package func reaches(_ user: User) -> Bool {
        if isForEverybody { return true }
        guard let telephone = user.telephone else { return false }
        return user.isProven && canary.contains(WireText(telephone))
            || UserDraw(requirement: id).part(of: telephone.utf8) < reach
    }

    /// Whether the version runs on a system; nil: not known, and then it may. A force that the phone cannot obey would lock its user out
    /// for good.
    package func runs(on system: Version?) -> Bool {
        guard let minimumOS, let system else { return true }
        return system >= minimumOS
    }

    /// Who asks, or is asked about.
    package struct User: Hashable, Sendable {
        /// The logged-in user's; nil where nobody is known: a proxy, a launch document.
        package var telephone: String?
        /// Whether it is known to be who asks'. Only then is it looked for among those whom a rule names; which part of the users it
        /// is drawn into tells nothing of who is registered.
        package var isProven: Bool
        /// The version of the phone's system, on Android its API level; nil: not known.
        package var system: Version?

        package init(_ telephone: String?, isProven: Bool = false, system: Version? = nil) {
            self.telephone = telephone
            self.isProven = isProven
            self.system = system
        }

        /// Somebody of whom nothing is known.
        package static let nobody = User(nil)
    }
}
