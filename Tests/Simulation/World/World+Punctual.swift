// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements

/// A campaign that a person, or an hour, lets go on goes on then.
extension World {
    /// A wave that a person releases waits for no pause that was agreed before.
    func judgeReleasedWaves() {
        for (id, released) in watched.releasedWaves.sorted(by: { $0.key < $1.key }) {
            guard let told = told[id]?.campaign, told.state == "running", told.wavesBegun == released.begun,
                let app = model.announcement(of: id)?.app
            else {
                watched.releasedWaves[id] = nil
                continue
            }
            let since = max(released.at, quietSince)
            guard !isDiskFailing, !wasClockSet, settings.hasApp[app], tick - since > .seconds(300),
                diskFailedAt.map({ tick - $0 > .seconds(300) + Relay.storeRest }) ?? true,
                awake(app, id) > .seconds(300), relay?.lane.inFlight(of: id).isEmpty ?? false
            else { continue }
            watched.releasedWaves[id] = nil
            model.broke(
                "wave.released",
                "a person has let the next wave of campaign \(id) begin \(tick - released.at) ago, and it has not begun"
            )
        }
    }

    /// Within an app's hours, no campaign gives them as its reason to wait.
    func judgeOpenHours() {
        guard !isDiskFailing, !wasClockSet, tick - quietSince > .milliseconds(Model.wayGrace) else { return }
        for (id, known) in told.sorted(by: { $0.key < $1.key }) where known.campaign.state == "running" {
            guard let hours = settings.hours(known.campaign.app),
                hours.standing(at: clock.rightTime.milliseconds) > 1000,
                let record = try? relay?.store.campaign(id: id),
                let reason = try? relay?.control.status(record).record.facts.reason,
                reason.hasPrefix("outside the app's hours")
            else { continue }
            model.broke("hours.open", "campaign \(id) waits within its app's hours: \(reason)")
        }
    }
}
