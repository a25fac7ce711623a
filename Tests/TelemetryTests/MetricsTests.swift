// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import Telemetry
import Testing

@Suite struct MetricsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    // MARK: The histogram

    @Test(arguments: [
        (0, 0), (1, 0), (500_000, 0), (500_001, 1), (1_000_000, 1), (1_000_001, 2), (2_000_000, 2), (3_000_000, 3),
        (32_768_000_000, 16), (32_768_000_001, 17), (.max, 17),
    ])
    func aDurationFallsIntoTheFirstBucketThatHoldsIt(nanoseconds: UInt64, bucket: Int) {
        var histogram = LatencyHistogram()
        histogram.add(nanoseconds: nanoseconds)
        #expect(histogram.count == 1)
        #expect(histogram.cumulative == (0..<17).map { $0 >= bucket ? 1 : 0 })
    }

    @Test func boundsAreWhatTheBucketsHold() {
        #expect(LatencyHistogram.bounds.first == 0.0005)
        #expect(LatencyHistogram.bounds.last == 32.768)
        for (index, bound) in LatencyHistogram.bounds.enumerated() {
            var histogram = LatencyHistogram()
            histogram.add(.nanoseconds(Int64((bound * 1e9).rounded())))
            #expect(histogram.cumulative[index] == 1)
            #expect(index == 0 || histogram.cumulative[index - 1] == 0)
            #expect(histogram.seconds == bound)
        }
    }

    @Test func aClockThatStandsStillCountsAsNothing() {
        var histogram = LatencyHistogram()
        histogram.add(.nanoseconds(-4))
        #expect(histogram.seconds == 0 && histogram.cumulative.first == 1)
    }

    // MARK: The text

    @Test func valuesAreWrittenAsPrometheusReadsThem() {
        var text = MetricsText()
        text.write(Metric.sourceFailures, [(["a\"b\\c\nd", "ios", ""], 3), (["e", "ios", "x"], 0.25)])
        text.write(Metric.startTime, nil)
        text.write(Metric.databaseBytes, 12_345_678_901)
        let metric = "upgrade_relay_source_failures_total"
        #expect(
            text.text == """
                # HELP \(metric) Looks at a source of versions that failed.
                # TYPE \(metric) counter
                \(metric){app="a\\"b\\\\c\\nd",platform="ios",source=""} 3
                \(metric){app="e",platform="ios",source="x"} 0.25
                # HELP process_start_time_seconds When the process began, since 1970.
                # TYPE process_start_time_seconds gauge
                # HELP upgrade_relay_store_database_bytes Size of the database file.
                # TYPE upgrade_relay_store_database_bytes gauge
                upgrade_relay_store_database_bytes 12345678901

                """)
    }

    @Test func aHistogramHasItsBucketsItsSumAndItsCount() {
        var histogram = LatencyHistogram()
        histogram.add(.milliseconds(1))
        histogram.add(.seconds(60))
        var text = MetricsText()
        text.write(Metric.latency, [(["0"], histogram)])
        let lines = text.text.split(separator: "\n").dropFirst(2)
        let name = "upgrade_relay_push_latency_seconds"
        #expect(lines.count == 20)
        #expect(lines.first == "\(name)_bucket{lane=\"0\",le=\"0.0005\"} 0")
        #expect(lines.contains("\(name)_bucket{lane=\"0\",le=\"0.001\"} 1"))
        #expect(lines.contains("\(name)_bucket{lane=\"0\",le=\"32.768\"} 1"))
        #expect(
            lines.suffix(3) == [
                "\(name)_bucket{lane=\"0\",le=\"+Inf\"} 2", "\(name)_sum{lane=\"0\"} 60.001",
                "\(name)_count{lane=\"0\"} 2",
            ])
    }

    // MARK: The catalogue

    @Test func namesKeepPrometheusConventions() {
        let bounded: Set = [
            "app", "platform", "state", "reason", "cause", "outcome", "lane", "code", "environment", "source", "method",
            "route", "status", "kind", "result", "version", "level", "receiver",
            "reached", "required", "in_force", "announced",
        ]
        for metric in Metric.allCases {
            #expect(metric.name.wholeMatch(of: /(upgrade_relay|process)_[a-z0-9_]*[a-z0-9]/) != nil, "\(metric.name)")
            #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"), "\(metric.name)")
            if metric.kind == .histogram { #expect(metric.name.hasSuffix("_seconds"), "\(metric.name)") }
            for unit in ["millisecond", "minute", "kilobyte", "megabyte", "_ms", "percent"] {
                #expect(!metric.name.contains(unit), "\(metric.name): seconds and bytes")
            }
            #expect(bounded.isSuperset(of: metric.labels), "\(metric.name) \(metric.labels)")
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("|"), "\(metric.name)")
        }
    }

    /// A process counts its own events; the store's figures are the same at every relay.
    @Test func countersAreOfARelayAndWhatTheStoreHoldsIsNot() {
        for metric in Metric.allCases where metric.kind != .gauge { #expect(metric.scope == .relay, "\(metric.name)") }
        let ofStore: [Metric] = [
            .campaignsByState, .devices, .pending, .versionInfo, .relaysAlive, .campaignsUnclaimed,
        ]
        for metric in ofStore { #expect(metric.scope == .store, "\(metric.name)") }
        for metric: Metric in [.inFlight, .leads, .campaignsOwned, .leaseLeft] {
            #expect(metric.scope == .relay, "\(metric.name)")
        }
    }

    @Test func theTableHasARowForEachAndForNoOther() {
        #expect(Set(Metric.table.keys) == Set(Metric.allCases.map(\.name)))
    }

    /// A name without a metric would make a panel empty and an alert silent.
    @Test(arguments: [
        "etc/grafana/upgrade-relay.json", "etc/prometheus/upgrade-relay.rules.yml",
        "etc/prometheus/upgrade-relay.rules.test.yml",
    ])
    func everyMetricThatIsNamedExists(path: String) throws {
        let known = Set(
            Metric.allCases.flatMap { metric in
                metric.kind == .histogram ? ["bucket", "sum", "count"].map { "\(metric.name)_\($0)" } : [metric.name]
            })
        let text = try Self.file(path)
        let named = Set(text.matches(of: /\b(?:upgrade_relay|process)_[a-z0-9_]+/).map { String($0.output) })
        #expect(named.count >= 5)
        #expect(named.subtracting(known) == [])
    }

    /// FAULTS part 4: no panel answered the questions that an operator has in a release night.
    @Test func theDashboardShowsWhoMustUpgradeAndWhatIsWaitedFor() throws {
        let text = try Self.file("etc/grafana/upgrade-relay.json")
        for metric: Metric in [
            .devicesUpgraded, .devicesToUpgrade, .devicesTold, .versionInfo, .requirementWaiting, .enforced,
            .certificateLeft, .waits,
        ] {
            #expect(text.contains("\(metric.name){"), "\(metric.name)")
        }
    }

    @Test func theDashboardIsJSON() throws {
        let json = try JSONSerialization.jsonObject(with: Data(Self.file("etc/grafana/upgrade-relay.json").utf8))
        let panels = try #require((json as? [String: Any])?["panels"] as? [[String: Any]])
        #expect(panels.count >= 15)
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        for panel in panels where panel["type"] as? String != "row" {
            let title = panel["title"] as? String ?? ""
            let targets = panel["targets"] as? [[String: Any]] ?? []
            #expect(!title.isEmpty && !targets.isEmpty, "\(title)")
            #expect((panel["description"] as? String)?.isEmpty == false, "\(title) does not say what to look for")
        }
    }
}
