// SPDX-License-Identifier: Apache-2.0

/// Aligned columns for people. Pure: rows in, lines out.
package struct TextTable: Sendable {
    /// A literal is a title, aligned left; `.right("COUNT")` is for numbers.
    package struct Column: Sendable, ExpressibleByStringLiteral {
        fileprivate let title: String
        fileprivate var isRight = false
        /// Whether its cells are names that a user may copy: they are never cut.
        fileprivate var isWhole = false
        /// Whether its cells are moments, in RFC 3339; a narrow screen shortens them by their form, and never cuts them.
        fileprivate var isTime = false
        /// Where the lines would not fit, the column with the lowest rank is left out first. nil: it stays.
        fileprivate var rank: Int?
        fileprivate var tint: (@Sendable (String) -> Tint?)?

        package init(stringLiteral title: String) {
            self.title = title
        }

        package static func right(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isRight = true
            return column
        }

        /// A column that a narrow screen may do without: those of rank 1 are left out first.
        package static func spare(_ title: String, _ rank: Int) -> Column {
            Column(stringLiteral: title).spare(rank)
        }

        package static func time(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isTime = true
            return column
        }

        package static func whole(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isWhole = true
            return column
        }

        /// The same column, left out of a narrow screen: those of rank 1 first.
        package func spare(_ rank: Int) -> Column {
            var column = self
            column.rank = rank
            return column
        }

        fileprivate var isSoft: Bool { !isRight && !isTime && !isWhole }

        /// A column whose words have a colour on a terminal.
        package static func tinted(_ title: String, by tint: @escaping @Sendable (String) -> Tint?) -> Column {
            var column = Column(stringLiteral: title)
            column.tint = tint
            return column
        }
    }

    private let columns: [Column]
    package private(set) var rows: [[String]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Cells beyond the columns are dropped, missing ones are empty; control characters are replaced.
    package mutating func add(_ cells: [String]) {
        let padded = cells.prefix(columns.count) + Array(repeating: "", count: max(0, columns.count - cells.count))
        rows.append(padded.map { ShownZone.text(DisplayWidth.sanitised($0)) })
    }

    /// The header and one line for each row, without trailing spaces; two spaces between columns. On a terminal they fit:
    /// times are shortened, cells cut with "…", and columns left out, which the last line names.
    package func lines(on screen: Screen = .current) -> [String] {
        let layout = layout(within: screen.width)
        let lines = ([columns.map(\.title)] + layout.rows).enumerated().map { number, cells in
            var line = ""
            for (place, index) in layout.shown.enumerated() {
                let column = columns[index]
                let width = layout.widths[index]
                var shown = DisplayWidth.truncated(cells[index], to: width)
                let padding = String(repeating: " ", count: max(0, width - DisplayWidth.columns(shown)))
                if number > 0, screen.hasColour, let tint = column.tint?(cells[index]) { shown = tint.painted(shown) }
                if place > 0 { line += "  " }
                line += column.isRight ? padding + shown : shown + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        let hidden = columns.indices.filter { !layout.shown.contains($0) }.map { columns[$0].title }
        return lines + (hidden.isEmpty ? [] : ["(no room for \(hidden.joined(separator: ", ")))"])
    }

    /// The columns and cells that a screen has room for.
    private struct Layout {
        /// The columns that are not left out.
        var shown: [Int]
        /// The width of each column, also of one that is left out.
        var widths: [Int]
        var rows: [[String]]

        func excess(_ room: Int) -> Int {
            shown.reduce(2 * (shown.count - 1) - room) { $0 + widths[$1] }
        }
    }

    /// A column narrower than this is hard to use; a campaign's id fits.
    private static var narrow: Int { 12 }
    /// A column narrower than this is useless.
    private static var narrowest: Int { 6 }

    /// Columns are as wide as their longest cell. Where the lines would not fit, times get shorter, the widest columns are cut,
    /// columns are left out by their rank, and the remaining ones are cut further.
    private func layout(within room: Int?) -> Layout {
        var layout = Layout(shown: Array(columns.indices), widths: [], rows: rows)
        layout.widths = widths(of: rows)
        guard let room else { return layout }
        for form in ShortTime.allCases where layout.excess(room) > 0 {
            layout.rows = rows.map { row in
                row.indices.map { columns[$0].isTime ? form.text(row[$0]) : row[$0] }
            }
            layout.widths = widths(of: layout.rows)
        }
        let full = layout.widths
        cut(&layout, to: Self.narrow, within: room)
        while layout.excess(room) > 0,
            let least = layout.shown.filter({ columns[$0].rank != nil }).min(by: {
                (columns[$0].rank ?? 0) < (columns[$1].rank ?? 0)
            })
        {
            layout.shown.removeAll { $0 == least }
            // The other columns get back their full width, and are cut again to the room that is left.
            layout.widths = full
            cut(&layout, to: Self.narrow, within: room)
        }
        cut(&layout, to: Self.narrowest, within: room)
        return layout
    }

    private func widths(of rows: [[String]]) -> [Int] {
        columns.indices.map { index in
            rows.reduce(DisplayWidth.columns(columns[index].title)) { max($0, DisplayWidth.columns($1[index])) }
        }
    }

    private func cut(_ layout: inout Layout, to least: Int, within room: Int) {
        var excess = layout.excess(room)
        while excess > 0 {
            // A number that is cut would be another number.
            let soft = layout.shown.filter { columns[$0].isSoft && layout.widths[$0] > least }
            guard let widest = soft.max(by: { layout.widths[$0] < layout.widths[$1] }) else { break }
            layout.widths[widest] -= 1
            excess -= 1
        }
    }

    package var text: String { lines().joined(separator: "\n") + "\n" }

    /// Names at the left, values beside them: one record, without a header.
    ///
    /// - Parameter tint: the colour of a name's value.
    package static func fields(
        _ entries: [(String, String)], tint: (_ name: String, _ value: String) -> Tint? = { _, _ in nil }
    ) -> String {
        let width = entries.map { DisplayWidth.columns($0.0) }.max() ?? 0
        return entries.map { name, value in
            let padding = String(repeating: " ", count: width - DisplayWidth.columns(name) + 2)
            let shown = ShownZone.text(DisplayWidth.sanitised(value))
            return name + padding + (tint(name, value)?.painted(shown) ?? shown) + "\n"
        }.joined()
    }
}

/// Forms of a moment for tables that are short of room, the longest first. All keep the offset: "Z" is UTC.
enum ShortTime: CaseIterable {
    /// "2026-11-22 07:18:55Z", "2026-11-22 15:18:55+08:00"
    case seconds
    /// "11-22 07:18Z", "11-22 15:18+08:00"
    case minutes

    /// - Parameter text: RFC 3339, as the API or `ShownZone` writes it; anything else stays as it is.
    func text(_ text: String) -> String {
        guard
            let match = text.wholeMatch(
                of: /(\d{4})-(\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)/)
        else { return text }
        let (_, year, day, minutes, seconds, offset) = match.output
        return switch self {
        case .seconds: "\(year)-\(day) \(minutes)\(seconds)\(offset)"
        case .minutes: "\(day) \(minutes)\(offset)"
        }
    }
}
