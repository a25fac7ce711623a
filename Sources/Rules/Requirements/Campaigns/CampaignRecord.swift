// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// A campaign's key inside the store.
package struct CampaignKey: Hashable, Sendable, Comparable {
    package let row: Int64

    package init(row: Int64) {
        self.row = row
    }

    package static func < (left: CampaignKey, right: CampaignKey) -> Bool { left.row < right.row }
}

/// The configuration's part of a campaign, beside its requirement.
package struct CampaignDraft: Hashable, Sendable {
    /// Used where the version record carries no URL of its own.
    package var downloadURL: String?
    /// From the beginning of a stage until nothing is sent any more.
    package var timeToLive: Duration
    /// The shares of the users that it reaches one after the other; nil: all at once.
    package var waves: WavePlan?

    package init(downloadURL: String?, timeToLive: Duration, waves: WavePlan? = nil) {
        self.downloadURL = downloadURL
        self.timeToLive = timeToLive
        self.waves = waves
    }
}

/// A campaign as the store keeps it: the decisions about it, its requirement, and its results.
package struct CampaignRecord: Hashable, Sendable {
    /// The public id: twelve lower-case hex digits, random; the first 48 bits of each of its apns-ids.
    package var id: String
    package var app: AppKey
    package var facts: CampaignFacts
    /// The floor that it announces; for a block, the version to leave.
    package var requirement: Requirement
    package var figures = CampaignFigures()
    /// The version that is in force for everybody: its own, a newer one, or an older one for as long as it waits.
    package var inForce: Version?
    /// The newest version when the campaign was created.
    package var latest: Version?

    package init(id: String, app: AppKey, facts: CampaignFacts, requirement: Requirement) {
        self.id = id
        self.app = app
        self.facts = facts
        self.requirement = requirement
    }
}

extension CampaignRecord {
    package var key: CampaignKey { facts.key }
    package var state: CampaignState { facts.state }
    /// The campaign is sent outside its app's hours, too.
    package var isUrgent: Bool { facts.urgentAt != nil }

    /// nil where the bump named no telephones.
    package var canary: CampaignCanary? {
        guard requirement.canary != nil else { return nil }
        return CampaignCanary(
            requirement.reach == 0 ? .alone : .released, endedAt: figures.canaryEndedAt,
            releasedAt: figures.canaryReleasedAt)
    }
}
