// SPDX-License-Identifier: Apache-2.0
import Foundation

/// All figures of a run: the tables that are printed, and the JSON file with the same figures.
///
/// CPU is user and system time of the process that is named, per push, row or request. Rates are per second of wall clock.
/// Memory is the most that was resident at once. What is missing ("-", null) could not be measured on this machine.
struct BenchReport {
    struct Row {
        fileprivate var figures: [(key: String, heading: String?, value: Value)] = []

        /// - Parameters:
        ///   - key: in the JSON file; in "a.b" b is a member of the object a.
        ///   - heading: of its column; nil: it is in the JSON file alone.
        mutating func add(_ key: String, _ heading: String?, _ value: Value) { figures.append((key, heading, value)) }

        func inside(_ object: String) -> Row {
            Row(figures: figures.map { ("\(object).\($0.key)", $0.heading, $0.value) })
        }

        fileprivate var object: [String: Any] {
            var object: [String: Any] = [:]
            for (key, _, value) in figures {
                let names = key.split(separator: ".").map(String.init)
                if names.count == 1 {
                    object[key] = value.json
                } else {
                    object[names[0]] = (object[names[0]] as? [String: Any] ?? [:]).merging([names[1]: value.json]) {
                        $1
                    }
                }
            }
            return object
        }
    }

    enum Value {
        case word(String)
        case count(Int?)
        case decimal(Double?)
        /// Shown as a whole number.
        case rate(Double?)
        case share(Double)
        /// Bytes, shown as MiB.
        case memory(Int)
        /// Seconds, shown as milliseconds.
        case moment(Double)

        var text: String {
            switch self {
            case .word(let text): text
            case .count(let number): number.map { "\($0)" } ?? "-"
            case .decimal(let number): number.map { String(format: "%.2f", $0) } ?? "-"
            case .rate(let number): number.map { "\(Int($0))" } ?? "-"
            case .share(let number): "\(Int(number * 100)) %"
            case .memory(let bytes): "\(bytes >> 20)"
            case .moment(let seconds): "\(Int((seconds * 1000).rounded())) ms"
            }
        }

        var json: Any {
            switch self {
            case .word(let text): text
            case .count(let number): number as Any? ?? NSNull()
            case .memory(let bytes): bytes
            case .decimal(let number), .rate(let number): number as Any? ?? NSNull()
            case .share(let number), .moment(let number): number
            }
        }
    }

    private var suites: [String: [Row]] = [:]

    /// Prints a table, and keeps its rows for the file.
    mutating func add(_ suite: String, _ title: String, _ rows: [Row]) {
        guard let first = rows.first else { return }
        suites[suite, default: []] += rows
        let head = first.figures.compactMap(\.heading)
        let lines = [head] + rows.map { $0.figures.filter { $0.heading != nil }.map(\.value.text) }
        let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let body = lines.map { line in
            zip(line, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }.joined(separator: "  ")
        }
        // At once, also into a pipe: a run takes minutes.
        FileHandle.standardOutput.write(Data("\n\(title)\n\(body.joined(separator: "\n"))\n".utf8))
    }

    /// Each suite is an array of objects; `restart` is one object.
    var json: Data {
        get throws {
            var file: [String: Any] = suites.mapValues { $0.map(\.object) }
            file["restart"] = suites["restart"]?.first?.object
            file["version"] = 4
            file["processors"] = ProcessInfo.processInfo.activeProcessorCount
            return try JSONSerialization.data(withJSONObject: file, options: [.prettyPrinted, .sortedKeys])
        }
    }
}
