// SPDX-License-Identifier: Apache-2.0
import Telemetry

/// The relay's log.
extension World {
    func logged(_ level: LogLevel, _ message: StaticString, _ fields: Log.Fields) {
        journal.reach("log: \(message)")
        if message.description == "the store refuses", !isDiskFailing, !isDoomed, !isLost {
            model.broke("store.refuses", fields.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        }
        if message.description == "outcomes of devices that have gone from the store are left out", !rowsWereDeleted {
            model.broke("store.gone", fields.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        }
        noteOutage(message.description, fields)
        noteLate(message.description, fields)
        // All sending stops and begins anew: pushes on their way count for no campaign, and are sent once more.
        if message.description == "the clock was set back" { stirLedgers() }
        if message.description == "nothing is sent to one of the app's push services",
            let campaign = fields.first(where: { $0.0 == "campaign" })?.1
        {
            ledger.stoppedInPart.insert(campaign)
        }
        if message.description == "a wave is done", let campaign = fields.first(where: { $0.0 == "campaign" })?.1,
            fields.count(where: { ["accepted", "failed", "retrying"].contains($0.0) && $0.1 == "0" }) == 3
        {
            emptyWaves[campaign, default: 0] += 1
        }
        if message.description == "the campaign is complete", let id = fields.first(where: { $0.0 == "campaign" })?.1 {
            ended(id)
        }
        journal.trace("log \(level.name) \(message)")
    }
}
