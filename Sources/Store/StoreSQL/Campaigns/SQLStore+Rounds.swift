// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements

extension SQLStore {
    package func campaignInForce(of app: AppKey) throws -> CampaignRecord? {
        try read("looking for the campaign of a requirement") { connection in
            try CampaignTable.records(
                "a.name = ? AND a.platform = ? AND c.requirement_id = \(CampaignTable.inForce("a", "id"))",
                [app.app, app.platform], connection
            ).first
        }
    }

    package func reopen(_ campaign: CampaignKey, for draft: RoundDraft, by actor: Signature) throws -> Reopening {
        let now = actor.at
        return try write("opening a campaign again", lock: .campaign(campaign)) { connection in
            try judge(actor, .campaign(campaign), connection)
            guard let record = try CampaignTable.record(campaign, connection) else {
                throw StoreError(.conflict, context: "there is no campaign \(campaign.row)")
            }
            let requirements = try RequirementTable.requirements(of: record.app, connection)
            if let refusal = draft.refusal(by: record, requirements) { return refusal }
            // Devices that were left out go on as soon as the campaign's end is removed; unless the retry includes
            // them, they are settled as cancelled first.
            var leftOut: Int64 = 0
            if case .retry(let states) = draft.cause, record.state == .cancelled {
                if states.contains(.cancelled) {
                    leftOut =
                        record.figures.counts.cancelled - (try RunTable.counts(of: campaign, connection)).cancelled
                } else {
                    try CampaignTable.settleRest(of: campaign, as: .cancelled, at: now, connection)
                }
            }
            try RoundTable.insert(draft, for: campaign, devices: leftOut, at: now, connection)
            _ = try decide(record, .reopened(timeToLive: draft.timeToLive), at: now, connection)
            let states = Change.Move(from: record.state, to: try CampaignTable.state(of: campaign, connection))
            try ChangeTable.write(.reopened(draft, states), of: record, by: actor, connection)
            if draft.isUrgent { try hurry(campaign, of: record.app, by: actor, connection) }
            return .opened
        }
    }
}
