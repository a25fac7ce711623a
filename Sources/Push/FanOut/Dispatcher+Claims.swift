// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// The running campaigns that this relay sends: each has one owner at a time (`RunLease`).
extension Dispatcher {
    /// Whether this relay still owns the campaigns that it has claimed, as far as it can know.
    var isTrusted: Bool { term != nil && store.membership.term == term }

    /// Campaigns that this relay owned may belong to another relay now or in a moment: nothing of them is sent any more, and
    /// those that are still its own are claimed anew.
    mutating func noticeTerm() {
        let term = store.membership.term
        guard term != self.term else { return }
        self.term = term
        for run in runs.inOrder { halt(run) }
        // Another relay may have begun to send for these projects.
        if !store.membership.isAlone { limits.forgetQuota() }
        claims.forget()
        lookAtOnce()
    }

    /// Whether this relay may claim the campaign now.
    mutating func mayClaim(_ campaign: CampaignKey, at now: MonotonicTime) -> Bool {
        guard !store.membership.isAlone else { return true }
        let opening = claims.opening(of: campaign, besides: runs.count, at: now)
        if opening > now { nextLook = min(nextLook, opening) }
        return opening <= now
    }

    /// Takes the campaign over, and begins it or ends it.
    mutating func claim(
        _ record: CampaignRecord, _ route: AppRoute, at now: Moment, surelyPast: Timestamp
    ) throws {
        let project = route.quotas.first?.project
        guard let lease = try store.claimRun(record.key, project: project) else {
            return claims.missed(record.key, at: now.tick)
        }
        claims.claimed(record.key)
        if let project, !store.membership.isAlone, !runs.sends(for: project) {
            // Another relay may have sent for the project since this one did.
            limits.forgetQuota(of: project)
        }
        let seen = record.seen(route.waveRules)
        var lifecycle = CampaignLifecycle(seen)
        do {
            if lifecycle.looked(seen, at: surelyPast) == .expire {
                tallies[record.app, default: PushTally()].add(expired: try decisions.expire(record, at: now.wall))
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
