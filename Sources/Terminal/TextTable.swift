// SPDX-License-Identifier: Apache-2.0

/// Aligned columns for people. Pure: rows in, lines out.
package struct TextTable: Sendable {
    /// Its title alone, aligned left; `.right("COUNT")` for numbers.
    package struct Column: Sendable, ExpressibleByStringLiteral {
        fileprivate let title: String
        fileprivate var isRight = false
        fileprivate var tint: (@Sendable (String) -> Tint?)?

        package init(stringLiteral title: String) {
            self.title = title
        }

        package static func right(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isRight = true
            return column
        }

        /// Words that have a colour on a terminal.
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
        rows.append(padded.map { DisplayWidth.sanitised($0) })
    }

    /// The header and one line for each row, without trailing spaces; two spaces between columns. On a terminal they fit,
    /// with "…" where a cell was cut.
    package func lines(on screen: Screen = .current) -> [String] {
        let widths = widths(within: screen.width)
        return ([columns.map(\.title)] + rows).enumerated().map { number, cells in
            var line = ""
            for (index, cell) in cells.enumerated() {
                let column = columns[index]
                var shown = DisplayWidth.truncated(cell, to: widths[index])
                let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.columns(shown)))
                if number > 0, screen.hasColour, let tint = column.tint?(cell) { shown = tint.painted(shown) }
                if index > 0 { line += "  " }
                line += column.isRight ? padding + shown : shown + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// A column narrower than this says nothing; a campaign's id fits.
    private static var narrowest: Int { 12 }

    /// As wide as the longest cell; where the lines would not fit, the widest columns give way first.
    private func widths(within room: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(DisplayWidth.columns(columns[index].title)) { max($0, DisplayWidth.columns($1[index])) }
        }
        guard let room else { return widths }
        var excess = widths.reduce(2 * (widths.count - 1), +) - room
        while excess > 0 {
            // Numbers that are cut would be other numbers.
            let soft = widths.indices.filter { !columns[$0].isRight && widths[$0] > Self.narrowest }
            guard let widest = soft.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    package var text: String { lines().joined(separator: "\n") + "\n" }

    /// Names at the left, values beside them: one record, without a header.
    ///
    /// - Parameter tint: of a name's value.
    package static func fields(
        _ entries: [(String, String)], tint: (_ name: String, _ value: String) -> Tint? = { _, _ in nil }
    ) -> String {
        let width = entries.map { DisplayWidth.columns($0.0) }.max() ?? 0
        return entries.map { name, value in
            let padding = String(repeating: " ", count: width - DisplayWidth.columns(name) + 2)
            let shown = DisplayWidth.sanitised(value)
            return name + padding + (tint(name, value)?.painted(shown) ?? shown) + "\n"
        }.joined()
    }
}
