// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// What a track of Google Play offers (PROTOCOLS 4.2).
package struct GooglePlayEvidence: Hashable, Sendable {
    package struct Release: Hashable, Sendable {
        /// The highest of its version codes.
        package var build: Int64
        /// What its name says, where that is a version.
        package var version: Version?
        package var status: Status
        /// The share of users that it has reached, from 0 to 1; 1 where it is completed.
        package var fraction: Double
        /// `releaseLifecycleState` without its prefix. While a release is in review its status says inProgress or completed
        /// already (google-api-python-client#2530): only what is PUBLISHED is offered.
        package var lifecycle: String
        /// The rollout leaves countries out, and `fraction` is that of the others (`countryTargeting`).
        package var isForSomeCountries: Bool

        package init(
            build: Int64, version: Version?, status: Status, fraction: Double, lifecycle: String = Self.published,
            isForSomeCountries: Bool = false
        ) {
            self.build = build
            self.version = version
            self.status = status
            self.fraction = fraction
            self.lifecycle = lifecycle
            self.isForSomeCountries = isForSomeCountries
        }

        package var isPublished: Bool { lifecycle == Self.published }
        package static let published = "PUBLISHED"
    }

    /// As Google spells it.
    package enum Status: String, Hashable, Sendable {
        case draft, inProgress, halted, completed
    }

    package var askedAt: Timestamp
    package var track: String
    package var releases: [Release]

    package init(askedAt: Timestamp, track: String, releases: [Release]) {
        self.askedAt = askedAt
        self.track = track
        self.releases = releases
    }

    /// The newest that everybody is offered.
    package var offeredToAll: Release? {
        releases.filter { $0.isPublished && $0.status == .completed }.max { $0.build < $1.build }
    }

    /// Those that meet a requirement.
    ///
    /// Without the version code that the requirement came with, the names of releases are compared. It may be that of an earlier
    /// requirement, where the last bump brought none: so a name that holds an older version counts against a release, whatever its code.
    private func meeting(_ question: GateQuestion) -> [Release] {
        releases.filter { release in
            guard let build = question.build else { return release.version.map(question.isMet) ?? false }
            return release.build >= build && release.version.map(question.isMet) ?? true
        }
    }

    /// Whether a requirement hangs on how far a rollout is, which Google does not tell without an edit.
    package func hangsOnRollout(_ question: GateQuestion) -> Bool {
        let offered = meeting(question).filter(\.isPublished)
        return !offered.isEmpty && !offered.contains { $0.status == .completed }
    }

    /// Whether users get it from the store, all of them or some.
    package func isPublished(_ question: GateQuestion) -> Bool {
        meeting(question).contains(where: \.isPublished)
    }

    func verdict(
        _ question: GateQuestion, minimumFraction: Double, write: (Timestamp) -> String
    ) -> GateVerdict {
        let known = meeting(question)
        let meeting = known.filter(\.isPublished)
        let asked = "last asked at \(write(askedAt))"
        if let best = meeting.first(where: { $0.status == .completed }) {
            return GateVerdict(.open, "Google Play offers \(Self.name(best)) to everybody")
        }
        let all = meeting.filter { $0.status == .inProgress }
        let everywhere = all.filter { !$0.isForSomeCountries }
        let rolling = (everywhere.isEmpty ? all : everywhere).max { $0.fraction < $1.fraction }
        if let rolling, rolling.fraction >= minimumFraction, !rolling.isForSomeCountries {
            return GateVerdict(.open, "Google Play offers \(Self.name(rolling)) to \(Self.percent(rolling.fraction))")
        }
        if let rolling {
            let users = rolling.isForSomeCountries ? "users in some countries" : "users"
            return GateVerdict(
                .closed,
                "Google Play offers \(Self.name(rolling)) to \(Self.percent(rolling.fraction)) of \(users); waiting for "
                    + "\(Self.percent(minimumFraction))\(rolling.isForSomeCountries ? " everywhere" : ""), \(asked)")
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

    /// Whole percent, and tenths where there are any: "12.5 %".
    private static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1000).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}
