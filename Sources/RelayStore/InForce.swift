// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// What every channel says of an app: the part of its version record that a gate has let through (DESIGN, rule 8). The login
/// check, the launch document, the pushes and what is asked by proxies all go by this, never by what was merely asked for.
package struct InForce: Hashable, Sendable {
    /// The highest requirement whose gate has opened.
    package var required: Version?
    /// The newest version that users are told of; never older than `required`.
    package var latest: Version?
    package var builds = BuildNumbers()
    /// Of the bump that raised `required`; nil: the configuration's.
    package var downloadURL: String?
    package var message: LocalizedText?
    /// Of the bump that raised `latest`, where that is newer than `required`; nil: the configuration's.
    package var latestURL: String?
    package var latestMessage: LocalizedText?
    /// Since when `required` is in force.
    package var since: Timestamp?
    /// Who let it through: the store that was asked, `InForce.ungated`, an operator's name, …
    package var openedBy: String?
    /// What that one said.
    package var reason: String?

    package init() {}

    /// Who let a requirement through for which no store is asked.
    package static let ungated = "noGate"
}

/// One change of what is in force, with who made it.
package struct InForceChange: Hashable, Sendable {
    package var inForce: InForce
    package var at: Timestamp
    /// A store's name, `InForce.ungated`, or a person.
    package var actor: String
    /// "gate", "release", "bump", "withdraw", "migration".
    package var source: String

    package init(inForce: InForce, at: Timestamp, actor: String, source: String) {
        self.inForce = inForce
        self.at = at
        self.actor = actor
        self.source = source
    }
}
