// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// App Store Connect's view of an app's versions (PROTOCOLS 4.1).
package struct AppStoreConnectEvidence: Hashable, Sendable {
    package struct Release: Hashable, Sendable {
        package var version: Version
        /// `appVersionState`, as Apple spells it; READY_FOR_DISTRIBUTION is live.
        package var state: String
        /// nil where all users get it at once.
        package var phase: Phase?

        package init(version: Version, state: String, phase: Phase? = nil) {
            self.version = version
            self.state = state
            self.phase = phase
        }

        package var isLive: Bool { state == Self.live }
        package static let live = "READY_FOR_DISTRIBUTION"
    }

    /// `phasedReleaseState`. It closes the gate only while it is paused: any user can download the version by hand.
    package enum Phase: String, Hashable, Sendable {
        case inactive = "INACTIVE"
        case active = "ACTIVE"
        case paused = "PAUSED"
        case complete = "COMPLETE"
    }

    package var askedAt: Timestamp
    package var releases: [Release]

    package init(askedAt: Timestamp, releases: [Release]) {
        self.askedAt = askedAt
        self.releases = releases
    }

    /// The newest live release.
    package var offered: Release? {
        releases.filter(\.isLive).max { $0.version < $1.version }
    }

    /// The offer to one user. A phased release can be downloaded by hand, unless it is paused.
    func offer(_ question: GateQuestion) -> StoreOffer.Answer {
        guard let offered, question.isMet(by: offered.version) else { return .notYet }
        return offered.phase == .paused ? .unknown : .yes
    }

    func verdict(_ question: GateQuestion, write: (Timestamp) -> String) -> GateVerdict {
        guard let offered, question.isMet(by: offered.version) else {
            let known = releases.filter { question.isMet(by: $0.version) }.min { $0.version < $1.version }
            let shown =
                known.map { "App Store Connect says that \($0.version) is \($0.state)" }
                ?? "App Store Connect shows \(offered?.version.text ?? "no version") as the newest that is live"
                + question.remark(on: offered?.version)
            return GateVerdict(
                .closed,
                "waiting until the App Store offers \(question.wanted); \(shown), last asked at \(write(askedAt))")
        }
        if offered.phase == .paused {
            return GateVerdict(
                .closed,
                "the phased release of \(offered.version) is paused in App Store Connect; waiting until it goes on, "
                    + "last asked at \(write(askedAt))")
        }
        return GateVerdict(.open, "App Store Connect says that \(offered.version) is \(offered.state)")
    }
}
