// SPDX-License-Identifier: Apache-2.0

/// Decides whether users may be notified of a version: their store must offer it to them (DESIGN, rule 8). Pure.
package struct AvailabilityGate: Hashable, Sendable {
    /// The owner's conditions for letting a version through.
    package struct Rules: Hashable, Sendable {
        /// The App Store's lookup: the time from the release until the version is let through; zero: at once. Default a day,
        /// as Siren's: the lookup shows a version 6 to 24 hours before all users can download it (SEEDS).
        package var hold: Duration
        /// Google Play: the share of users that a staged rollout must have reached, above 0 and up to 1. Default all: the
        /// users in a rollout cannot be seen from outside, and forcing the others locks them out (PROTOCOLS 4.2).
        package var minimumFraction: Double
        package var countries: CountryRule

        package init(
            hold: Duration = .seconds(24 * 3600), minimumFraction: Double = 1, countries: CountryRule = .hold
        ) {
            self.hold = hold
            self.minimumFraction = minimumFraction
            self.countries = countries
        }
    }

    /// Google Play: the rule for a release that is offered only in some countries.
    package enum CountryRule: String, Hashable, Sendable, CaseIterable {
        /// It is not let through while users elsewhere would be forced to a version that they cannot get: the default.
        case hold
        /// It counts as offered everywhere.
        case ignore
    }

    /// The question about the requirement that waits.
    package var question: GateQuestion
    package var rules: Rules

    package init(_ question: GateQuestion, rules: Rules) {
        self.question = question
        self.rules = rules
        if question.isReminder { self.rules.hold = .zero }
    }

    /// - Parameters:
    ///   - evidence: the store of `kind` as it was last seen; nil where it has not answered yet.
    ///   - failure: why asking that store fails now; nil where it does not.
    ///   - isRemembered: whether the evidence is from before a restart, and the store has not been asked since. Such evidence
    ///     alone forces no user: a rollout may have been halted since. No once asking has failed: then the last answer
    ///     counts, as without a restart.
    ///   - audience: where the app's devices are; nil: not known.
    ///   - write: formats a moment for people.
    package func verdict(
        of kind: StoreKind, _ evidence: StoreEvidence?, failure: String? = nil, isRemembered: Bool = false,
        audience: AudienceCountries? = nil, at now: Timestamp, write: (Timestamp) -> String
    ) -> GateVerdict {
        let verdict = verdict(of: kind, evidence, failure: failure, audience, at: now, write: write)
        guard isRemembered, verdict.isOpen, let evidence else { return verdict }
        return GateVerdict(
            .closed,
            "waiting until \(kind.title) answers; before the relay started: \(verdict.reason), last asked at "
                + write(evidence.askedAt))
    }

    /// The offer to one user. Answers from before a restart count: the offer has their time, and forces no user.
    ///
    /// - Parameters:
    ///   - evidence: the store of `kind` as it was last seen; nil where it has not answered yet.
    ///   - failure: why asking that store fails now; nil where it does not.
    ///   - audience: where the user is.
    ///   - write: formats a moment for people.
    package func offer(
        of kind: StoreKind, _ evidence: StoreEvidence?, failure: String? = nil, to audience: AudienceCountries,
        at now: Timestamp, write: (Timestamp) -> String
    ) -> StoreOffer {
        let answer: StoreOffer.Answer =
            switch evidence {
            case nil: .unknown
            case .appStore(let lookup): lookup.offer(question, hold: rules.hold, at: now)
            case .appStoreConnect(let releases): releases.offer(question)
            case .googlePlay(let track): track.offer(question, to: audience)
            }
        let why = verdict(of: kind, evidence, failure: failure, audience, at: now, write: write).reason
        return StoreOffer(answer, why, askedAt: evidence?.askedAt)
    }

    private func verdict(
        of kind: StoreKind, _ evidence: StoreEvidence?, failure: String?, _ audience: AudienceCountries?,
        at now: Timestamp,
        write: (Timestamp) -> String
    ) -> GateVerdict {
        switch evidence {
        case nil:
            GateVerdict(
                .closed,
                "waiting until \(kind.storeName) offers \(question.wanted); "
                    + (failure.map { "asking \(kind.title) fails: \($0)" } ?? "\(kind.title) has not answered yet"))
        case .appStore(let lookup): lookup.verdict(question, hold: rules.hold, at: now, write: write)
        case .appStoreConnect(let releases): releases.verdict(question, write: write)
        case .googlePlay(let track):
            track.verdict(question, rules: rules, audience: audience, write: write)
        }
    }
}
