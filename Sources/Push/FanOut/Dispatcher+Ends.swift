// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
package import Telemetry
import UpgradeRules

/// The line that the journal gets when a campaign is over.
extension Dispatcher {
    func reportEnd(_ message: StaticString, of campaign: CampaignKey) {
        // The line is for people: a store that cannot be read just now has already been logged.
        guard let record = try? store.campaign(campaign) else { return log(.notice, message, []) }
        log(.notice, message, record.endFields)
    }
}

extension CampaignRecord {
    /// The campaign and the outcome of its audience: counts of 0 are left out.
    package var endFields: Log.Fields {
        var fields: Log.Fields = [
            ("campaign", id), ("app", app.app), ("platform", app.platform.rawValue),
            ("required", requirement.version.text),
            ("audience", String(figures.counts.audience)), ("accepted", String(figures.counts.accepted)),
        ]
        for state in DeliveryState.allCases where state != .accepted && figures.counts[state] > 0 {
            fields.append((state.name, String(figures.counts[state])))
        }
        return fields
    }
}
