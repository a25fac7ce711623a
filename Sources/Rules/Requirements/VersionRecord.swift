// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// The versions that were asked for, for one app and platform, and those in force: a view of its requirements, which is
/// not stored itself.
package struct VersionRecord: Hashable, Sendable {
    package let app: AppKey
    package let requirements: Requirements

    package init(_ app: AppKey, _ requirements: Requirements = Requirements()) {
        self.app = app
        self.requirements = requirements
    }

    package var required: Version? { requirements.required?.version }
    package var latest: Version? { requirements.latest?.version }
    /// Whether nothing was ever asked for.
    package var isEmpty: Bool { requirements.rows.isEmpty }
    package var builds: BuildNumbers {
        BuildNumbers(latest: requirements.latest?.build, required: requirements.required?.build)
    }
    package var updatedAt: Timestamp? { requirements.rows.map(\.changed.at).max() }
    package var inForce: InForce { InForce(requirements) }

    /// The row whose texts are shown: the required or the latest one, whichever was asked for last.
    package var texts: Requirement? {
        let ids = [requirements.required?.id, requirements.latest?.id]
        return requirements.rows.last { ids.contains($0.id) }
    }

    /// Its message, with the moment where the text has a place for it.
    package func words(_ moments: MomentWords) -> LocalizedText? {
        texts.flatMap { requirements.words(of: $0, moments) }
    }

    /// Whether both ask for the same. The author of a later change does not count, nor how far a version is in force.
    package func asksTheSame(as other: VersionRecord) -> Bool {
        let (mine, theirs) = (requirements.required, other.requirements.required)
        return latest == other.latest && requirements.latest?.build == other.requirements.latest?.build
            && mine?.demands == theirs?.demands && texts?.downloadURL == other.texts?.downloadURL
            && texts?.message == other.texts?.message && requirements.blocked == other.requirements.blocked
    }
}

/// One entry of the history: the record as it was after a change, with the change's author and way.
package struct VersionChange: Hashable, Sendable {
    package var record: VersionRecord
    /// The actor: a token's name, a user of the control socket ("alice (uid 1000)"), a webhook's source; "unknown" when
    /// another program wrote to the database.
    package var actor: String
    /// The way: "webhook", "api", "cli", "database", …
    package var source: String

    package init(record: VersionRecord, actor: String, source: String) {
        self.record = record
        self.actor = actor
        self.source = source
    }

    /// The source of a change that took a requirement back: the only one that may let a version fall.
    package static let withdrawal = "withdraw"
}
