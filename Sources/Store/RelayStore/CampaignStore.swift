// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
import UpgradeRules

/// The right to send a campaign and to record its outcomes. The owner has it until there is another owner.
package struct RunLease: Hashable, Sendable {
    package var campaign: CampaignKey
    package var owner: Int64
    /// Rises by one with each new owner.
    package var epoch: Int64
    /// The number of the last commit that is known to be recorded. The next commit carries the number after it.
    package var commits: Int64

    package init(campaign: CampaignKey, owner: Int64, epoch: Int64, commits: Int64) {
        self.campaign = campaign
        self.owner = owner
        self.epoch = epoch
        self.commits = commits
    }
}

extension CampaignStore {
    /// Claims a campaign that uses no project's quota.
    package func claimRun(_ campaign: CampaignKey) throws -> RunLease? { try claimRun(campaign, project: nil) }
}

/// Campaigns and their shards.
package protocol CampaignStore: Sendable {
    func campaign(_ key: CampaignKey) throws -> CampaignRecord?
    func campaign(id: String) throws -> CampaignRecord?

    /// Newest first, from before `before` (exclusive; nil: from the newest), at most `limit`.
    func campaigns(before: CampaignKey?, limit: Int) throws -> [CampaignRecord]

    /// The push services' answers to the app's last `count` campaigns before this one.
    func answers(
        of app: AppKey, before campaign: CampaignKey, campaigns count: Int
    ) throws -> (accepted: Int64, unregistered: Int64)

    /// The campaigns whose state is not final, oldest first.
    func openCampaigns() throws -> [CampaignRecord]

    /// Cuts the audience into shards of about `shardSize` devices and counts them. Does nothing the second time.
    ///
    /// Each shard has the devices of one channel; there is none for a channel without devices. A device stays with the
    /// shard that it was counted in, even if its environment changes before its turn: each is read exactly once. Where
    /// no other campaign of the app is under way, devices whose environment has changed are counted in their present
    /// one. A campaign that is over, but may be opened again, then gets a ledger row for each such device that its
    /// shards no longer cover: due at once or, where the campaign's remaining devices were given an outcome, with that
    /// outcome.
    ///
    /// The audience is every device registered at this moment for the campaign's app, dead ones included (they are
    /// `filtered` with a reason), removed ones not.
    ///
    /// - Parameter waves: the shares of the users, one after the other; the first wave begins now. nil: no waves. The
    ///   shards of a wave are smaller in proportion to its share.
    func planShards(_ campaign: CampaignKey, shardSize: Int, waves: WavePlan?, at now: Timestamp) throws

    /// Puts the devices of a canary in line, due now. Leaves out those that already have a row in the ledger, so it may
    /// be called again. The audience is cut into shards when the canary is released.
    func lineUpCanary(_ campaign: CampaignKey, at now: Timestamp) throws

    /// Counts all pending and retrying devices as `expired` and completes the campaign.
    func expireCampaign(_ campaign: CampaignKey, at now: Timestamp) throws

    /// Notes that each device of the canary has its outcome. Does nothing the second time.
    func endCanary(_ campaign: CampaignKey, at now: Timestamp) throws

    /// The channels that have an unfinished shard, in any wave, or a retry of the campaign.
    func channels(of campaign: CampaignKey) throws -> Set<Channel>

    /// Takes over a running campaign that no other relay sends. From then on, only this relay's outcomes for it are
    /// recorded.
    ///
    /// - Parameter project: the project whose quota the campaign uses: only one relay at a time may send for it; nil:
    ///   none.
    /// - Returns: nil where the campaign does not run, or another relay sends it or sends for its project.
    func claimRun(_ campaign: CampaignKey, project: String?) throws -> RunLease?

    /// Gives a campaign back. Does nothing where it already has another owner.
    func releaseRun(_ lease: RunLease) throws

    /// The unfinished shards of one channel, of waves that have begun, lowest numbers first.
    func openShards(_ campaign: CampaignKey, channel: Channel) throws -> [ShardRange]

    /// Completes a running campaign with every shard done and nothing retrying; false otherwise.
    func completeIfDone(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool

    /// Notes that each device of the current wave has an outcome. Does nothing the second time, or where the campaign
    /// does not run: a campaign that was just superseded leaves out its remaining devices, and may go on later with the
    /// wave unfinished.
    ///
    /// - Returns: whether it was noted.
    @discardableResult
    func endWave(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool

    /// Begins the wave after the current one, which must be over; otherwise does nothing. The requirement is in force
    /// for the wave's users from then on.
    func beginNextWave(_ campaign: CampaignKey, at now: Timestamp) throws

    /// Moves a running campaign to `.suspended` until an operator lets its next wave begin; false where it is not running.
    func holdWave(
        _ campaign: CampaignKey, _ cause: SuspensionCause, reason: String, at now: Timestamp
    ) throws -> Bool

    /// Lets the next wave of a running campaign begin without a pause; false where no wave waits for its time.
    ///
    /// - Parameter isUrgent: whether the campaign is sent at any hour from then on.
    func releaseWave(_ campaign: CampaignKey, isUrgent: Bool, by actor: Signature) throws -> Bool
}
