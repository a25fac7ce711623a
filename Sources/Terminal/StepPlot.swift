// SPDX-License-Identifier: Apache-2.0

/// A number that rises by steps, drawn over time with block characters. Pure: steps and room in, lines out.
///
///     1,200 ┤                  ▂▄▆█
///           │           ▁▃▅▆███████
///       600 ┤       ▃▆█████████████
///           │   ▂▆█████████████████
///         0 └──────────────────────
package struct StepPlot: Sendable {
    /// A value that holds from its place until the next step.
    package struct Step: Sendable, Equatable {
        package var place: Int64
        package var value: Int64

        package init(place: Int64, value: Int64) {
            self.place = place
            self.value = value
        }
    }

    /// What is drawn with: block characters, or what every terminal has.
    package enum Ink: Sendable {
        case blocks, ascii

        /// From empty to full.
        fileprivate var cells: [Character] {
            switch self {
            case .blocks: [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
            case .ascii: [" ", ".", ":", "#"]
            }
        }

        fileprivate var tick: String { self == .blocks ? "┤" : "+" }
        fileprivate var side: String { self == .blocks ? "│" : "|" }
        fileprivate var corner: String { self == .blocks ? "└" : "+" }
        fileprivate var floor: String { self == .blocks ? "─" : "-" }
    }

    /// Ascending; before the first the value is 0.
    private let steps: [Step]
    private let places: ClosedRange<Int64>
    private let ink: Ink

    package init(_ steps: [Step], places: ClosedRange<Int64>, ink: Ink) {
        self.steps = steps
        self.places = places
        self.ink = ink
    }

    /// The fewest columns that a curve can be made out in.
    private static let leastColumns = 8

    /// The curve with its numbers at the left, `height` lines and the floor; none where `width` columns do not hold it, or
    /// where no value is above 0.
    ///
    /// - Parameter label: what is written beside the top, the middle and the floor.
    package func lines(width: Int, height: Int, label: (Int64) -> String) -> [String] {
        guard let top = steps.map(\.value).max(), top > 0, height > 0 else { return [] }
        // A middle of 1 would be no middle.
        let middle = height >= 4 && top > 1 ? height / 2 : nil
        var labels: [Int: String] = [0: label(top), height: label(0)]
        // The line whose upper edge is that value.
        if let middle { labels[middle] = label(top * Int64(height - middle) / Int64(height)) }
        let margin = labels.values.map(DisplayWidth.columns).max() ?? 0
        let columns = width - margin - 2
        guard columns >= Self.leastColumns else { return [] }
        let fills = values(columns).map { fill($0, of: top, height: height) }
        let full = ink.cells.count - 1
        return (0...height).map { line in
            let text = labels[line] ?? ""
            let head = String(repeating: " ", count: margin - DisplayWidth.columns(text)) + text + " "
            if line == height { return head + ink.corner + String(repeating: ink.floor, count: columns) }
            let below = (height - 1 - line) * full
            var row = String(fills.map { ink.cells[min(max($0 - below, 0), full)] })
            while row.last == " " { row.removeLast() }
            return head + (labels[line] == nil ? ink.side : ink.tick) + row
        }
    }

    /// The value at the end of each column's part of the time.
    private func values(_ columns: Int) -> [Int64] {
        let span = Double(places.upperBound - places.lowerBound)
        var next = 0
        var value: Int64 = 0
        return (1...columns).map { column in
            let end =
                column == columns
                ? places.upperBound : places.lowerBound + Int64(span * Double(column) / Double(columns))
            while next < steps.count, steps[next].place <= end {
                value = steps[next].value
                next += 1
            }
            return value
        }
    }

    /// In parts of a cell: full only where the value is the top, and something where it is not 0.
    private func fill(_ value: Int64, of top: Int64, height: Int) -> Int {
        let parts = Double(height * (ink.cells.count - 1))
        guard value > 0 else { return 0 }
        return max(1, Int(Double(value) / Double(top) * parts))
    }
}
