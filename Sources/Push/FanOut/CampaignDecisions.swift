// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
package import Telemetry
import UpgradeRules

/// The relay's own decisions about campaigns: the store keeps each, and the log has a line for it.
struct CampaignDecisions {
    let store: any RelayStore
    let log: Log

    /// Stops a campaign that cannot succeed, with the reason that its status shows.
    func suspend(_ record: CampaignRecord, _ suspension: CampaignLifecycle.Suspension, at now: Timestamp) throws {
        if try store.decide(record, .suspended(suspension.cause, suspension.reason), by: .relay(at: now)) {
            log(.error, "the campaign is suspended", [("campaign", record.id), ("reason", suspension.reason)])
        }
    }

    /// Resumes the app's campaigns that were suspended for one of these causes, which a reload has changed. If the change did not help,
    /// the probe at their beginning shows it.
    func resume(_ app: AppKey, suspendedFor causes: Set<SuspensionCause>, at now: Timestamp) throws {
        for record in try store.openCampaigns() where record.app == app && record.state != .running {
            guard try store.decide(record, .repaired(causes), by: .relay(at: now)) else { continue }
            log(
                .notice, "the configuration has changed what the campaign was suspended for: it goes on",
                [("campaign", record.id), ("reason", record.facts.reason ?? "")])
        }
    }

    /// Ends a campaign whose time to live is over.
    ///
    /// - Returns: how many of its pushes have expired with it.
    func expire(_ record: CampaignRecord, at now: Timestamp) throws -> Int {
        try store.expireCampaign(record.key, at: now)
        let after = try store.campaign(record.key)?.figures.counts.expired ?? record.figures.counts.expired
        reportEnd("the campaign's time to live ran out", of: record.key)
        return Int(after - record.figures.counts.expired)
    }

    /// The line that the log gets when a campaign is over.
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
