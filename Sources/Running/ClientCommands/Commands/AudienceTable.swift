// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// The outcome for an audience: the devices, their number, their share. Shares add up where the numbers do.
struct AudienceTable {
    private struct Entry {
        var name: String
        var count: Int64
    }

    private struct Row {
        var name: String
        var count: Int64
        /// The reasons, with their numbers of devices; together they may cover the whole row.
        var reasons: [Entry] = []
        /// Parts of the row that are independent of those reasons, and of each other.
        var among: [Entry] = []
    }

    private var rows: [Row] = []
    private let audience: Int64

    init(_ audience: Int64) {
        self.audience = audience
    }

    mutating func add(_ name: String, _ count: Int64) {
        rows.append(Row(name: name, count: count))
    }

    /// Adds a part of the last row.
    mutating func add(amongThese name: String, _ count: Int64) {
        guard let last = rows.indices.last else { return }
        rows[last].among.append(Entry(name: name, count: count))
    }

    /// Adds a line for each reason that occurred, by name, below the last row.
    ///
    /// - Parameter isBlock: whether the campaign blocks a version: `alreadyCurrent` then means that a device does not run it.
    mutating func add(reasons: JSONValue?, isBlock: Bool = false) {
        guard let last = rows.indices.last else { return }
        for reason in (reasons?.object ?? []).sorted(by: { $0.name < $1.name }) {
            guard let count = reason.value.integer, count > 0 else { continue }
            rows[last].reasons.append(
                Entry(
                    name: isBlock && reason.name == Field.alreadyCurrent.rawValue ? "does not run it" : reason.name,
                    count: count))
        }
    }

    var text: String { text(on: .current) }

    func text(on screen: Screen) -> String {
        let counts: [Int64] = rows.flatMap { row in
            [row.count] + (row.among + row.reasons).map(\.count)
        }
        let shares = Shares(of: audience, fitting: counts)
        var table = TextTable([.tinted("DEVICES", by: Tint.ofState), .right("COUNT"), .right("SHARE")])
        func add(_ name: String, _ count: Int64, _ units: Int64) {
            table.add([name, Quantity.count(count), shares.text(units, count: count)])
        }
        table.add(["audience", Quantity.count(audience), Quantity.percent(audience, of: audience)])
        let parts = shares.parts(rows.map(\.count), of: audience, shownAs: shares.units)
        for (row, units) in zip(rows, parts) {
            add(row.name, row.count, units)
            for among in row.among {
                let some = shares.parts([among.count], of: row.count, shownAs: units)
                add("  of these, \(among.name)", among.count, some[0])
            }
            let some = shares.parts(row.reasons.map(\.count), of: row.count, shownAs: units)
            for (reason, units) in zip(row.reasons, some) { add("  \(reason.name)", reason.count, units) }
        }
        return table.lines(on: screen).joined(separator: "\n") + "\n"
    }
}
