// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
import UpgradeRules

/// The result of one step of putting devices in line.
package struct Gathered: Hashable, Sendable {
    package var progress: CampaignLifecycle.Gathering
    package var devices: Int64 = 0
    /// The services for which this step put devices in line.
    package var channels: Set<Channel> = []
    /// Whether devices that the campaign had never reached are pending again.
    package var opensShards = false

    package init(_ progress: CampaignLifecycle.Gathering) {
        self.progress = progress
    }
}

/// Campaigns that are sent again, to some of their devices.
package protocol RoundStore: Sendable {
    /// Opens a campaign that is over; for a reminder also a campaign with only retries left. The campaign then runs, or
    /// waits while its requirement is not in force. `expiresAt` is at least `timeToLive` away. `gather` puts the
    /// devices in line, which may take long and goes on after a restart. Changes nothing unless it returns `opened`.
    func reopen(_ campaign: CampaignKey, for draft: RoundDraft, by actor: Signature) throws -> Reopening

    /// Puts more devices in line, due now, in a transaction of about a thousand. When none is left, the devices that
    /// the campaign never reached become pending again. The counts follow.
    ///
    /// - Parameters:
    ///   - most: devices that may be retrying at a time.
    ///   - wants: for a reminder, whether this device gets one.
    func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered

    /// The campaign of the requirement that is in force for everybody; nil where there is none.
    func campaignInForce(of app: AppKey) throws -> CampaignRecord?
}
