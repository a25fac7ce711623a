// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements

/// A campaign's outcomes over time: how many a second, by kind.
extension View {
    func outcomes(_ html: inout HTML, _ record: CampaignRecord) throws {
        html.tag("h2", [.id("time-title")], text: say("Over time"))
        guard let outcomes = try api.outcomes(of: record), let start = record.facts.startedAt else {
            return html.tag("p", [.class("quiet")], text: say("Nothing yet."))
        }
        let course = OutcomeCourse(outcomes, from: start)
        guard !course.kinds.isEmpty else {
            return html.tag("p", [.class("quiet")], text: say("Nothing yet."))
        }
        let grain = outcomes.grain.milliseconds / 1000
        let chart = LineChart(
            title: say("Outcomes a second"),
            series: course.kinds.map { state in
                LineChart.Series(name: word(state), points: course.line(of: state))
            },
            end: course.seconds, endLabel: "+\(duration(seconds: Int64(course.seconds)))", label: rate)
        chart.draw(&html, id: "chart-time", self) { html in
            html.table(
                say("Outcomes in each % from the time", duration(seconds: grain)),
                [say("When")] + course.kinds.map(word) + [say("A second")], isCaptionShown: true
            ) { html in
                for stretch in course.stretches.suffix(OutcomeCourse.mostRows) {
                    let texts =
                        course.kinds.map { number(stretch.devices[$0] ?? 0) }
                        + [rate(Double(stretch.total) / Double(grain))]
                    html.row({ $0.time(stretch.from) }, texts.map { text in { $0.text(text) } })
                }
            }
        }
        html.tag(
            "p", [.class("hint")],
            text: say("A device counts at its last outcome. Outcomes are recorded a moment after the answers."))
    }

    /// "1,200", "0.5".
    private func rate(_ value: Double) -> String {
        if value >= 10 || value == 0 { return number(Int64(value.rounded())) }
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }
}

/// Outcomes over time as lines and rows. Pure.
struct OutcomeCourse {
    struct Stretch: Equatable {
        var from: Timestamp
        var devices: [DeliveryState: Int64]

        var total: Int64 { devices.values.reduce(0, +) }
    }

    /// The most rows of the table: the last ones.
    static let mostRows = 120
    /// The outcomes that an answer, or its absence, gives a push. A filtered device has no push.
    private static let states: [DeliveryState] = [.accepted, .rejected, .unregistered, .retrying, .expired]

    /// Those that occur.
    let kinds: [DeliveryState]
    /// Those in which anything happened, in order of time.
    let stretches: [Stretch]
    /// From the beginning to the end of the last stretch.
    let seconds: Double
    private let grain: Duration
    private let start: Timestamp

    init(_ outcomes: CampaignOutcomes, from start: Timestamp) {
        let counts = outcomes.counts.filter { Self.states.contains($0.state) }
        grain = outcomes.grain
        // The stretch that the campaign began in.
        let width = max(grain.milliseconds, 1)
        self.start = Timestamp(milliseconds: start.milliseconds / width * width)
        kinds = Self.states.filter { state in counts.contains { $0.state == state } }
        stretches = Dictionary(grouping: counts, by: \.from).sorted { $0.key < $1.key }.map { from, counts in
            Stretch(from: from, devices: Dictionary(counts.map { ($0.state, $0.devices) }, uniquingKeysWith: +))
        }
        let end = (stretches.last?.from ?? self.start) + grain
        seconds = max(Double((end - self.start).milliseconds) / 1000, 1)
    }

    /// The outcomes a second of one kind: a level for each stretch, 0 where nothing happened.
    func line(of state: DeliveryState) -> [LineChart.Point] {
        let width = Double(grain.milliseconds) / 1000
        var (points, last) = ([LineChart.Point(x: 0, y: 0)], 0.0)
        for stretch in stretches {
            let x = Double((stretch.from - start).milliseconds) / 1000
            let y = Double(stretch.devices[state] ?? 0) / width
            if x > last { points += [LineChart.Point(x: last, y: 0), LineChart.Point(x: x, y: 0)] }
            points += [LineChart.Point(x: x, y: y), LineChart.Point(x: x + width, y: y)]
            last = x + width
        }
        return points
    }
}
