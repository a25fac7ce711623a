// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules
import WireFormat

/// The hours of the day in which an app's pushes may begin (`pace.hours`): by the believed clock, so that a clock that is wrong
/// for a moment wakes no user at night.
extension Dispatcher {
    /// Lets campaigns fall asleep and wake.
    ///
    /// - Returns: how long until the next of them falls asleep or wakes by itself.
    mutating func lookAtHours() -> Duration {
        var pause = Duration.seconds(3600)
        for run in runs.inOrder where run.route.hours != nil && run.lifecycle.isSending {
            pause = min(pause, lookAtHours(of: run))
        }
        return pause
    }

    mutating func lookAtHours(of run: CampaignRun) -> Duration {
        let now = now
        let isUrgent = run.record.isUrgent
        switch run.hours.look(isUrgent: isUrgent, at: now.wall) {
        case .none: break
        case .fellAsleep(let until):
            log(
                .notice, "outside the app's hours: nothing is begun",
                fields(of: run) + [("hours", run.route.hours?.description ?? ""), ("until", until.internetTime)])
            // Pushes that have not left are read again when the hours begin; those that have left end as usual.
            for service in run.services { service.withdraw() }
        case .woke:
            log(
                .notice, "the app's hours keep nothing back any more: sending goes on",
                fields(of: run) + [("byHand", isUrgent ? "true" : "false")])
            beginRamp(of: run, at: now.tick)
            run.restartRate()
            for service in run.services where !isUrgent {
                service.machine.reopens(campaign: run.record.key.row, at: quietEnd(of: service, at: now.wall))
            }
        }
        return run.hours.changesAt.map { max($0 - now.wall, .zero) } ?? .seconds(3600)
    }

    private func fields(of run: CampaignRun) -> Log.Fields {
        [("campaign", run.record.id), ("app", run.record.app.app), ("platform", run.record.app.platform.rawValue)]
    }
}
