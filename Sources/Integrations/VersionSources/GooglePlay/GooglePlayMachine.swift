// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules

/// Decides the next question about one track of Google Play, and combines the answers. Pure.
///
/// Two questions give half of the facts each. The list of releases costs nothing and shows which are PUBLISHED, but neither the
/// progress of a rollout nor whether it is halted. An edit's track shows both, but shows a release in review as if it were out;
/// and opening an edit ends the other open edits of the same account. So the list is asked at each poll, and an edit is opened
/// only
///
/// - where the published releases differ from those at the last edit,
/// - at every third poll, while a requirement of the app, in force or waiting, hangs on a rollout that is not
///   completed: the rollout's fraction can grow, or the rollout be halted, without a change in the list, and
/// - at every sixth, where the release is out for everybody: that, too, can be halted.
package struct GooglePlayMachine: PollMachine, Hashable {
    package enum Question: Hashable, Sendable {
        /// Deletes an edit that could not be deleted before.
        case discard(edit: String)
        case list
        /// Opens an edit, reads it and deletes it.
        case readTrack
    }

    /// The outcome of a round of questions.
    package typealias Conclusion = Result<GooglePlayEvidence, SourceFault>

    /// How often the deletion of one edit is tried again. The edit expires, or ends when the next one is opened.
    private static let discardLimit = 3

    /// The shortest time between two polls, even where one is asked for: the shortest `every` that may be configured.
    private static let shortest = Duration.seconds(60)

    private let source: GooglePlaySource
    private var schedule: PollSchedule
    private var polledAt: Timestamp?
    /// The list of this round, while an edit must supply the rest.
    private var listed: [GooglePlaySummary]?
    /// The last good list.
    private var known: [GooglePlaySummary] = []
    private var rollouts: [GooglePlayRollout] = []
    private var readAt: Timestamp?
    /// The releases that were published when `rollouts` was read.
    private var readFor: [GooglePlaySummary] = []
    private var evidence: GooglePlayEvidence?
    /// An edit that could not be deleted.
    private var leftover: String?
    /// How often its deletion was tried again.
    private var discards = 0
    /// Whether the deletion was tried at this poll.
    private var hasDiscarded = false

    package init(source: GooglePlaySource, start: Timestamp) {
        self.source = source
        schedule = PollSchedule(every: source.every, start: start)
    }

    package func next(at now: Timestamp) -> PollStep<Question> {
        if listed != nil { return schedule.next(.readTrack, at: now) }
        if let leftover, !hasDiscarded { return schedule.next(.discard(edit: leftover), at: now) }
        return schedule.next(.list, at: now)
    }

    /// Asks for the list as early as Google allows, as something may have happened.
    package mutating func hasten(at now: Timestamp) {
        schedule.hasten(to: max(now, polledAt.map { $0 + min(Self.shortest, source.every) } ?? now))
    }

    /// Takes the outcome of a deletion.
    package mutating func discarded(isGone: Bool) {
        discards += 1
        hasDiscarded = true
        if isGone || discards >= Self.discardLimit { (leftover, discards) = (nil, 0) }
    }

    /// - Parameter wanted: the requirements in force and those that wait.
    /// - Returns: nil where an edit is needed.
    package mutating func listed(
        _ answer: Result<[GooglePlaySummary], SourceFault>, wanted: [GateQuestion], at now: Timestamp
    ) -> Conclusion? {
        polledAt = now
        switch answer {
        case .failure(let fault): return failed(fault, at: now)
        case .success(let summaries):
            // A track does not become empty: the release that users have stays.
            if summaries.isEmpty, let newest = known.flatMap(\.builds).max() {
                return failed(
                    SourceFault(
                        "Google Play lists no release on the track \"\(source.track)\", where it listed version code "
                            + "\(newest) before"), at: now)
            }
            let published = summaries.filter(\.isPublished)
            if !published.isEmpty, published != readFor || isRolloutDue(wanted, at: now) {
                listed = summaries
                return nil
            }
            return conclude(summaries, at: now)
        }
    }

    /// - Parameter leftover: the edit that was opened, where it could not be deleted.
    package mutating func read(
        _ answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?, at now: Timestamp
    ) -> Conclusion {
        if let leftover { (self.leftover, discards) = (leftover, 0) }
        let summaries = listed ?? known
        listed = nil
        switch answer {
        case .failure(let fault): return failed(fault, at: now)
        case .success(let new):
            let published = summaries.filter(\.isPublished)
            let seen = Set(new.flatMap(\.builds))
            if let lacking = published.first(where: { seen.isDisjoint(with: $0.builds) }) {
                return failed(
                    SourceFault(
                        "Google Play lists version code \(lacking.builds.max() ?? 0) as published, and its edit does "
                            + "not have it on the track \"\(source.track)\""), at: now)
            }
            (rollouts, readFor, readAt) = (new, published, now)
            return conclude(summaries, at: now)
        }
    }

    private mutating func failed(_ fault: SourceFault, at now: Timestamp) -> Conclusion {
        schedule.failed(fault, at: now)
        hasDiscarded = false
        return .failure(fault)
    }

    private func isRolloutDue(_ wanted: [GateQuestion], at now: Timestamp) -> Bool {
        guard let evidence, let readAt else { return false }
        let hangs = wanted.contains { evidence.hangsOnRollout($0) }
        guard hangs || wanted.contains(where: { evidence.isPublished($0) }) else {
            return false
        }
        // A wall clock that was set back must not delay it.
        return now >= readAt + source.editPace * (hangs ? 1 : 2) || now < readAt
    }

    private mutating func conclude(_ summaries: [GooglePlaySummary], at now: Timestamp) -> Conclusion {
        schedule.succeeded(at: now)
        hasDiscarded = false
        known = summaries
        let releases = joined(summaries)
        // The progress of a rollout is as old as the last edit.
        let isStaged = releases.contains { $0.isPublished && ($0.status != .completed || $0.isForSomeCountries) }
        let new = GooglePlayEvidence(
            askedAt: isStaged ? readAt ?? now : now, track: source.track, releases: releases)
        evidence = new
        return .success(new)
    }

    /// The releases, from the answers to both questions.
    private func joined(_ summaries: [GooglePlaySummary]) -> [GooglePlayEvidence.Release] {
        let published = Set(summaries.filter(\.isPublished).flatMap(\.builds))
        var releases: [GooglePlayEvidence.Release] = []
        var pending = summaries.filter { !$0.isPublished }
        for rollout in rollouts {
            guard let build = rollout.builds.max(), !published.isDisjoint(with: rollout.builds) else { continue }
            // The edit shows the submitted state: while a change is in review, the release's own progress is unknown.
            let change = pending.first { $0.builds.contains(build) }
            pending.removeAll { $0.builds.contains(build) }
            releases.append(
                GooglePlayEvidence.Release(
                    build: build, version: version(rollout.name), status: rollout.status, fraction: rollout.fraction,
                    lifecycle: change?.lifecycle ?? GooglePlayEvidence.Release.published,
                    countries: rollout.countries, priority: rollout.priority, minimumOS: system(rollout.name)))
        }
        for summary in pending {
            releases.append(
                GooglePlayEvidence.Release(
                    build: summary.builds.max() ?? 0, version: version(summary.name), status: .draft, fraction: 0,
                    lifecycle: summary.lifecycle, minimumOS: system(summary.name)))
        }
        return releases
    }

    private func system(_ name: String?) -> Version? {
        guard let name, case .version(let system)? = source.minimumOSPattern?.read(name) else { return nil }
        return system
    }

    private func version(_ name: String?) -> Version? {
        guard let name, case .version(let version) = source.namePattern.read(name) else { return nil }
        return version
    }
}
