// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import UpgradeRules

/// Reads devices from a file's bytes, CSV or NDJSON by what the first line holds. Pure.
struct DeviceReader: Sendable {
    enum Item: Sendable, Equatable {
        case device(line: Int, DeviceLine)
        case refused(RefusedLine)
    }

    private enum Form {
        /// Nothing but white space has been seen.
        case unknown
        case csv(CSVParser, header: [String]?)
        case ndjson(LineSplitter)
    }

    /// Bytes of one line: many times what the API takes, and no file without line ends fills the memory.
    private static let longestLine = 1 << 20
    /// Bytes of white space before the first line.
    private static let longestBlank = 1 << 16
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// For files without the columns.
    let app: String?
    let platform: String?
    private var form = Form.unknown
    private var held: [UInt8] = []

    init(app: String?, platform: String?) {
        self.app = app
        self.platform = platform
    }

    /// - Throws: `CommandFailure` where the file as a whole cannot be read: its header, a quote that is never closed.
    mutating func feed(_ bytes: [UInt8], _ receive: (Item) throws -> Void) throws {
        switch form {
        case .unknown:
            held += bytes
            // A mark may have been cut on its way.
            if held.count < 3, Self.byteOrderMark.starts(with: held) { return }
            try begin(receive)
        case .csv(var parser, var header):
            // The enum must not hold a second reference while its payload changes: that would copy it.
            form = .unknown
            do {
                try parser.feed(bytes) { try take($0, header: &header, receive) }
            } catch let fault as CSVParser.Fault {
                throw CommandFailure(.failed, "not CSV: \(fault)")
            }
            form = .csv(parser, header: header)
        case .ndjson(var splitter):
            form = .unknown
            try splitter.feed(bytes) { try take(json: $0, line: $1, receive) }
            form = .ndjson(splitter)
        }
    }

    mutating func finish(_ receive: (Item) throws -> Void) throws {
        if case .unknown = form { try begin(receive) }
        switch form {
        case .unknown:
            break
        case .csv(var parser, var header):
            do {
                try parser.finish { try take($0, header: &header, receive) }
            } catch let fault as CSVParser.Fault {
                throw CommandFailure(.failed, "not CSV: \(fault)")
            }
        case .ndjson(var splitter):
            try splitter.finish { try take(json: $0, line: $1, receive) }
        }
        form = .unknown
    }

    /// Decides by what has been held back, unless that is nothing but white space.
    private mutating func begin(_ receive: (Item) throws -> Void) throws {
        let start = held.starts(with: Self.byteOrderMark) ? 3 : 0
        guard let first = held[start...].first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            guard held.count <= Self.longestBlank else {
                throw CommandFailure(
                    .failed, "the file begins with more than \(Self.longestBlank) bytes of white space")
            }
            return
        }
        form =
            first == UInt8(ascii: "{")
            ? .ndjson(LineSplitter(limit: Self.longestLine)) : .csv(CSVParser(), header: nil)
        let bytes = Array(held[start...])
        held = []
        try feed(bytes, receive)
    }

    // MARK: CSV

    private func take(_ record: CSVParser.Record, header: inout [String]?, _ receive: (Item) throws -> Void) throws {
        guard let columns = header else {
            header = try checked(record.fields)
            return
        }
        guard record.fields.count == columns.count else {
            let problem = "\(record.fields.count) fields where the header has \(columns.count)"
            return try receive(.refused(RefusedLine(line: record.line, reason: problem)))
        }
        var values: [String: String] = [:]
        for (column, field) in zip(columns, record.fields) { values[column] = field }
        let app = values["app"].flatMap { $0.isEmpty ? nil : $0 } ?? app
        let platform = values["platform"].flatMap { $0.isEmpty ? nil : $0 } ?? platform
        let item: Item
        do throws(RefusedLine) {
            let place = try checked(app: app, platform: platform, line: record.line)
            item = .device(
                line: record.line, DeviceLine(app: place.app, platform: place.platform, values: values))
        } catch {
            item = .refused(error)
        }
        try receive(item)
    }

    private func checked(_ header: [String]) throws -> [String] {
        let names = header.map { $0.trimmingCharacters(in: .whitespaces) }
        let known = DeviceLine.columns.joined(separator: ", ")
        for name in names where !DeviceLine.columns.contains(name) {
            let nearest = Suggestion.nearest(to: name, among: DeviceLine.columns).map { "; did you mean \"\($0)\"?" }
            throw CommandFailure(
                .failed, "the header names an unknown column \"\(DisplayWidth.sanitised(name))\"\(nearest ?? "")",
                hint: "the first line names the columns: \(known)")
        }
        if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw CommandFailure(.failed, "the header names the column \"\(twice)\" twice")
        }
        guard names.contains("token") else {
            throw CommandFailure(.failed, "the header names no column \"token\"", hint: "columns: \(known)")
        }
        if app == nil, !names.contains("app") {
            throw CommandFailure(.failed, "the header names no column \"app\"", hint: "add it, or give --app")
        }
        if platform == nil, !names.contains("platform") {
            throw CommandFailure(.failed, "the header names no column \"platform\"", hint: "add it, or give --platform")
        }
        return names
    }

    // MARK: NDJSON

    private func take(json text: LineSplitter.Line, line: Int, _ receive: (Item) throws -> Void) throws {
        guard case .whole(let bytes) = text else {
            let reason = "the line has more than \(Self.longestLine) bytes"
            return try receive(.refused(RefusedLine(line: line, reason: reason)))
        }
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        let item: Item
        do throws(RefusedLine) {
            guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
                throw RefusedLine(line: line, reason: "not a JSON object")
            }
            let place = try checked(
                app: object["app"] as? String ?? app, platform: object["platform"] as? String ?? platform, line: line)
            // The API reads and judges the line itself: what is handed on is what was given.
            item = .device(line: line, DeviceLine(app: place.app, platform: place.platform, json: bytes))
        } catch {
            item = .refused(error)
        }
        try receive(item)
    }

    private func checked(
        app: String?, platform: String?, line: Int
    ) throws(RefusedLine) -> (app: String, platform: String) {
        guard let app else { throw RefusedLine(line: line, reason: "app: missing") }
        guard let platform else { throw RefusedLine(line: line, reason: "platform: missing; ios or android") }
        guard Platform(rawValue: platform) != nil else {
            let held = DisplayWidth.truncated(DisplayWidth.sanitised(platform), to: 40)
            throw RefusedLine(line: line, reason: "platform: \"\(held)\" is not a platform; ios or android")
        }
        return (app, platform)
    }
}
