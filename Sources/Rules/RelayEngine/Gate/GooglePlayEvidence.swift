// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The releases on a track of Google Play (PROTOCOLS 4.2).
package struct GooglePlayEvidence: Hashable, Sendable {
    package struct Release: Hashable, Sendable {
        /// The highest of its version codes.
        package var build: Int64
        /// The version in its name, if there is one.
        package var version: Version?
        package var status: Status
        /// The share of users that it has reached, from 0 to 1; 1 where it is completed.
        package var fraction: Double
        /// `releaseLifecycleState` without its prefix. The status of a release in review is inProgress or completed already
        /// (google-api-python-client#2530): only a PUBLISHED one is offered.
        package var lifecycle: String
        /// The only countries where it is offered, `fraction` being that of the users there (`countryTargeting`); nil:
        /// everywhere. Ascending; empty where only the restriction is known.
        package var countries: [String]?
        /// `inAppUpdatePriority`, from 0 to 5; nil: not known.
        package var priority: Int?
        /// The oldest system that it runs on, taken from its name; on Android an API level.
        package var minimumOS: Version?

        package init(
            build: Int64, version: Version?, status: Status, fraction: Double, lifecycle: String = Self.published,
            countries: [String]? = nil, priority: Int? = nil, minimumOS: Version? = nil
        ) {
            self.build = build
            self.version = version
            self.status = status
            self.fraction = fraction
            self.lifecycle = lifecycle
            self.countries = countries
            self.priority = priority
            self.minimumOS = minimumOS
        }

        fileprivate func offer(to audience: AudienceCountries) -> StoreOffer.Answer {
            if status == .halted || status == .draft { return .notYet }
            let isThere = countries.map { audience.others(than: $0) == nil } ?? true
            if !isThere, !audience.hasUnknown, countries?.isEmpty == false { return .notYet }
            return isThere && fraction >= 1 ? .yes : .unknown
        }

        /// Whether it leaves countries out.
        package var isForSomeCountries: Bool { countries != nil }
        package var isPublished: Bool { lifecycle == Self.published }
        package static let published = "PUBLISHED"
    }

    /// The status as Google spells it.
    package enum Status: String, Hashable, Sendable {
        case draft, inProgress, halted, completed
    }

    /// The values of `inAppUpdatePriority` (Google, `TrackRelease`).
    package static let priorities: ClosedRange<Int64> = 0...5
    /// The `inAppUpdatePriority` from which apps ask for an update at once, as in Google's guide (Support in-app updates).
    package static let urgentPriority = 4

    package var askedAt: Timestamp
    package var track: String
    package var releases: [Release]

    package init(askedAt: Timestamp, track: String, releases: [Release]) {
        self.askedAt = askedAt
        self.track = track
        self.releases = releases
    }

    /// The newest release that is offered to all users.
    package var offeredToAll: Release? {
        releases.filter { $0.isPublished && $0.status == .completed && !$0.isForSomeCountries }.max {
            $0.build < $1.build
        }
    }

    /// The releases that meet a requirement.
    ///
    /// If the requirement has no version code, the names of releases are compared. Its code may be that of an earlier
    /// requirement, if the last bump brought none: so a name that holds an older version counts against a release, whatever
    /// its code.
    private func meeting(_ question: GateQuestion) -> [Release] {
        releases.filter { release in
            guard let build = question.build else { return release.version.map(question.isMet) ?? false }
            return release.build >= build && release.version.map(question.isMet) ?? true
        }
    }

    /// Whether a requirement depends on how far a rollout is, which Google does not report without an edit.
    package func hangsOnRollout(_ question: GateQuestion) -> Bool {
        let offered = meeting(question).filter(\.isPublished)
        return !offered.isEmpty && !offered.contains { $0.status == .completed && !$0.isForSomeCountries }
    }

    /// Whether some users, or all, get a version that meets the requirement from the store.
    package func isPublished(_ question: GateQuestion) -> Bool {
        meeting(question).contains(where: \.isPublished)
    }

    /// Whether a published release leaves countries out.
    package var hasCountries: Bool { releases.contains { $0.isPublished && $0.isForSomeCountries } }

    /// The offer to one user.
    ///
    /// - Parameter audience: where the user is.
    func offer(_ question: GateQuestion, to audience: AudienceCountries) -> StoreOffer.Answer {
        let answers = meeting(question).filter(\.isPublished).map { $0.offer(to: audience) }
        if answers.contains(.yes) { return .yes }
        // A release whose name holds no version may be the one.
        let mayBeAnother = question.build == nil && releases.contains { $0.isPublished && $0.version == nil }
        return answers.contains(.unknown) || mayBeAnother ? .unknown : .notYet
    }

    /// The published release that meets the requirement; of several, the one that is offered to the most users.
    package func published(_ question: GateQuestion) -> Release? {
        meeting(question).filter(\.isPublished).max {
            ($0.isForSomeCountries ? 0 : 1, $0.fraction, $0.build) < (
                $1.isForSomeCountries ? 0 : 1, $1.fraction, $1.build
            )
        }
    }

    /// - Parameter audience: where the app's devices are; nil: not known.
    func verdict(
        _ question: GateQuestion, rules: AvailabilityGate.Rules, audience: AudienceCountries?,
        write: (Timestamp) -> String
    ) -> GateVerdict {
        let minimumFraction = rules.minimumFraction
        /// The users who would be forced to a release that they cannot get; nil: there are none.
        func others(_ release: Release) -> String? {
            guard let countries = release.countries, rules.countries == .hold else { return nil }
            return (audience ?? AudienceCountries(hasUnknown: true)).others(than: countries)
        }
        /// The countries where it is offered, unless that is everywhere.
        func place(_ release: Release) -> String {
            release.countries.map { " in \($0.isEmpty ? "some countries" : AudienceCountries.list($0)) alone" } ?? ""
        }
        let known = meeting(question)
        let meeting = known.filter(\.isPublished)
        let asked = "last asked at \(write(askedAt))"
        let completed = meeting.filter { $0.status == .completed }
        if let best = completed.first(where: { !$0.isForSomeCountries })
            ?? completed.first(where: { others($0) == nil })
        {
            return GateVerdict(.open, "Google Play offers \(Self.name(best)) to everybody\(place(best))")
        }
        // A completed release for some countries counts as a rollout that has reached all of its users.
        let all = meeting.filter { $0.status == .inProgress } + completed
        let everywhere = all.filter { others($0) == nil }
        let rolling = (everywhere.isEmpty ? all : everywhere).max { $0.fraction < $1.fraction }
        if let rolling {
            let others = others(rolling)
            let offer = "Google Play offers \(Self.name(rolling)) to \(Self.percent(rolling.fraction))"
            if others == nil, rolling.fraction >= minimumFraction { return GateVerdict(.open, offer + place(rolling)) }
            guard let others else {
                return GateVerdict(
                    .closed,
                    "\(offer) of users\(place(rolling)); waiting for \(Self.percent(minimumFraction)), \(asked)")
            }
            return GateVerdict(
                .closed,
                "\(offer) of users\(place(rolling)), and \(others) could not get it; waiting for "
                    + "\(Self.percent(minimumFraction)) everywhere: add the countries in Play Console, send the devices' `country`, or set "
                    + "googlePlay.countries to \"ignore\", \(asked)")
        }
        if let halted = meeting.first(where: { $0.status == .halted }) {
            return GateVerdict(
                .halted,
                "the rollout of \(Self.name(halted)) is halted in Google Play, at \(Self.percent(halted.fraction)) of "
                    + "users; waiting until it goes on, \(asked)")
        }
        let wanted = question.wanted
        let label = question.build.map { "\(wanted) (version code \($0))" } ?? wanted
        if let pending = known.max(by: { $0.build < $1.build }) {
            return GateVerdict(
                .closed,
                "waiting until Google Play offers \(label); it says that \(Self.name(pending)) is \(pending.lifecycle), "
                    + asked)
        }
        if let build = question.build,
            let older = releases.filter({ $0.build >= build }).max(by: { $0.build < $1.build })
        {
            return GateVerdict(
                .closed,
                "waiting until Google Play offers \(wanted); \(Self.name(older)) is older by its name: announce \(wanted) "
                    + "with its own version code (--required-build) or name the release so, \(asked)")
        }
        let isBlind = question.build == nil && !releases.isEmpty && releases.allSatisfy { $0.version == nil }
        let shown =
            isBlind
            ? "no release on the track \"\(track)\" has a name that holds a version: announce it with --required-build"
            : releases.map(\.build).max().map { "the track \"\(track)\" has version code \($0)" }
                ?? "the track \"\(track)\" is empty"
        return GateVerdict(.closed, "waiting until Google Play offers \(label); \(shown), \(asked)")
    }

    private static func name(_ release: Release) -> String {
        release.version.map { "\($0) (version code \(release.build))" } ?? "version code \(release.build)"
    }

    /// In percent, with tenths where there are any: "12.5 %".
    private static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1000).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}
