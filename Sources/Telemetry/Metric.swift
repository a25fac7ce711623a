// SPDX-License-Identifier: Apache-2.0

/// One metric as Prometheus knows it: `MetricCatalogue` lists them all.
package struct Metric: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// Only rises, and begins at zero with the process. Ends in `_total`.
        case counter
        case gauge
        /// Seconds, in the buckets of `LatencyHistogram`.
        case histogram
    }

    /// With the unit in it: `_seconds`, `_bytes` ("Prometheus: Metric and label naming").
    package let name: String
    package let kind: Kind
    package let help: String
    /// Each has few values by nature: never a token, a telephone or a campaign.
    package let labels: [String]

    init(_ kind: Kind, _ name: String, _ labels: [String], _ help: String) {
        self.kind = kind
        self.name = name
        self.labels = labels
        self.help = help
    }

    init(_ kind: Kind, _ name: String, _ help: String) {
        self.init(kind, name, [], help)
    }

    /// The names of the series: a histogram has three.
    package var seriesNames: [String] {
        kind == .histogram ? ["\(name)_bucket", "\(name)_sum", "\(name)_count"] : [name]
    }
}
