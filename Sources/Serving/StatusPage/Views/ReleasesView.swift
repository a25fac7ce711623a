// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The adoption of an app's latest releases side by side, each from its own beginning.
extension View {
    func releases(_ html: inout HTML, _ curves: [ReleaseCurve]) {
        let longest = curves.map(\.seconds).max() ?? 0
        let chart = LineChart(
            title: say("Share of the devices that have upgraded"),
            series: curves.map { LineChart.Series(name: $0.version, points: $0.line) },
            end: longest, endLabel: "+\(duration(seconds: Int64(longest)))",
            label: { "\(Int64(($0 * 100).rounded())) %" }, top: 1)
        chart.draw(&html, id: "chart-releases", self) { html in
            html.table(
                say("Share of the devices that have upgraded"),
                [say("Version")] + ReleaseCurve.ages.map { say("After %", age($0)) } + [say("So far")]
            ) { html in
                for curve in curves {
                    let upgraded =
                        ReleaseCurve.ages.map { curve.upgraded(after: $0) } + [curve.points.last?.upgraded ?? 0]
                    let texts = upgraded.map { $0.map { percent($0, of: curve.toUpgrade) } ?? "–" }
                    html.row(
                        { html in html.link(PagePath("page", "campaigns", curve.campaign), curve.version) },
                        texts.map { text in { $0.text(text) } })
                }
            }
        }
    }

    private func age(_ age: Duration) -> String {
        let hours = age.milliseconds / 3_600_000
        return hours < 24 ? "\(hours) \(say("h"))" : "\(hours / 24) \(say("d"))"
    }

    /// The latest releases of an app that began, the newest first.
    func releaseCurves(of app: AppKey) throws -> [ReleaseCurve] {
        var (found, last): ([CampaignRecord], CampaignKey?) = ([], nil)
        // Other apps' campaigns are among them, so a bounded part of the list is looked through.
        for _ in 0..<4 where found.count < LineChart.mostSeries {
            let part = try api.store.campaigns(before: last, limit: 100)
            found += part.filter {
                $0.app == app && $0.requirement.kind == .required && $0.facts.startedAt != nil && $0.toUpgrade > 0
            }
            last = part.last?.key
            if part.count < 100 { break }
        }
        var (curves, end): ([ReleaseCurve], Timestamp) = ([], now)
        for record in found.prefix(LineChart.mostSeries) {
            let points = try api.store.adoption(of: record.key)?.points ?? []
            curves.append(ReleaseCurve(record, points, until: end, isNewest: curves.isEmpty))
            // Only the newest campaign is followed.
            end = min(end, record.begunAt)
        }
        return curves
    }
}

/// The adoption of one release from its beginning, until the next one began. Pure.
struct ReleaseCurve {
    /// The ages whose shares the table has: hours, days, weeks.
    static let ages: [Duration] = [3600, 86_400, 7 * 86_400, 28 * 86_400].map { .seconds($0) }

    let version: String
    let campaign: String
    let toUpgrade: Int64
    let begunAt: Timestamp
    let end: Timestamp
    /// In order of time.
    private(set) var points: [AdoptionPoint]

    /// - Parameters:
    ///   - end: the present time, or when the next release began.
    ///   - isNewest: whether it is the one that is followed.
    init(_ record: CampaignRecord, _ points: [AdoptionPoint], until end: Timestamp, isNewest: Bool) {
        version = record.requirement.version.text
        (campaign, toUpgrade, begunAt) = (record.id, record.toUpgrade, record.begunAt)
        self.end = max(end, record.begunAt)
        self.points = points.filter { $0.at <= end }
        // Points are stored a minute apart or more, so the present number is added. A release without any was followed for
        // less than a minute.
        if isNewest || self.points.isEmpty, self.points.last?.upgraded ?? 0 < record.figures.upgraded {
            self.points.append(AdoptionPoint(at: self.end, upgraded: record.figures.upgraded))
        }
    }

    var seconds: Double { Double(max((end - begunAt).milliseconds, 60_000)) / 1000 }

    /// The number of devices that had upgraded at an age; nil: the release did not reach that age.
    func upgraded(after age: Duration) -> Int64? {
        let moment = begunAt + age
        guard moment <= end else { return nil }
        return points.last { $0.at <= moment }?.upgraded ?? 0
    }

    /// The share from 0 to 1, by seconds since the beginning.
    var line: [LineChart.Point] {
        var (line, last) = ([LineChart.Point(x: 0, y: 0)], 0.0)
        for point in points {
            let x = Double((point.at - begunAt).milliseconds) / 1000
            let y = Double(point.upgraded) / Double(max(toUpgrade, 1))
            line += [LineChart.Point(x: x, y: last), LineChart.Point(x: x, y: y)]
            last = y
        }
        return line + [LineChart.Point(x: seconds, y: last)]
    }
}
