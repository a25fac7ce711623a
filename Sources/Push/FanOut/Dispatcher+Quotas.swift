// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import WireFormat

/// Limits that services share: the pace of an app, the quota of a project.
extension Dispatcher {
    // MARK: Pace and quota

    /// The pushes that the project's quota and the app's pace allow at this moment.
    mutating func allowance(of service: PushService, at now: Moment) -> SendingAllowance {
        // A store that cannot be read just now has its own fault; the next answers show the quota.
        limits.allowance(for: service.limited, at: now) { [store] project in
            store.membership.isAlone ? nil : (try? store.quotaPauses(of: project)) ?? [:]
        }
    }

    /// Begins the ramp with the app's campaign or its next wave, unless another of its campaigns is being sent.
    mutating func beginRamp(of run: CampaignRun, at now: MonotonicTime) {
        let others = runs.others(than: run).filter(\.lifecycle.isSending)
        guard others.allSatisfy(\.hours.isAsleep) else { return }
        limits.beginRamp(of: run.record.app, at: now)
    }

    /// Judges the project's quota by a batch's answers.
    mutating func judgeQuota(of service: PushService, _ report: BatchReport, answers: Int, at now: Moment) {
        guard
            let (project, pause) = limits.answered(
                answers, of: service.limited, report, at: now.tick, random: { [random] in random.unit() })
        else { return }
        log(
            .warning, "the project's quota is reached: nothing of the app is sent for a while",
            [("project", project), ("app", service.key.app.app), ("until", (now.wall + pause).internetTime)])
        service.withdraw()
        // Kept in the store, so that the pauses outlive this relay.
        guard !store.membership.isAlone, let pauses = limits.pauses(of: project, at: now) else { return }
        do {
            try store.keepQuotaPauses(of: project, pauses)
        } catch {
            noteStore(error)
        }
    }

    // MARK: Ending waits at once

    /// Ends the waits of apps whose operator does not want to wait: a few pushes probe their services.
    mutating func endWaits() {
        guard !impatient.isEmpty else { return }
        let now = now
        for run in runs.inOrder where impatient.contains(run.record.app) && run.lifecycle.isSending {
            // A service that refused the credential is tried as at the start of the campaign.
            guard run.services.contains(where: { $0.machine.stopReason != nil }) else { continue }
            runs.rerouted.insert(run.record.key)
            halt(run)
        }
        for service in services.inOrder where impatient.contains(service.key.app) {
            services.probeAtOnce(service, &limits, at: now)
        }
        impatient = []
    }

    /// When a campaign may begin there; nil: at once.
    func opening(_ service: PushService, of run: CampaignRun, keepsRamp: Bool, at now: Timestamp) -> Timestamp? {
        // A campaign that has sent before is past its first minute.
        guard !keepsRamp, run.record.figures.counts.accepted == 0 else { return nil }
        return quietEnd(of: service, at: now)
    }

    /// When a campaign or wave that would begin now may begin there; nil: at once.
    func quietEnd(of service: PushService, at now: Timestamp) -> Timestamp? {
        guard let limit = service.quota, limit.avoidsQuarterHours else { return nil }
        let opening = QuarterHourAvoidance.opening(at: now)
        return opening > now ? opening : nil
    }
}
