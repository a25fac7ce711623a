// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal
import UpgradeRules
import WireFormat

/// The versions of an app's devices over weeks, as text for people.
struct VersionCourseText {
    private let json: JSONValue
    private let counts: [VersionCount]

    init(_ json: JSONValue) {
        self.json = json
        counts = json.list(.items).compactMap(Self.count)
    }

    /// The most versions that have a column of their own.
    private static let mostColumns = 5

    var text: String {
        guard !counts.isEmpty else {
            return
                "nothing is counted yet: the relay counts the devices seen lately every hour, first a minute after its start\n"
        }
        let last = json[.versions].flatMap { AdoptionText.table(of: $0) }.map { "\n" + $0 } ?? ""
        return table + last
    }

    private var table: String {
        let versions = VersionCourse.leading(counts, most: Self.mostColumns)
        let columns: [TextTable.Column] =
            [.time("COUNTED")] + versions.map { .right($0.text) } + [.right("OTHERS"), .right("SEEN LATELY")]
        var table = TextTable(columns)
        let shown = VersionCourse.shown(counts)
        let step = (shown.count + AdoptionText.mostRows - 1) / AdoptionText.mostRows
        for index in shown.indices where (shown.count - 1 - index).isMultiple(of: step) {
            let count = shown[index]
            let devices = versions.map { count.devices(of: $0) }
            let rest = count.devices - devices.reduce(0, +)
            let shares = (devices + [rest]).map { Quantity.percent($0, of: count.devices) }
            table.add([count.at.internetTime] + shares + [Quantity.count(count.devices)])
        }
        return table.text
    }

    /// nil where the answer is not as the document has it.
    private static func count(_ item: JSONValue) -> VersionCount? {
        guard let at = item[.at]?.string.flatMap({ Timestamp(internetTime: $0) }) else { return nil }
        let rows = item.list(.versions).compactMap { row in
            row[.version]?.string.flatMap { try? Version($0) }.map {
                VersionCount.Row(version: $0, devices: row.count(.devices))
            }
        }
        return VersionCount(at: at, rows: rows, others: item.count(.others), unknown: item.count(.unknown))
    }
}
