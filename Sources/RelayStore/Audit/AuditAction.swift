// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// What the audit trail tells of. The raw values are in the store and on the wire.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
    case versionBump = "version.bump"
    case versionBlock = "version.block"
    case versionUnblock = "version.unblock"
    /// What an app requires was let through, whatever its store says.
    case versionRelease = "version.release"
    case versionWithdraw = "version.withdraw"
    case campaignPause = "campaign.pause"
    case campaignResume = "campaign.resume"
    /// It is sent whatever the hour.
    case campaignHurry = "campaign.hurry"
    /// It, or its next wave, was let begin.
    case campaignRelease = "campaign.release"
    case campaignCancel = "campaign.cancel"
    case campaignRetry = "campaign.retry"
    case alertSet = "alert.set"
    case alertClear = "alert.clear"
    case tokenCreate = "token.create"
    case tokenRevoke = "token.revoke"
    /// Somebody else's browser was signed out.
    case sessionEnd = "session.end"
    case deviceRemove = "device.remove"
    case userErase = "user.erase"
    case relayReload = "relay.reload"
    case logLevel = "log.level"
    /// A store that had gone back in time was taken on.
    case storeAccept = "store.accept"
    // What the relay makes of campaigns.
    case campaignCreate = "campaign.create"
    case campaignWait = "campaign.wait"
    case campaignBegin = "campaign.begin"
    case campaignWave = "campaign.wave"
    case campaignSuspend = "campaign.suspend"
    case campaignComplete = "campaign.complete"
    case campaignSupersede = "campaign.supersede"
    case campaignRemind = "campaign.remind"

    /// What a campaign's coming into a state is called.
    package init(_ state: CampaignState) {
        self =
            switch state {
            case .waiting: .campaignWait
            case .running: .campaignBegin
            case .paused: .campaignPause
            case .suspended: .campaignSuspend
            case .completed: .campaignComplete
            case .cancelled: .campaignCancel
            case .superseded: .campaignSupersede
            }
    }

    /// What a person's word about a campaign is called; nil: a person has no such word.
    package init?(_ change: CampaignChange) {
        switch change {
        case .paused: self = .campaignPause
        case .resumed: self = .campaignResume
        case .cancelled: self = .campaignCancel
        case .hurried: self = .campaignHurry
        case .suspended, .repaired, .stageBegan, .drained, .expired, .reopened: return nil
        }
    }
}
