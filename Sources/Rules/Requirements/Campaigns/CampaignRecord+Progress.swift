// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

// MARK: Waves and canary

extension CampaignRecord {
    /// Whether its requirement is not in force for everybody yet.
    package var isStaged: Bool { requirement.reach < Requirement.everybody }

    /// The campaign goes to named users alone for now.
    package var isCanary: Bool { canary?.phase == .alone }

    /// The telephones that it goes to; nil: everybody.
    package var audience: [String]? { canary?.phase == .released ? nil : requirement.canary }

    /// The canary's pushes that failed for good, counted as waves count failures.
    package var canaryFailures: Int64 {
        figures.counts.rejected + figures.counts.unregistered + figures.counts.expired
    }

    /// Which device is in which wave; nil where the campaign has none.
    package var draw: WaveDraw? {
        WavePlan(ends: figures.waves.list.map(\.end)).map { WaveDraw($0, requirement: requirement.id) }
    }

    /// Pending devices whose wave has not begun.
    package var notYetBegun: Int64 {
        figures.waves.list.reduce(0) { $1.begunAt == nil ? $0 + $1.pending : $0 }
    }
}

// MARK: Rounds

extension CampaignRecord {
    /// Whether some devices of its last round still have to be put in line.
    package var isGathering: Bool { figures.rounds.last.map { $0.gatheredAt == nil } ?? false }

    /// Whether a wave is still to come. A wave that was left out when the campaign ended, and is not sent again,
    /// does not count.
    package var hasMoreWaves: Bool {
        figures.rounds.isEmpty
            ? figures.waves.next != nil
            : figures.waves.list.contains { $0.begunAt == nil && ($0.pending > 0 || $0.isOpen) }
    }

    /// When its canary was released or, without a canary, when it started; reminders count from then.
    package var goesToAllSince: Timestamp? { canary == nil ? facts.startedAt : canary?.releasedAt ?? facts.startedAt }

    /// When its last reminder was due.
    private var lastReminder: Timestamp? { figures.rounds.compactMap(\.dueAt).max() }

    /// The next step for its reminders: `.over` where another version is in force, or where a person has to act first.
    package func reminder(_ schedule: ReminderSchedule, at now: Timestamp) -> ReminderSchedule.Decision {
        guard inForce == requirement.version, let startedAt = goesToAllSince,
            state == .completed || state == .running || state == .paused
        else { return .over }
        let decision = schedule.next(startedAt: startedAt, last: lastReminder, at: now)
        // The reminder is sent when the campaign is resumed.
        if state == .paused, case .begin(let dueAt) = decision { return .wait(until: dueAt) }
        return decision
    }
}

// MARK: Adoption

extension CampaignRecord {
    /// When the campaign started; before that, when it was created.
    package var begunAt: Timestamp { facts.startedAt ?? facts.createdAt }

    /// Devices of the audience that had the version without a notice from the relay.
    package var alreadyCurrent: Int64 { max((figures.filteredBy[.alreadyCurrent] ?? 0) - figures.reach.early, 0) }

    /// Devices of the audience that were not current already, and whose systems the version runs on.
    package var toUpgrade: Int64 {
        max(figures.counts.audience - alreadyCurrent - (figures.filteredBy[.osTooOld] ?? 0), 0)
    }

    /// The part of `upgraded` for which neither an accepted push nor a notice at login is recorded. Older releases
    /// recorded neither.
    package var reachedUnknown: Int64 {
        max(figures.upgraded - figures.reach.push - figures.reach.login - figures.reach.both, 0)
    }
}
