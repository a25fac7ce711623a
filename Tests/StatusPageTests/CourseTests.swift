// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import StatusPage

/// The lines over time, and the rows with the same numbers.
@Suite struct CourseTests {
    private static let start = Timestamp(seconds: 1_800_000_000)

    @Test func `Outcomes are a level for each stretch, and zero where nothing happened`() {
        func count(_ seconds: Int64, _ state: DeliveryState, _ devices: Int64) -> OutcomeCount {
            OutcomeCount(from: Self.start + .seconds(seconds), state: state, devices: devices)
        }
        let outcomes = CampaignOutcomes(
            grain: .seconds(10),
            counts: [
                count(0, .accepted, 100), count(0, .filtered, 7), count(0, .rejected, 5), count(30, .accepted, 50),
            ])
        // It began within a stretch.
        let course = OutcomeCourse(outcomes, from: Self.start + .seconds(4))
        #expect(course.kinds == [.accepted, .rejected], "a device without a push is none of them")
        #expect(course.seconds == 40)
        #expect(course.stretches.map(\.total) == [105, 50])
        let line = course.line(of: .accepted).map { [$0.x, $0.y] }
        #expect(line == [[0, 0], [0, 10], [10, 10], [10, 0], [30, 0], [30, 5], [40, 5]])
        #expect(course.line(of: .rejected).map(\.y).max() == 0.5)
        let none = OutcomeCourse(CampaignOutcomes(grain: .seconds(1), counts: []), from: Self.start)
        #expect(none.kinds.isEmpty && none.stretches.isEmpty && none.seconds == 1)
    }

    @Test func `Answers are a level for each stretch, from the campaign's beginning`() {
        func stretch(_ seconds: Int64, _ length: Int64, _ milliseconds: Int64) -> LatencyStretch {
            var latency = LatencyHistogram()
            for _ in 0..<4 { latency.add(.milliseconds(milliseconds)) }
            return LatencyStretch(from: Self.start + .seconds(seconds), length: .seconds(length), latency: latency)
        }
        let lines = LatencyLines([stretch(0, 10, 30), stretch(30, 60, 100)], from: Self.start + .seconds(3))
        #expect(lines.seconds == 90)
        // Half way between 16 and 32, and between 64 and 128.
        #expect(lines.line(of: 0.5).map { [$0.x, $0.y] } == [[0, 24], [10, 24], [30, 96], [90, 96]])
        let none = LatencyLines([], from: Self.start)
        #expect(none.seconds == 1 && none.line(of: 0.5).isEmpty)
    }

    private static func record(upgraded: Int64) throws -> CampaignRecord {
        var facts = CampaignFacts(
            key: CampaignKey(row: 1), requirement: 1, state: .running, createdAt: start, expiresAt: start,
            timeToLive: .seconds(60), downloadURL: "https://example.com")
        facts.startedAt = start
        var record = CampaignRecord(
            id: "1f0c2ab93d44", app: AppKey(app: "com.example.app", platform: .ios), facts: facts,
            requirement: Requirement(
                id: 1, kind: .required, version: try Version("2.0.0"), state: .inForce, isGated: false,
                changed: Signature(by: "alice", via: "cli", at: start)))
        record.figures.counts.accepted = 200
        record.figures.upgraded = upgraded
        return record
    }

    @Test func `A release's curve begins with it, and has no share of an age that it did not reach`() throws {
        let points = [(60, 10), (7200, 50), (90_000, 80), (200_000, 90)].map {
            AdoptionPoint(at: Self.start + .seconds(Int64($0.0)), upgraded: Int64($0.1))
        }
        let record = try Self.record(upgraded: 120)
        let old = ReleaseCurve(record, points, until: Self.start + .seconds(100_000), isNewest: false)
        #expect(ReleaseCurve.ages.map { old.upgraded(after: $0) } == [10, 50, nil, nil])
        #expect(old.points.last?.upgraded == 80, "what came after the next release began is not its own")
        #expect(old.line.first == LineChart.Point(x: 0, y: 0) && old.line.last == LineChart.Point(x: 100_000, y: 0.4))
        let new = ReleaseCurve(record, points, until: Self.start + .seconds(300_000), isNewest: true)
        #expect(new.points.last?.upgraded == 120 && new.line.last?.y == 0.6)
        #expect(new.seconds == 300_000)
    }

    @Test func `Versions are shares that hold until the next count, with the rises since the first one`() throws {
        let (one, two) = (try Version("1.0"), try Version("2.0"))
        func count(_ hours: Int64, _ new: Int64, _ old: Int64) -> VersionCount {
            VersionCount(
                at: Self.start + .seconds(hours * 3600),
                rows: [.init(version: two, devices: new), .init(version: one, devices: old)].filter { $0.devices > 0 },
                others: 0, unknown: 10)
        }
        func change(_ hours: Int64, _ required: Version?) -> InForceChange {
            let rows = required.map {
                Requirement(
                    id: 1, kind: .required, version: $0, state: .inForce, isGated: false,
                    changed: Signature(by: "alice", via: "cli", at: Self.start))
            }
            return InForceChange(
                inForce: InForce(Requirements(rows.map { [$0] } ?? [])), at: Self.start + .seconds(hours * 3600),
                actor: "alice", source: "cli")
        }
        let lines = VersionLines(
            [count(0, 0, 90), count(2, 40, 50)], [change(1, two), change(-5, one)],
            until: Self.start + .seconds(4 * 3600))
        #expect(lines.versions == [two, one])
        #expect(lines.rises == [VersionLines.Rise(at: Self.start + .seconds(3600), version: two)])
        #expect(lines.seconds == 4 * 3600)
        let line = lines.line { $0.devices(of: two) }.map { [$0.x, $0.y] }
        #expect(line == [[0, 0], [7200, 0], [7200, 0.4], [14_400, 0.4]])
        #expect(lines.line(lines.rest).map(\.y) == [0.1, 0.1, 0.1, 0.1])
        let none = VersionLines([], [change(1, two)], until: nil)
        #expect(none.counts.isEmpty && none.rises.isEmpty && none.line(none.rest).isEmpty)
    }

    @Test func `A chart draws what the style sheet tells apart, within its frame`() {
        let chart = LineChart(
            title: "t",
            series: (0..<9).map { number in
                LineChart.Series(
                    name: "s\(number)", points: [.init(x: -5, y: -1), .init(x: 1, y: .infinity), .init(x: 99, y: 3)])
            }, end: 10, endLabel: "e", label: { "\($0)" }, top: 2)
        #expect(chart.lines.count == LineChart.mostSeries)
        #expect(Set(chart.lines) == ["64,140 116,14 590,14"])
        let empty = LineChart(title: "t", series: [], end: 0, endLabel: "", label: { "\($0)" })
        #expect(empty.lines.isEmpty)
    }
}
