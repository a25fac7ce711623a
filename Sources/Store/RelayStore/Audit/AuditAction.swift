// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The actions that the audit trail records. The raw values are in the store and on the wire.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
    case versionBump = "version.bump"
    case versionBlock = "version.block"
    case versionUnblock = "version.unblock"
    /// An app's requirement was let through, whatever its store offers.
    case versionRelease = "version.release"
    case versionWithdraw = "version.withdraw"
    case campaignPause = "campaign.pause"
    case campaignResume = "campaign.resume"
    /// The campaign is sent at any hour.
    case campaignHurry = "campaign.hurry"
    /// The campaign, or its next wave, was allowed to begin.
    case campaignRelease = "campaign.release"
    case campaignCancel = "campaign.cancel"
    case campaignRetry = "campaign.retry"
    /// An act was asked for, and waits for a second person.
    case approvalAsk = "approval.ask"
    case approvalApprove = "approval.approve"
    case approvalRefuse = "approval.refuse"
    /// One person did an act that wants two, in an emergency.
    case approvalAlone = "approval.alone"
    case alertSet = "alert.set"
    case alertClear = "alert.clear"
    case tokenCreate = "token.create"
    case tokenRevoke = "token.revoke"
    /// Another person's browser was signed out.
    case sessionEnd = "session.end"
    case deviceRemove = "device.remove"
    case userErase = "user.erase"
    case relayReload = "relay.reload"
    case logLevel = "log.level"
    /// A store that had gone back in time was accepted.
    case storeAccept = "store.accept"
    // The relay's own actions on campaigns.
    case campaignCreate = "campaign.create"
    case campaignWait = "campaign.wait"
    case campaignBegin = "campaign.begin"
    case campaignWave = "campaign.wave"
    case campaignSuspend = "campaign.suspend"
    case campaignComplete = "campaign.complete"
    case campaignSupersede = "campaign.supersede"
    case campaignRemind = "campaign.remind"

    /// The action that brings a campaign into a state.
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
}
