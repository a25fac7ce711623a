// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The figures of a campaign until now.
package struct CampaignFigures: Hashable, Sendable {
    /// Whether the audience has been cut into shards; before that, `counts.pending` is the registry's own count.
    package var isPlanned = false
    package var counts = CampaignCounts()
    package var filteredBy: [FilterReason: Int64] = [:]
    package var rejectedBy: [String: Int64] = [:]
    /// Only channels whose push service has answered.
    package var channels: [Channel: ChannelAnswers] = [:]
    /// Devices that have the version, or a newer one, since it was announced.
    package var upgraded: Int64 = 0
    /// How the upgraded devices had been reached.
    package var reach = CampaignReach()
    /// Empty before the audience is cut into shards, and in a campaign without waves.
    package var waves = CampaignWaves()
    /// The rounds for which the campaign was opened again, in their order.
    package var rounds: [CampaignRound] = []
    /// When the last device of its canary had its outcome.
    package var canaryEndedAt: Timestamp?
    /// When its canary was released, as far as that is known.
    package var canaryReleasedAt: Timestamp?

    package init() {}

    /// Takes over a row of `campaign_reason`.
    package mutating func note(_ kind: String, _ reason: String, _ devices: Int64) {
        if kind == "rejected" {
            rejectedBy[reason] = devices
        } else if kind == "channel" {
            if let (channel, state) = ChannelAnswers.read(reason) {
                channels[channel, default: ChannelAnswers()][state] = devices
            }
        } else if let reason = FilterReason(rawValue: reason) {
            filteredBy[reason] = devices
        }
    }
}
