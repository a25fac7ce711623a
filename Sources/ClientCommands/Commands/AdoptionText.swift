// SPDX-License-Identifier: Apache-2.0
import APIModel
import RelayEngine
package import Terminal
package import WireFormat

/// Who obeyed a campaign, as people read it.
package struct AdoptionText: Sendable {
    private let json: JSONValue

    package init(_ json: JSONValue) {
        self.json = json
    }

    private static let height = 8
    /// A line that is longer than this is hard to follow.
    private static let widest = 100

    private var upgraded: Int64 { json.count(.upgraded) }
    private var toUpgrade: Int64 { max(json.count(.audience) - json.count(.alreadyCurrent), 0) }

    private func share(_ devices: Int64) -> String {
        "\(Quantity.count(devices)) \(Quantity.percent(devices, of: toUpgrade))"
    }

    /// - Parameter ink: what the curve is drawn with; nil: it is told point by point, for a file or another program.
    package func text(width: Int, ink: StepPlot.Ink?) -> String {
        fields + "\n" + (ink.map { curve(width: width, ink: $0) } ?? table)
    }

    private var fields: String {
        let reached = json[.reachedBy] ?? .null
        func devices(_ field: Field) -> String { Quantity.count(json.count(field)) }
        func ofUpgraded(_ field: Field) -> String {
            let count = reached.count(field)
            return "\(Quantity.count(count)) \(Quantity.percent(count, of: upgraded))"
        }
        var fields = [
            ("campaign", json.shown(.campaign)), ("app", json.place), ("required", json.shown(.required)),
            ("state", json.shown(.state)), ("begun", json.shown(.begunAt)),
            ("to upgrade", toUpgradeText),
            ("pushes accepted", devices(.accepted)), ("told at login", devices(.toldAtLogin)),
            ("upgraded", share(upgraded)),
        ]
        if upgraded > 0 {
            fields += [
                ("  after a push", ofUpgraded(.push)), ("  told at login", ofUpgraded(.login)),
                ("  both", ofUpgraded(.both)), ("  by neither", ofUpgraded(.unknown)),
            ]
        }
        return TextTable.fields(fields)
    }

    private var toUpgradeText: String {
        let (audience, current) = (json.count(.audience), json.count(.alreadyCurrent))
        let text = Quantity.count(toUpgrade)
        return current > 0
            ? "\(text) (\(Quantity.count(audience)) without \(Quantity.count(current)) already current)" : text
    }

    private var points: [AdoptionPoint] {
        json.list(.items).compactMap { item in
            Timestamp(internetTime: item.shown(.at)).map { AdoptionPoint(at: $0, upgraded: item.count(.upgraded)) }
        }
    }

    private var table: String {
        guard !points.isEmpty else { return Self.nobody }
        var table = TextTable(["AT", .right("UPGRADED"), .right("SHARE")])
        for point in points {
            table.add([
                point.at.internetTime, Quantity.count(point.upgraded), Quantity.percent(point.upgraded, of: toUpgrade),
            ])
        }
        return table.text
    }

    private static let nobody = "no curve: nobody was seen with the required version yet, or it was pruned\n"

    private func curve(width: Int, ink: StepPlot.Ink) -> String {
        guard let last = points.last, let begun = Timestamp(internetTime: json.shown(.begunAt)),
            let now = Timestamp(internetTime: json.shown(.at))
        else { return Self.nobody }
        // Nobody follows it any longer than that.
        let end = max(last.at, min(now, begun + AdoptionSeries.span))
        let start = min(begun, points[0].at)
        var steps = points.map { StepPlot.Step(place: $0.at.milliseconds, value: $0.upgraded) }
        // What was seen since the last point.
        if end == now { steps.append(StepPlot.Step(place: now.milliseconds, value: max(upgraded, last.upgraded))) }
        let plot = StepPlot(steps, places: start.milliseconds...end.milliseconds, ink: ink)
        let lines = plot.lines(width: min(width, Self.widest), height: Self.height) { $0 == 0 ? "0" : share($0) }
        guard let floor = lines.last else { return table }
        let time = times(from: start, to: end, under: floor)
        return (lines + [time]).joined(separator: "\n") + "\n"
    }

    /// When the curve begins, and how long it is, at its ends.
    private func times(from start: Timestamp, to end: Timestamp, under floor: String) -> String {
        let margin = floor.prefix { $0 != "└" && $0 != "+" }.count + 1
        let left = String(start.internetTime.prefix(16)) + "Z"
        let right = "+" + DurationText.rough(seconds: (end - start).components.seconds)
        let gap = floor.count - margin - left.count - right.count
        let indent = String(repeating: " ", count: margin)
        return gap > 0 ? indent + left + String(repeating: " ", count: gap) + right : "\(indent)\(right)"
    }
}
