// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import Requirements

/// The outcomes of a campaign over time.
package struct CampaignOutcomes: Hashable, Sendable {
    /// The length of each stretch of time.
    package var grain: Duration
    /// Ordered by time.
    package var counts: [OutcomeCount]

    package init(grain: Duration, counts: [OutcomeCount]) { (self.grain, self.counts) = (grain, counts) }

    /// The most devices of a campaign whose outcomes are counted: for more, a reader would wait for seconds.
    static let mostDevices: Int64 = 3_000_000
    /// Milliseconds for which one count serves all readers.
    static let interval: Int64 = 15_000

    /// A campaign in one state: a count from before its end does not serve after it.
    struct Key: Hashable, Sendable {
        var campaign: CampaignKey
        var state: CampaignState
    }
}

extension API {
    /// The campaign's outcomes over time, up to `CampaignOutcomes.interval` old; nil: it has not begun, or has too many devices.
    package func outcomes(of record: CampaignRecord) throws -> CampaignOutcomes? {
        guard let startedAt = record.facts.startedAt,
            record.figures.counts.audience <= CampaignOutcomes.mostDevices
        else { return nil }
        return try outcomeLooks.look(at: .init(campaign: record.key, state: record.state)) {
            let grain = OutcomeGrain.of((record.facts.finishedAt ?? now()) - startedAt)
            return CampaignOutcomes(grain: grain, counts: try store.outcomes(of: record.key, each: grain))
        }
    }
}
