// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// The running campaigns that this relay sends: each has one owner at a time (`RunLease`).
extension Dispatcher {
    /// How often this relay looks for campaigns that other relays have left, even without a notification.
    static let fleetInterval = Duration.seconds(2)
    /// The delay before a free campaign is claimed, for each campaign that this relay sends already.
    private static let claimDelay = Duration.milliseconds(20)

    /// Whether this relay still owns the campaigns that it has claimed, as far as it can know.
    var isTrusted: Bool { term != nil && store.membership.term == term }

    /// Campaigns that this relay owned may belong to another relay now or in a moment: nothing of them is sent any more, and
    /// those that are still its own are claimed anew.
    mutating func noticeTerm() {
        let term = store.membership.term
        guard term != self.term else { return }
        self.term = term
        for run in runsInOrder { halt(run) }
        // Another relay may have begun to send for these projects.
        if !store.membership.isAlone { limits.forgetQuota() }
        claimsDue = [:]
        lookAtOnce()
    }

    /// Among several relays, the one that sends least is the first to claim a campaign that no relay sends.
    mutating func mayClaim(_ campaign: CampaignKey, at now: MonotonicTime) -> Bool {
        guard !store.membership.isAlone else { return true }
        let due = claimsDue[campaign] ?? now + Self.claimDelay * runs.count
        claimsDue[campaign] = due
        if due > now { nextLook = min(nextLook, due) }
        return due <= now
    }

    /// Takes the campaign over, and begins it or ends it.
    mutating func claim(
        _ record: CampaignRecord, _ route: AppRoute, at now: Moment, surelyPast: Timestamp
    ) throws {
        let project = route.quotas.first?.project
        guard let lease = try store.claimRun(record.key, project: project) else {
            // The campaign was just stopped, or another relay was faster, or another relay sends for the project and has yet to
            // claim this campaign.
            claimsDue[record.key] = now.tick + Self.fleetInterval
            return
        }
        claimsDue[record.key] = nil
        if let project, !store.membership.isAlone, !runs.values.contains(where: { $0.sends(for: project) }) {
            // Another relay may have sent for the project since this one did.
            limits.forgetQuota(of: project)
        }
        running.insert(record.key)
        let seen = record.seen(route.waveRules)
        var lifecycle = CampaignLifecycle(seen)
        do {
            if lifecycle.looked(seen, at: surelyPast) == .expire {
                try expire(record, at: now.wall)
            } else {
                try begin(record, lease, lifecycle, route, at: now)
            }
        } catch {
            endedLeases.append(lease)
            throw error
        }
        if runs[record.key] == nil { endedLeases.append(lease) }
    }

    /// Releases the campaigns that this relay no longer sends, so that another relay can claim them.
    mutating func giveBackRuns() {
        guard !storeRests else { return }
        do {
            while let lease = endedLeases.last {
                try store.releaseRun(lease)
                endedLeases.removeLast()
            }
        } catch {
            noteStore(error)
        }
    }
}
