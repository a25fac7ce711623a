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
    package var message: String?
    /// Of the bump that raised `latest`, where that is newer than `required`; nil: the configuration's.
    package var latestURL: String?
    package var latestMessage: String?
    /// Since when `required` is in force.
    package var since: Timestamp?
    /// Who let it through: the store that was asked, `InForce.ungated`, an operator's name, …
    package var openedBy: String?
    /// What that one said.
    package var reason: String?
    /// A requirement that holds for some users alone.
    package var canary: Canary?

    package struct Canary: Hashable, Sendable {
        package var required: Version
        package var build: Int64?
        package var downloadURL: String?
        package var message: String?
        package var telephones: [String]
        /// Who let it through, as `InForce.openedBy`.
        package var openedBy: String?

        package init(
            required: Version, build: Int64?, downloadURL: String?, message: String?, telephones: [String],
            openedBy: String? = nil
        ) {
            self.required = required
            self.build = build
            self.downloadURL = downloadURL
            self.message = message
            self.telephones = telephones
            self.openedBy = openedBy
        }
    }

    package init() {}

    /// Who let a requirement through for which no store is asked.
    package static let ungated = "noGate"

    /// Puts what `record` requires in force, for its telephones alone where it names any, or for everybody.
    package mutating func require(_ record: VersionRecord, by actor: String, reason: String?, at now: Timestamp) {
        guard let required = record.required else { return }
        if let telephones = record.telephones {
            canary = Canary(
                required: required, build: record.builds.required, downloadURL: record.downloadURL,
                message: record.message, telephones: telephones, openedBy: actor)
            return
        }
        if self.required != required { since = now }
        self.required = required
        builds.required = record.builds.required ?? builds.required
        (downloadURL, message, openedBy, self.reason) = (record.downloadURL, record.message, actor, reason)
        if latest.map({ $0 < required }) ?? true { (latest, builds.latest) = (required, record.builds.required) }
        if latest == required { (latestURL, latestMessage) = (record.downloadURL, record.message) }
        if let canary, canary.required <= required { self.canary = nil }
    }

    /// What was in force for the canary's telephones alone is so for everybody. Who let it through stays who it was: whoever
    /// releases a canary does not overrule the store.
    package mutating func releaseCanary(of app: AppKey, by actor: String, reason: String?, at now: Timestamp) {
        guard let canary else { return }
        var record = VersionRecord(app: app, updatedAt: now)
        (record.required, record.builds.required) = (canary.required, canary.build)
        (record.downloadURL, record.message) = (canary.downloadURL, canary.message)
        require(record, by: canary.openedBy ?? actor, reason: reason, at: now)
    }

    /// Lets users be told of the latest version of `record`.
    package mutating func announce(_ record: VersionRecord) {
        (latest, builds.latest) = (record.latest, record.builds.latest)
        (latestURL, latestMessage) = (record.downloadURL, record.message)
    }

    /// Takes over texts and version codes that were sent for versions which are in force.
    ///
    /// - Parameters:
    ///   - bump: what was sent.
    ///   - record: what was asked for before it came, and what is now.
    package mutating func reword(_ bump: VersionBump, from before: VersionRecord?, to record: VersionRecord) {
        guard record.required == required, record.latest == latest else { return }
        builds = record.builds
        // What a rise brought is there by `require` and `announce`.
        if before?.required == required {
            if bump.isComplete {
                (downloadURL, message) = (bump.downloadURL, bump.message)
            } else if before?.latest == latest {
                (downloadURL, message) = (bump.downloadURL ?? downloadURL, bump.message ?? message)
            }
        }
        if before?.required == required, before?.latest == latest {
            if bump.isComplete {
                (latestURL, latestMessage) = (bump.downloadURL, bump.message)
            } else {
                (latestURL, latestMessage) = (bump.downloadURL ?? latestURL, bump.message ?? latestMessage)
            }
        }
    }

    /// Whether a requirement is in force for those that `record` names, or for everybody where it names nobody.
    package func holds(_ required: Version, onlyFor telephones: [String]?) -> Bool {
        if let own = self.required, own >= required { return true }
        guard telephones != nil, let canary else { return false }
        return canary.required >= required
    }
}

extension VersionRecord {
    /// Whether the latest version is the canary's requirement: nobody else is told of it before the release.
    package var isLatestOfCanary: Bool { telephones != nil && latest == required }
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

/// What was asked for and is not in force yet, the highest first.
package struct WaitingVersions: Hashable, Sendable {
    /// The records that raised `required`, as they were.
    package var required: [VersionRecord]
    /// The records that raised `latest`.
    package var latest: [VersionRecord]

    package init(required: [VersionRecord] = [], latest: [VersionRecord] = []) {
        self.required = required
        self.latest = latest
    }

    /// A bump that brings no version code leaves the one of the version before, which says nothing of the new one.
    ///
    /// - Parameter older: the record before those that were added last.
    package mutating func forgetBuilds(asOf older: VersionRecord) {
        if let last = required.indices.last, older.required != required[last].required,
            older.builds.required == required[last].builds.required
        {
            required[last].builds.required = nil
        }
        if let last = latest.indices.last, older.latest != latest[last].latest,
            older.builds.latest == latest[last].builds.latest
        {
            latest[last].builds.latest = nil
        }
    }
}

/// Keeps what is in force beside what was asked for.
package protocol InForceStore: Sendable {
    /// What of an app waits for its gate. A requirement whose campaign was cancelled does not wait: nothing is forced then.
    func waitingVersions(of app: AppKey) throws -> WaitingVersions

    /// Puts a requirement in force on every channel, in one transaction: its waiting campaign begins, and what it takes the
    /// place of is superseded. What an operator has paused stays paused.
    ///
    /// - Parameter actor: who lets it through: a store's name or a person's.
    /// - Returns: false where nothing changed: it is in force, was cancelled, or is not asked for (any more).
    func putInForce(
        _ required: Version, of app: AppKey, by actor: String, from source: String, reason: String?, at now: Timestamp
    ) throws -> Bool

    /// Puts the canary's requirement in force for everybody, in one transaction: its campaign goes on to the rest of its audience,
    /// and older ones are superseded.
    ///
    /// - Parameter required: of this requirement alone; nil: of whichever the canary has.
    /// - Returns: the requirement; nil where there is no such canary.
    func releaseCanary(
        _ required: Version?, of app: AppKey, by actor: String, from source: String, reason: String?, at now: Timestamp
    ) throws -> Version?

    /// Lets users be told of a newer version; false where it is not newer than the one that they are told of.
    func announce(_ latest: Version, of app: AppKey, by actor: String, reason: String?, at now: Timestamp) throws
        -> Bool

    /// Takes a requirement out of force on every channel, for a canary or for everybody, because its store has stopped to
    /// offer it: what was in force before is so again. It waits for its gate as before, and so does its campaign if it runs:
    /// why else that may stand still is not touched.
    ///
    /// - Returns: false where another one is in force, or where a person put it there.
    func takeOutOfForce(
        _ required: Version, of app: AppKey, by actor: String, reason: String, at now: Timestamp
    ) throws -> Bool

    /// Newest first.
    func inForceHistory(of app: AppKey, limit: Int) throws -> [InForceChange]
}
