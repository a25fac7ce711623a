// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The versions of an app's devices over weeks: a line for each version, and the same numbers as a table.
extension View {
    func course(_ html: inout HTML, _ lines: VersionLines) {
        guard !lines.counts.isEmpty else {
            return html.tag(
                "p", [.class("quiet")],
                text: say("No count is kept yet: the relay counts every hour, first a minute after its start."))
        }
        let title = say("Share of each version over time")
        let chart = LineChart(
            title: title,
            series: lines.versions.map { version in
                LineChart.Series(name: version.text, points: lines.line { $0.devices(of: version) })
            } + [LineChart.Series(name: say("All others"), points: lines.line(lines.rest))],
            end: lines.seconds, endLabel: "+\(duration(seconds: Int64(lines.seconds)))",
            label: { "\(Int64(($0 * 100).rounded())) %" }, top: 1,
            marks: lines.rises.map { rise in
                LineChart.Mark(x: lines.x(rise.at), label: say("% is required", rise.version.text))
            })
        chart.draw(&html, id: "chart-versions", self) { html in
            html.table(
                title,
                [say("When")] + lines.versions.map(\.text) + [say("All others"), say("Devices")], isCaptionShown: true
            ) { html in
                var rises = lines.rises[...]
                for count in lines.counts {
                    while let rise = rises.first, rise.at <= count.at {
                        row(&html, rise, of: lines)
                        rises.removeFirst()
                    }
                    let texts =
                        (lines.versions.map { count.devices(of: $0) } + [lines.rest(count)])
                        .map { percent($0, of: count.devices) } + [number(count.devices)]
                    html.row({ $0.time(count.at) }, texts.map { text in { $0.text(text) } })
                }
                for rise in rises { row(&html, rise, of: lines) }
            }
        }
    }

    /// A row that says which version was required from then on.
    private func row(_ html: inout HTML, _ rise: VersionLines.Rise, of lines: VersionLines) {
        let text = say("% is required", rise.version.text)
        let cells = Array(repeating: "", count: lines.versions.count + 1) + [text]
        html.row({ $0.time(rise.at) }, cells.map { text in { $0.text(text) } })
    }
}

/// The shares of an app's versions over time, and the moments at which more was required of everybody. Pure.
struct VersionLines {
    struct Rise: Equatable {
        var at: Timestamp
        var version: Version
    }

    /// Those that are drawn, in order of time.
    let counts: [VersionCount]
    /// Those with a line of their own, the newest first.
    let versions: [Version]
    /// In order of time, from the first count on.
    let rises: [Rise]
    /// When the versions were counted last.
    let end: Timestamp

    /// - Parameters:
    ///   - counts: in order of time.
    ///   - changes: of what is in force for everybody, the last one first.
    ///   - countedAt: when the versions were counted last; nil: with the last of `counts`. A count like the one before is
    ///     not kept.
    init(_ counts: [VersionCount], _ changes: [InForceChange], until countedAt: Timestamp?) {
        self.counts = VersionCourse.shown(counts)
        let last = counts.last?.at ?? Timestamp(milliseconds: 0)
        end = max(countedAt ?? last, last)
        // The last line is that of all others.
        versions = VersionCourse.leading(self.counts, most: LineChart.mostSeries - 1)
        var (rises, before): ([Rise], Version?) = ([], nil)
        for change in changes.reversed() {
            let required = change.inForce.required
            if let required, before.map({ $0 < required }) ?? true {
                rises.append(Rise(at: change.at, version: required))
            }
            before = required
        }
        let start = self.counts.first?.at
        self.rises = rises.filter { rise in start.map { rise.at >= $0 } ?? false }
    }

    var seconds: Double { max(x(end), 1) }

    func x(_ moment: Timestamp) -> Double {
        Double((moment - (counts.first?.at ?? moment)).milliseconds) / 1000
    }

    /// The devices of a count whose version has no line.
    func rest(_ count: VersionCount) -> Int64 {
        versions.reduce(count.devices) { $0 - count.devices(of: $1) }
    }

    /// Shares from 0 to 1: each holds until the next.
    func line(_ devices: (VersionCount) -> Int64) -> [LineChart.Point] {
        var points: [LineChart.Point] = []
        for count in counts {
            let (x, share) = (x(count.at), Double(devices(count)) / Double(max(count.devices, 1)))
            if let last = points.last { points.append(LineChart.Point(x: x, y: last.y)) }
            points.append(LineChart.Point(x: x, y: share))
        }
        if let last = points.last { points.append(LineChart.Point(x: x(end), y: last.y)) }
        return points
    }
}
