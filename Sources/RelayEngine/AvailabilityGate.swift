// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// What a store was last seen to offer.
package struct StoreEvidence: Hashable, Sendable {
    /// When the store last gave an answer that could be believed.
    package var askedAt: Timestamp
    /// nil where the store does not list the app.
    package var version: Version?
    /// When the store says that it released `version`.
    package var releasedAt: Timestamp?
    /// When the relay first saw `version`: stands for the release where the store does not date it.
    package var firstShownAt: Timestamp

    package init(askedAt: Timestamp, version: Version?, releasedAt: Timestamp?, firstShownAt: Timestamp) {
        self.askedAt = askedAt
        self.version = version
        self.releasedAt = releasedAt
        self.firstShownAt = firstShownAt
    }
}

/// Whether a forced upgrade may be announced: the store must offer a version that meets it, and have done so for a while
/// (DESIGN, rule 8). Pure.
///
/// A store shows a version 6 to 24 hours before the binary can be downloaded everywhere: forcing at once locks users out
/// (SEEDS, "Siren").
package struct AvailabilityGate: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        /// The store does not offer it yet.
        case notOffered
        /// The store offers it, since `since`; the wait ends at `until`.
        case held(since: Timestamp, until: Timestamp)
        case open
    }

    package var required: Version
    /// From the release until the announcement; zero: at once.
    package var hold: Duration

    package init(required: Version, hold: Duration) {
        self.required = required
        self.hold = hold
    }

    /// - Parameter evidence: nil where the store has not answered yet.
    package func verdict(_ evidence: StoreEvidence?, at now: Timestamp) -> Verdict {
        guard let evidence, let version = evidence.version, version >= required else { return .notOffered }
        let since = evidence.releasedAt ?? evidence.firstShownAt
        let until = since + hold
        return hold == .zero || until <= now ? .open : .held(since: since, until: until)
    }

    /// Why the campaign waits, for its status.
    ///
    /// - Parameter write: a moment as people read it.
    package func reason(_ evidence: StoreEvidence?, at now: Timestamp, write: (Timestamp) -> String) -> String {
        switch verdict(evidence, at: now) {
        case .notOffered:
            let wait = "waiting until the App Store offers \(required)"
            guard let evidence else { return "\(wait); it has not answered yet" }
            return
                "\(wait); it shows \(evidence.version?.text ?? "no version"), last asked at \(write(evidence.askedAt))"
        case .held(let since, let until):
            let version = evidence?.version?.text ?? required.text
            let verb = evidence?.releasedAt == nil ? "first seen" : "released"
            return "\(version) is in the App Store, \(verb) at \(write(since)); the wait ends at \(write(until))"
        case .open:
            return "the App Store offers \(evidence?.version?.text ?? required.text): about to begin"
        }
    }
}
