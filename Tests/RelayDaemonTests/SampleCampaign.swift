// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension CampaignRecord {
    /// The campaign of version 2.0.0 of com.example.app on iOS, with its audience cut into shards.
    static func sample(
        _ state: CampaignState, _ counts: CampaignCounts, reason: String? = nil, at time: Timestamp
    ) throws -> CampaignRecord {
        var facts = CampaignFacts(
            key: CampaignKey(row: 1), requirement: 1, state: state, createdAt: time, expiresAt: time,
            timeToLive: .seconds(60), downloadURL: "https://example.com")
        (facts.startedAt, facts.reason) = (time, reason)
        var record = CampaignRecord(
            id: "1f0c2ab93d44", app: AppKey(app: "com.example.app", platform: .ios), facts: facts,
            requirement: Requirement(
                id: 1, kind: .required, version: try Version("2.0.0"), state: .inForce, isGated: false,
                changed: Signature(by: "alice", via: "cli", at: time)))
        (record.figures.counts, record.figures.isPlanned) = (counts, true)
        return record
    }
}
