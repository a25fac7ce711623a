// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// Actions of tests on a store without a relay around it.
extension VersionStore {
    /// Like `decide(_:_:by:)`, for a campaign that is known by its key.
    @discardableResult
    package func move(_ campaign: CampaignKey, _ event: CampaignChange, at now: Timestamp) throws -> Bool
    where Self: CampaignStore {
        guard let record = try self.campaign(campaign) else { return false }
        return try decide(record, event, by: .relay(at: now))
    }

    /// Does what is due for an app that no store holds back.
    package func reconcile(_ app: AppKey, draft: CampaignDraft, at now: Timestamp) throws -> Decision {
        try reconcile(app, in: RequirementMachine.Surroundings(now: now, draft: draft))
    }

    /// Applies a bump without asking a store.
    ///
    /// - Parameter waitingReason: why versions of this app first wait for their gate; nil: they wait for nothing.
    package func apply(
        _ bump: VersionBump, actor: String, source: String, at now: Timestamp, draft: CampaignDraft?,
        waitingReason: String? = nil, receipt: WebhookReceipt?, render: @escaping (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        try apply(
            bump, by: Signature(by: Principal(actor, .token, via: source), at: now),
            in: .waiting(for: waitingReason, draft: draft, at: now), receipt: receipt, render: render)
    }
}

extension RequirementMachine.Surroundings {
    /// For an app whose versions wait for a store that only gives this reason; nil: they wait for none.
    package static func waiting(
        for reason: String?, draft: CampaignDraft?, at now: Timestamp
    ) -> RequirementMachine.Surroundings {
        RequirementMachine.Surroundings(now: now, gate: reason.map { _ in "store" }, draft: draft) { _ in
            reason.map { GateVerdict(.closed, $0) }
        }
    }
}
