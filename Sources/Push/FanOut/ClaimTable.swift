// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// The campaigns that this relay may claim, and when: among several relays, the one that sends least is the first to claim a campaign
/// that no relay sends. Pure: time and the store's answers are passed in.
struct ClaimTable {
    /// How often a relay looks for campaigns that other relays have left, even without a notification.
    static let fleetInterval = Duration.seconds(2)
    /// The delay before a free campaign is claimed, for each campaign that the relay sends already.
    private static let delay = Duration.milliseconds(20)

    /// The campaigns that ran at the last look, of apps with a route. If those that are being sent differ, the next look reads
    /// everything.
    private(set) var running: Set<CampaignKey> = []
    /// When a campaign may be claimed, if another relay may claim it first.
    private var due: [CampaignKey: MonotonicTime] = [:]

    /// All campaigns have to be claimed anew.
    mutating func forget() { due = [:] }

    /// A look has begun that found these campaigns to send, and that other relays send those.
    mutating func looked(_ open: some Sequence<CampaignKey>, of others: Set<CampaignKey>) {
        let open = Set(open)
        due = due.filter { open.contains($0.key) && !others.contains($0.key) }
        running = []
    }

    /// The campaign runs, whether or not this relay sends it now.
    mutating func runs(_ campaign: CampaignKey) { running.insert(campaign) }

    /// When the campaign may be claimed.
    ///
    /// - Parameter sent: the number of campaigns that the relay sends.
    mutating func opening(of campaign: CampaignKey, besides sent: Int, at now: MonotonicTime) -> MonotonicTime {
        let opening = due[campaign] ?? now + Self.delay * sent
        due[campaign] = opening
        return opening
    }

    /// The campaign was just stopped, another relay was faster, or another relay sends for its project and has yet to claim it.
    mutating func missed(_ campaign: CampaignKey, at now: MonotonicTime) { due[campaign] = now + Self.fleetInterval }

    mutating func claimed(_ campaign: CampaignKey) {
        due[campaign] = nil
        running.insert(campaign)
    }
}
