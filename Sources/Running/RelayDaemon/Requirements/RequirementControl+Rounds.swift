// SPDX-License-Identifier: Apache-2.0
import FanOut
package import RelayAPI
package import RelayEngine
import RelayStore
package import Requirements
import Telemetry
import VersionSources

/// Campaigns that are sent again to some of their devices.
extension RequirementControl {
    package func retry(
        campaign id: String, states: Set<DeliveryState>, isUrgent: Bool, by actor: Principal
    ) throws -> CampaignStatus {
        let campaign = try campaign(id)
        var draft = RoundDraft(.retry(states), timeToLive: try route(of: campaign.app).timeToLive)
        draft.isUrgent = isUrgent
        let answer = try store.reopen(campaign.key, for: draft, by: Signature(by: actor, via: "campaign", at: clock()))
        guard answer == .opened else { throw Self.refusal(answer, of: campaign, states) }
        log(
            .notice, "a campaign is sent again by hand",
            [
                ("campaign", id), ("app", campaign.app.app),
                ("states", CampaignRound.names(of: states).joined(separator: ",")),
            ] + Self.fields(isUrgent, actor))
        progress.poke()
        sources.poke()
        return try status(store.campaign(campaign.key) ?? campaign)
    }

    private static func refusal(
        _ answer: Reopening, of campaign: CampaignRecord, _ states: Set<DeliveryState>
    ) -> ControlError {
        let names = CampaignRound.names(of: states).joined(separator: " or ")
        let (context, hint): (String, String) =
            switch answer {
            case .opened, .nothingLeft:
                ("the campaign has no device that is \(names)", "nothing is left to send again")
            case .superseded:
                (
                    "the campaign was superseded and cannot be sent again",
                    "the campaign of the newer requirement reaches the same devices: retry that one"
                )
            case .withdrawn:
                (
                    "the campaign announces \(campaign.requirement.version), which was withdrawn",
                    "announce it again: another campaign notifies everybody then"
                )
            case .notRequired(let now?):
                (
                    "the campaign announces \(campaign.requirement.version), and \(now) counts now",
                    "retry the campaign of \(now)"
                )
            case .notRequired(nil):
                (
                    "the campaign announces \(campaign.requirement.version), which is not required any more",
                    "announce it again"
                )
            case .notOver(let state):
                (
                    "the campaign is \(state.rawValue), so that there is nothing to send again yet",
                    "only a campaign that is cancelled or completed can be retried"
                )
            case .pruned:
                (
                    "the campaign's deliveries were pruned, and it is not known any more which devices it left out",
                    "see store.keep"
                )
            }
        return ControlError(.wrongState, context: context, hint: hint)
    }

    /// nil where no reminder is configured or left.
    func nextReminder(of record: CampaignRecord, at now: Timestamp) -> Timestamp? {
        guard let route = routes()[record.app] else { return nil }
        switch record.reminder(route.reminders, at: now) {
        case .begin(let dueAt), .wait(let dueAt): return route.hours?.soonest(from: max(dueAt, now)) ?? dueAt
        case .over: return nil
        }
    }
}
