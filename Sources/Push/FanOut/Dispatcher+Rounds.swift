// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules
import WireFormat

/// Campaigns that are sent again to some of their devices, by a reminder or an operator: those are put in line here.
extension Dispatcher {
    /// The most devices in line at a time: enough to keep the connections busy while the next ones are found, and few
    /// enough to be counted as cancelled quickly if the campaign is superseded.
    private static let mostInLine: Int64 = 20_000

    /// Puts some more devices in line.
    mutating func gather(_ run: CampaignRun, at now: Moment) throws {
        let gathered = try store.gather(run.record.key, atMost: Self.mostInLine, at: now.wall) { row, devices in
            run.filter.reason(against: row, in: devices) == nil
        }
        run.lifecycle.gathered(gathered.progress)
        for channel in gathered.channels.sorted() {
            if let service = run.service(channel) {
                service.machine.handedOver(at: now.wall)
            } else {
                try begin(run, at: channel, keepsRamp: false, now)
                services.shareBudget()
            }
        }
        guard gathered.progress == .done else { return }
        let count = try store.campaign(run.record.key)?.figures.rounds.last?.devices ?? 0
        log(
            .notice, "all devices that are sent to again are in line",
            [("campaign", run.record.id), ("devices", String(count))])
        guard gathered.opensShards else { return }
        // The services know of no shards, or of too few.
        runs.rerouted.insert(run.record.key)
        halt(run)
    }
}
