// SPDX-License-Identifier: Apache-2.0
import Terminal
package import WireFormat

/// The adoption of a campaign, as text for people.
package struct AdoptionText: Sendable {
    private let json: JSONValue

    package init(_ json: JSONValue) {
        self.json = json
    }

    /// The most rows of a table. A curve has up to 2,162 points; evenly spread ones are shown, always with the last.
    static let mostRows = 24

    private var upgraded: Int64 { json.count(.upgraded) }
    private var toUpgrade: Int64 { max(json.count(.audience) - json.count(.alreadyCurrent), 0) }

    private func share(_ devices: Int64) -> String {
        "\(Quantity.count(devices)) \(Quantity.percent(devices, of: toUpgrade))"
    }

    package var text: String { fields + "\n" + table + versions }

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
            ("pushes accepted", devices(.accepted)), ("notified at login", devices(.toldAtLogin)),
            ("upgraded", share(upgraded)),
        ]
        if upgraded > 0 {
            fields += [
                ("  after a push", ofUpgraded(.push)), ("  notified at login", ofUpgraded(.login)),
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

    private var table: String {
        let points = json.list(.items)
        guard !points.isEmpty else {
            return "no curve: no device was seen with the required version yet, or it was pruned\n"
        }
        var table = TextTable([.time("AT"), .right("UPGRADED"), .right("SHARE")])
        let step = (points.count + Self.mostRows - 1) / Self.mostRows
        for index in points.indices where (points.count - 1 - index).isMultiple(of: step) {
            let point = points[index]
            let upgraded = point.count(.upgraded)
            table.add([point.shown(.at), Quantity.count(upgraded), Quantity.percent(upgraded, of: toUpgrade)])
        }
        return table.text
    }

    /// The versions of the app's devices, the newest first; nothing where they were not counted yet.
    private var versions: String {
        json[.versions].flatMap { Self.table(of: $0) }.map { "\n" + $0 } ?? ""
    }

    /// The last count of an app's versions; nil where they were not counted yet.
    static func table(of versions: JSONValue) -> String? {
        guard versions.array == nil, let items = versions[.items]?.array else { return nil }
        let seen = versions.count(.seen)
        let share = percent(versions[.retireBelow]?.number ?? 0)
        var table = TextTable([
            "VERSION", .right("SEEN LATELY"), .right("SHARE"), .right("OR OLDER"), .right("SHARE"),
            .time("BELOW \(share) SINCE"),
        ])
        for item in items.prefix(mostRows) {
            let (devices, orOlder) = (item.count(.devices), item.count(.orOlder))
            table.add([
                item.shown(.version), Quantity.count(devices), Quantity.percent(devices, of: seen),
                Quantity.count(orOlder), Quantity.percent(orOlder, of: seen), item[.belowSince]?.string ?? "-",
            ])
        }
        let more = items.count > mostRows ? "\(items.count - mostRows) older versions: --json\n" : ""
        let unknown = versions.count(.unknown)
        return table.text + more
            + "\(Quantity.count(seen, "device")) seen since \(versions.shown(.seenSince))"
            + (unknown > 0
                ? "\n\(Quantity.count(unknown)) of an unknown version count as older than all\n" : "\n")
    }

    private static func percent(_ share: Double) -> String {
        Quantity.percent(Int64((share * 1_000_000).rounded()), of: 1_000_000)
    }
}
