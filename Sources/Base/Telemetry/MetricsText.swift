// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Prometheus' text format, version 0.0.4 (prometheus.io, "Exposition formats"). Pure.
package struct MetricsText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""
    private var written: Set<String> = []

    package init() {
        text.reserveCapacity(32 * 1024)
    }

    /// One value for each combination of labels, in the order of the metric's labels.
    package mutating func write(_ metric: Metric, _ samples: [(labels: [String], value: Double)]) {
        precondition(metric.kind != .histogram, "\(metric.name) is a histogram")
        head(metric)
        for sample in samples { line(metric.name, metric.labels, sample.labels, sample.value) }
    }

    package mutating func write(_ metric: Metric, _ value: Double) {
        write(metric, [([], value)])
    }

    /// The sample is left out where the value is not known.
    package mutating func write(_ metric: Metric, _ value: Double?) {
        write(metric, value.map { [([], $0)] } ?? [])
    }

    package mutating func write(
        _ metric: Metric, _ histograms: [(labels: [String], histogram: LatencyHistogram)]
    ) {
        precondition(metric.kind == .histogram, "\(metric.name) is no histogram")
        head(metric)
        for (values, histogram) in histograms {
            for (bound, count) in zip(LatencyHistogram.bounds, histogram.cumulative) {
                line("\(metric.name)_bucket", metric.labels + ["le"], values + ["\(bound)"], Double(count))
            }
            line("\(metric.name)_bucket", metric.labels + ["le"], values + ["+Inf"], Double(histogram.count))
            line("\(metric.name)_sum", metric.labels, values, histogram.seconds)
            line("\(metric.name)_count", metric.labels, values, Double(histogram.count))
        }
    }

    // MARK: Lines

    /// "Only one TYPE line may exist for a given metric name", and all its samples follow it as one group.
    private mutating func head(_ metric: Metric) {
        precondition(written.insert(metric.name).inserted, "\(metric.name) is written twice")
        text += "# HELP \(metric.name) \(Self.escaped(metric.help, quotes: false))\n"
        text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
    }

    private mutating func line(_ name: String, _ labels: [String], _ values: [String], _ value: Double) {
        precondition(labels.count == values.count, "\(name) takes a value for each of \(labels)")
        text += name
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                text += "\(index == 0 ? "" : ",")\(label)=\"\(Self.escaped(values[index], quotes: true))\""
            }
            text += "}"
        }
        text += " \(Self.number(value))\n"
    }

    /// "label_value can be any sequence of UTF-8 characters, but the backslash, double-quote, and line feed characters have
    /// to be escaped"; in HELP only backslash and line feed.
    private static func escaped(_ value: String, quotes: Bool) -> String {
        guard value.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return value }
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\"" where quotes: text += "\\\""
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        if value.isNaN { return "NaN" }
        return value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)"
    }
}
