// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import WireFormat

/// How long the push services took to answer a campaign's requests, in all and over time.
package struct CampaignLatency: Sendable {
    /// In order of time.
    package let stretches: [LatencyStretch]
    package let all: LatencyHistogram

    /// nil where nothing was answered.
    package init?(_ stretches: [LatencyStretch]) {
        var all = LatencyHistogram()
        for stretch in stretches { all.add(stretch.latency) }
        guard all.count > 0 else { return nil }
        (self.stretches, self.all) = (stretches, all)
    }

    /// The shares of answers whose times are shown.
    package static let shares: [(name: String, share: Double)] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)]

    static let shape = Shape<CampaignLatency>(
        "CampaignLatency", "The times from sending a request to the push service's answer, over time.",
        [
            times.members { $0.all },
            .list(.items, of: LatencyStretch.shape, "Ascending; without those in which nothing was answered.") {
                $0.stretches
            },
        ])

    fileprivate static let times = Shape<LatencyHistogram>([
        .member(.answers, .count, "Answered requests; one may carry many pushes.") { Int64($0.count) },
        time(.p50Ms, 0.5, "Half of the answers came within this time, in milliseconds."),
        time(.p90Ms, 0.9, "90 % of them."),
        time(.p99Ms, 0.99, "99 % of them. Times are estimated within buckets that double from 0.5 ms to 32.768 s."),
    ])

    private static func time(_ field: Field, _ share: Double, _ text: String) -> ShapeMember<LatencyHistogram> {
        .member(field, .decimal, text) { latency in
            JSONDecimal(of: Double(latency.quantile(share)?.nanoseconds ?? 0) / 1e6, places: 1)
        }
    }
}

extension LatencyStretch {
    static let shape = Shape<LatencyStretch>(
        "LatencyStretch", "The answers of one stretch of time.",
        [
            .member(.from, .instant, "Its beginning.") { $0.from },
            .member(.seconds, .count, "Its length.") { $0.length.milliseconds / 1000 },
            CampaignLatency.times.members { $0.latency },
        ])
}

extension API {
    /// The campaign's answers over time, in as many stretches as its outcomes have; nil: nothing was answered, or it was pruned.
    package func latency(of record: CampaignRecord) throws -> CampaignLatency? {
        let grain = OutcomeGrain.of((record.facts.finishedAt ?? now()) - record.begunAt)
        return CampaignLatency(LatencyCourse.merged(try store.latency(of: record.key), over: grain))
    }
}
