// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import UpgradeRules
import VersionSources

/// Requirements and campaigns, as the API asks for them.
extension DaemonControl {
    func bump(
        _ bump: VersionBump, actor: String, source: String, receipt: WebhookReceipt?,
        render: (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        try requirements.bump(bump, actor: actor, source: source, receipt: receipt, render: render)
    }

    func plan(_ bump: VersionBump) throws -> PlanReport { try requirements.plan(bump) }

    func status(_ record: CampaignRecord) -> CampaignStatus { requirements.status(record) }

    func wait(of record: VersionRecord) -> GateVerdict? { requirements.wait(of: record) }

    func pause(campaign id: String, by actor: String) throws -> CampaignStatus {
        try requirements.pause(campaign: id, by: actor)
    }

    func resume(campaign id: String, by actor: String) throws -> CampaignStatus {
        try requirements.resume(campaign: id, by: actor)
    }

    func cancel(campaign id: String, by actor: String) throws -> CampaignStatus {
        try requirements.cancel(campaign: id, by: actor)
    }

    func release(campaign id: String, by actor: String) throws -> CampaignStatus {
        try requirements.release(campaign: id, by: actor)
    }

    func retry(campaign id: String, states: Set<DeliveryState>, by actor: String) throws -> CampaignStatus {
        try requirements.retry(campaign: id, states: states, by: actor)
    }

    func release(app: AppKey, by actor: String) throws -> VersionRecord {
        try requirements.release(app: app, by: actor)
    }

    func withdraw(_ required: Version, of app: AppKey, by actor: String, reason: String?) throws -> Withdrawal {
        try requirements.withdraw(required, of: app, by: actor, reason: reason)
    }
}
