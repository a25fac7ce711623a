// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal

/// All figures of a run: the tables that are printed, and the JSON file with the same figures.
///
/// CPU is the user and system time of the named process, per push, row or request. Rates are per second of wall clock. Memory is
/// the peak of resident memory. A missing figure ("-", null) could not be measured on this machine.
struct BenchReport {
    struct Row {
        fileprivate var figures: [(key: String, heading: String?, text: String, value: Any)] = []

        /// - Parameters:
        ///   - key: the name in the JSON file.
        ///   - heading: the heading of its column; nil: it is only in the JSON file.
        mutating func add(_ key: String, _ heading: String?, _ word: String) {
            figures.append((key, heading, word, word))
        }

        mutating func add(_ key: String, _ heading: String?, _ count: Int?) {
            figures.append((key, heading, count.map(String.init) ?? "-", count ?? NSNull() as Any))
        }

        /// - Parameters:
        ///   - decimals: the decimals in the table.
        ///   - scale: the table shows the figure multiplied by this, for example in a smaller unit.
        mutating func add(
            _ key: String, _ heading: String?, _ figure: Double?, decimals: Int = 2, times scale: Double = 1
        ) {
            let text = figure.map { String(format: "%.\(decimals)f", $0 * scale) } ?? "-"
            figures.append((key, heading, text, figure ?? NSNull() as Any))
        }

        /// A figure that was added before; nil: there is none, or it could not be measured.
        func figure(_ key: String) -> Double? { figures.first { $0.key == key }?.value as? Double }

        /// Bytes; the table shows MiB.
        mutating func add(_ key: String, _ heading: String?, bytes: Int) {
            figures.append((key, heading, "\(bytes >> 20)", bytes))
        }
    }

    private var suites: [String: [[String: Any]]] = [:]

    /// Prints a table, and keeps its rows for the file.
    mutating func add(_ suite: String, _ title: String, _ rows: [Row]) {
        guard let first = rows.first else { return }
        suites[suite] = rows.map { Dictionary(uniqueKeysWithValues: $0.figures.map { ($0.key, $0.value) }) }
        var table = TextTable(first.figures.compactMap { $0.heading.map(TextTable.Column.right) })
        for row in rows { table.add(row.figures.filter { $0.heading != nil }.map(\.text)) }
        // Written at once, also into a pipe: a run takes minutes.
        FileHandle.standardOutput.write(Data("\n\(title)\n\(table.text)".utf8))
    }

    /// Each suite is an array of objects.
    func write(to path: String) throws {
        var file: [String: Any] = suites
        file["version"] = 6
        file["processors"] = ProcessInfo.processInfo.activeProcessorCount
        try JSONSerialization.data(withJSONObject: file, options: [.prettyPrinted, .sortedKeys])
            .write(to: URL(fileURLWithPath: path))
    }
}
