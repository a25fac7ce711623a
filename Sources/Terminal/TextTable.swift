// SPDX-License-Identifier: Apache-2.0

/// Aligned columns for people. Pure: rows in, lines out.
package struct TextTable: Sendable {
    /// Its title alone, aligned left; `.right("COUNT")` for numbers.
    package struct Column: Sendable, ExpressibleByStringLiteral {
        fileprivate let title: String
        fileprivate var isRight = false

        package init(stringLiteral title: String) {
            self.title = title
        }

        package static func right(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isRight = true
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

    /// The header and one line for each row, without trailing spaces; two spaces between columns.
    package func lines() -> [String] {
        let widths = columns.indices.map { index in
            rows.reduce(DisplayWidth.columns(columns[index].title)) { max($0, DisplayWidth.columns($1[index])) }
        }
        return ([columns.map(\.title)] + rows).map { cells in
            var line = ""
            for (index, cell) in cells.enumerated() {
                let padding = String(repeating: " ", count: widths[index] - DisplayWidth.columns(cell))
                if index > 0 { line += "  " }
                line += columns[index].isRight ? padding + cell : cell + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    package var text: String { lines().joined(separator: "\n") + "\n" }

    /// Names at the left, values beside them: one record, without a header.
    package static func fields(_ entries: [(String, String)]) -> String {
        let width = entries.map { DisplayWidth.columns($0.0) }.max() ?? 0
        return entries.map { name, value in
            let padding = String(repeating: " ", count: width - DisplayWidth.columns(name) + 2)
            return name + padding + DisplayWidth.sanitised(value) + "\n"
        }.joined()
    }
}
