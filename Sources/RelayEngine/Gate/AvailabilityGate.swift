// SPDX-License-Identifier: Apache-2.0

/// Whether users may be told of a version: their store must offer it to them (DESIGN, rule 8). Pure.
package struct AvailabilityGate: Hashable, Sendable {
    /// What the owner wants of a store before a version is let through.
    package struct Rules: Hashable, Sendable {
        /// The App Store's lookup: from the release until the version is let through; zero: at once. Default a day, as
        /// Siren's: the lookup shows a version 6 to 24 hours before everybody can download it (SEEDS).
        package var hold: Duration
        /// Google Play: the share of users that a staged rollout must have reached, above 0 and up to 1. Default all: who is
        /// in a rollout cannot be seen from outside, and forcing the others locks them out (PROTOCOLS 4.2).
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

    /// Google Play: what becomes of a release that is offered in some countries alone.
    package enum CountryRule: String, Hashable, Sendable, CaseIterable {
        /// It is not let through while a force would reach somebody elsewhere, who cannot obey: the default.
        case hold
        /// It counts as offered everywhere.
        case ignore
    }

    /// About what waits.
    package var question: GateQuestion
    package var rules: Rules

    package init(_ question: GateQuestion, rules: Rules) {
        self.question = question
        self.rules = rules
        if question.isReminder { self.rules.hold = .zero }
    }

    /// - Parameters:
    ///   - evidence: what the store of `kind` was last seen to offer; nil where it has not answered yet.
    ///   - failure: why asking that store fails just now; nil where it does not.
    ///   - isRemembered: whether it said so to an earlier life of the process, and has not been asked since. Nobody is forced by that
    ///     alone: a rollout may have been halted meanwhile. Where it cannot be asked, what it said last counts, as without a restart.
    ///   - audience: where the app's devices are; nil: not known.
    ///   - write: a moment as people read it.
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
