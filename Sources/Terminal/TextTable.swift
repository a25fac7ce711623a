// SPDX-License-Identifier: Apache-2.0

/// Aligned columns for people. Pure: rows in, lines out.
package struct TextTable: Sendable {
    package enum Alignment: Sendable { case left, right }

    package struct Column: Sendable {
        package var title: String
        package var alignment: Alignment

        package init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    package let columns: [Column]
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
                line += columns[index].alignment == .left ? cell + padding : padding + cell
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
