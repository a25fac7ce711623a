// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

/// Actions of tests on a store without a relay around it.
extension VersionStore {
    /// Like `decide(_:_:by:)`, for a campaign that is known by its key.
    @discardableResult
    package func move(_ campaign: CampaignKey, _ event: CampaignChange, at now: Timestamp) throws -> Bool
    where Self: CampaignStore {
        guard let record = try self.campaign(campaign) else { return false }
        return try decide(record, event, by: .relay(at: now))
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
