// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// A campaign that was opened again for some of its devices, under its own ledger and with the same push ids.
package struct CampaignRound: Hashable, Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An operator had what did not arrive sent again.
        case retry
        /// Those who are still behind are pushed to once more (`push.remind`).
        case reminder
    }

    /// From 1.
    package var number: Int
    package var kind: Kind
    /// Which devices are sent again, by the outcome that they had; of a reminder `accepted`.
    package var states: [DeliveryState]
    /// When a reminder was due; nil for a retry.
    package var dueAt: Timestamp?
    package var begunAt: Timestamp
    /// Put in line so far. A reminder that was not sent after all does not count.
    package var devices: Int64
    /// When all were in line, or the campaign ended before that.
    package var gatheredAt: Timestamp?

    package init(
        number: Int, kind: Kind, states: [DeliveryState], dueAt: Timestamp?, begunAt: Timestamp, devices: Int64,
        gatheredAt: Timestamp?
    ) {
        self.number = number
        self.kind = kind
        self.states = states
        self.dueAt = dueAt
        self.begunAt = begunAt
        self.devices = devices
        self.gatheredAt = gatheredAt
    }

    /// What an operator may have sent again: what failed for good, was left out or ran out of time. Not what the push service
    /// called unregistered: nobody is there. Nor what was filtered: nobody should get it.
    package static let retried: [DeliveryState] = [.rejected, .cancelled, .expired]

    /// Always in the same order.
    package static func names(of states: some Collection<DeliveryState>) -> [String] {
        DeliveryState.allCases.filter { states.contains($0) }.map(\.name)
    }
}

/// What a campaign is to be opened again for.
package struct RoundDraft: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// Of `CampaignRound.retried`.
        case retry(Set<DeliveryState>)
        case reminder(dueAt: Timestamp)
    }

    package var cause: Cause
    /// From now until nothing is sent any more.
    package var timeToLive: Duration
    /// It is sent whatever the hour from then on. Default no.
    package var isUrgent = false

    package init(_ cause: Cause, timeToLive: Duration) {
        self.cause = cause
        self.timeToLive = timeToLive
    }
}

package enum Reopening: Hashable, Sendable {
    case opened
    /// What it would take is sent by its campaign.
    case superseded
    /// What it announces was taken back. Announced again, that has another campaign.
    case withdrawn
    /// Nothing of it is sent again: another version is in force, or asked for, by now; nil: none.
    case notRequired(now: Version?)
    /// It is not over, so that there is nothing to open.
    case notOver(CampaignState)
    /// Its deliveries were pruned: nobody knows any more who was left out.
    case pruned
    /// No device is in one of the states.
    case nothingLeft
}

extension RoundDraft {
    /// Why a campaign may not be opened again; nil where it may.
    package func refusal(by record: CampaignRecord, _ requirements: Requirements) -> Reopening? {
        guard let row = requirements[record.requirement.id], row.isLive else {
            return .withdrawn
        }
        if record.facts.isPruned { return .pruned }
        if requirements.isSuperseded(row) { return .superseded }
        switch cause {
        case .retry(let states):
            guard record.state.isFinal else { return .notOver(record.state) }
            if states.allSatisfy({ record.figures.counts[$0] == 0 }) { return .nothingLeft }
        case .reminder(let dueAt):
            // Somebody else was faster.
            if record.figures.rounds.contains(where: { $0.kind == .reminder && $0.dueAt == dueAt }) {
                return .nothingLeft
            }
            // Also where only retries are left: some may have to wait for days. Not between two waves.
            let isLeftToRetries =
                record.state == .running && record.figures.isPlanned && record.figures.counts.pending == 0
                && !record.hasMoreWaves
                && record.figures.rounds.allSatisfy { $0.gatheredAt != nil }
            guard record.state == .completed || isLeftToRetries else { return .notOver(record.state) }
            guard row.isForEverybody else { return .notRequired(now: requirements.inForce?.version) }
        }
        return nil
    }
}

/// What one step of putting devices in line came to.
package struct Gathered: Hashable, Sendable {
    package var progress: CampaignLifecycle.Gathering
    package var devices: Int64 = 0
    /// Which services have devices in line that they had not before.
    package var environments: Set<PushEnvironment> = []
    /// Devices that the campaign had never come to are pending again.
    package var opensShards = false

    package init(_ progress: CampaignLifecycle.Gathering) {
        self.progress = progress
    }
}

/// Campaigns that are sent again, to some of their devices.
package protocol RoundStore: Sendable {
    /// Opens a campaign that is over (for a reminder also one of which only retries are left): it runs, or waits where its
    /// requirement is asked for and not in force; `expiresAt` is at least `timeToLive` away, and devices are put in line by
    /// `gather`, which may take long and is found again after a restart. Changes nothing where it answers anything but
    /// `opened`.
    func reopen(_ campaign: CampaignKey, for draft: RoundDraft, by actor: Signature) throws -> Reopening

    /// Puts more devices in line, due now, in a transaction of about a thousand; where nobody is left, those that the campaign
    /// never came to are pending again. Counts move with them.
    ///
    /// - Parameters:
    ///   - most: devices that may be retrying at a time.
    ///   - wants: of a reminder, whether this device gets one.
    func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered

    /// The campaign of the requirement that is in force for everybody; nil where there is none.
    func campaignInForce(of app: AppKey) throws -> CampaignRecord?
}

extension CampaignRecord {
    /// Whether devices are still to be put in line that are sent again.
    package var isGathering: Bool { figures.rounds.last.map { $0.gatheredAt == nil } ?? false }

    /// Whether a wave is to come. One that was left out when the campaign ended, and is not sent again, does not.
    package var hasMoreWaves: Bool {
        figures.rounds.isEmpty
            ? figures.waves.next != nil
            : figures.waves.list.contains { $0.begunAt == nil && ($0.pending > 0 || $0.isOpen) }
    }

    /// Since when it goes to everybody whom it is for; reminders count from then.
    package var goesToAllSince: Timestamp? { canary == nil ? facts.startedAt : canary?.releasedAt ?? facts.startedAt }

    /// When the reminder was due that was sent last.
    private var lastReminder: Timestamp? { figures.rounds.compactMap(\.dueAt).max() }

    /// What is to be done of its reminders. None is left where another version is in force by now, or where a person has to act first.
    package func reminder(_ schedule: ReminderSchedule, at now: Timestamp) -> ReminderSchedule.Decision {
        guard inForce == requirement.version, let startedAt = goesToAllSince,
            state == .completed || state == .running || state == .paused
        else { return .over }
        let decision = schedule.next(startedAt: startedAt, last: lastReminder, at: now)
        // It goes out when the campaign goes on.
        if state == .paused, case .begin(let dueAt) = decision { return .wait(until: dueAt) }
        return decision
    }
}
