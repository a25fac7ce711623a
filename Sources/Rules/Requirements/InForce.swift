// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// The part of an app's requirements that a gate has let through (DESIGN, rule 8). The login check, the launch document,
/// the pushes and the answers to proxies all go by this, never by what was merely asked for.
package struct InForce: Hashable, Sendable {
    /// The highest requirement whose gate has opened.
    package let floor: Requirement?
    /// The newest version that is announced; never older than `floor`.
    package let newest: Requirement?

    /// - Parameter systems: the systems that devices are known to have. A channel that does not know a user's own
    ///   system leaves out each version that does not run on all of them.
    package init(_ requirements: Requirements = Requirements(), systems: [Version] = []) {
        let rules = requirements.rules
        floor = requirements.inForce(on: systems, by: rules)
        newest = requirements.announced(on: systems, by: rules)
    }

    package var required: Version? { floor?.version }
    package var latest: Version? { newest?.version }

    /// Whether every channel reports the same for both, whatever else has changed in the rows.
    package func saysTheSame(as other: InForce) -> Bool {
        Self.isSame(floor, other.floor) && floor?.inForceAt == other.floor?.inForceAt
            && floor?.inForceBy == other.floor?.inForceBy && floor?.reason == other.floor?.reason
            && Self.isSame(newest, other.newest)
    }

    private static func isSame(_ row: Requirement?, _ other: Requirement?) -> Bool {
        row?.version == other?.version && row?.build == other?.build && row?.downloadURL == other?.downloadURL
            && row?.words(MomentWords()) == other?.words(MomentWords())
    }

    /// The value of `inForceBy` for a requirement that needed no store's offer.
    package static let ungated = "noGate"
}

/// One change of the requirements in force, with its author.
package struct InForceChange: Hashable, Sendable {
    package var inForce: InForce
    package var at: Timestamp
    /// A store's name, `InForce.ungated`, or a person.
    package var actor: String
    /// The way of the change, as its `Signature` has it: "gate", "release", "withdraw", "api", …
    package var source: String

    package init(inForce: InForce, at: Timestamp, actor: String, source: String) {
        self.inForce = inForce
        self.at = at
        self.actor = actor
        self.source = source
    }
}

// MARK: In the API's document

extension InForce {
    package static let requiredNote =
        "The requirement that all channels announce: the highest whose gate has opened. It stays so while a higher one waits."
    package static let byNote =
        "The gate that let it through: \"appStore\", \"appStoreConnect\", \"googlePlay\", \"noGate\" where no store is asked, or a person."
    package static let reasonNote = "The reason that the gate gave."
}

extension InForceChange {
    package static let sourceNote =
        "The way of the change: \"gate\", \"release\", \"bump\", \"database\", \"migration\"."
}
