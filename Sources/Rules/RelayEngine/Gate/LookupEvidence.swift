// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The App Store's public lookup of an app (PROTOCOLS 4).
package struct LookupEvidence: Hashable, Sendable {
    /// When the store last gave a credible answer.
    package var askedAt: Timestamp
    /// nil where the store does not list the app.
    package var version: Version?
    /// The store's date for the release of `version`.
    package var releasedAt: Timestamp?
    /// When the relay first saw `version`: stands for the release where the store has no date.
    package var firstShownAt: Timestamp

    package init(askedAt: Timestamp, version: Version?, releasedAt: Timestamp?, firstShownAt: Timestamp) {
        self.askedAt = askedAt
        self.version = version
        self.releasedAt = releasedAt
        self.firstShownAt = firstShownAt
    }

    /// The offer to one user. A version that was released a moment ago is shown before every user can get it.
    func offer(_ question: GateQuestion, hold: Duration, at now: Timestamp) -> StoreOffer.Answer {
        guard let version else { return .unknown }
        guard question.isMet(by: version) else { return .notYet }
        return (releasedAt ?? firstShownAt) + hold > now ? .unknown : .yes
    }

    func verdict(
        _ question: GateQuestion, hold: Duration, at now: Timestamp, write: (Timestamp) -> String
    ) -> GateVerdict {
        guard let version, question.isMet(by: version) else {
            return GateVerdict(
                .closed,
                "waiting until the App Store offers \(question.wanted); it shows \(version?.text ?? "no version")"
                    + "\(question.remark(on: version)), last asked at \(write(askedAt))")
        }
        let until = (releasedAt ?? firstShownAt) + hold
        guard hold > .zero, until > now else { return GateVerdict(.open, "the App Store offers \(version)") }
        let verb = releasedAt == nil ? "first seen" : "released"
        return GateVerdict(
            .held(until: until),
            "\(version) is in the App Store, \(verb) at \(write(releasedAt ?? firstShownAt)); "
                + "the wait ends at \(write(until))")
    }
}
