// SPDX-License-Identifier: Apache-2.0
import FanOut
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// The activity for the service's status line.
extension DaemonControl {
    /// Reads the open campaigns from the store: a few at most.
    @Sendable func activity() -> ServiceStatus.Activity {
        let running = fanOut.campaigns
        // A store that cannot be read is among the faults.
        let open = (try? store.openCampaigns()) ?? []
        let first = running.first.flatMap { key in open.first { $0.key == key } ?? (try? store.campaign(key)) }
        var activity = ServiceStatus.Activity(
            campaign: first.flatMap { try? requirements.status($0) }, others: max(running.count - 1, 0),
            // The status line has its own words for a refused reload.
            fault: faults().first { $0.part != ReloadRequests.part }.map { "\($0.part): \($0.reason)" })
        if first == nil {
            let states: [CampaignState] = [.suspended, .paused, .waiting]
            let held = states.lazy.compactMap { state in open.first { $0.state == state } }.first
            activity.held = held.flatMap { try? requirements.status($0) }
        }
        let isShown = activity.held?.record.state == .suspended
        activity.suspended = Int64(open.count { $0.state == .suspended } - (isShown ? 1 : 0))
        return activity
    }

    // MARK: Another store

    /// The pauses of keys were read from the store at the start. Another store, put in its place since, may have others.
    func storeWasAccepted() {
        tokenSources.refresh(at: clock())
        fanOut.noteCredentials()
    }

    // MARK: Reload

    func reload(by actor: String) throws -> ReloadReport {
        log(.notice, "a reload was asked for", [("by", actor)])
        return try reloads.ask()
    }
}
