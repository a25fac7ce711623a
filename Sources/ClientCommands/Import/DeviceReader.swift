// SPDX-License-Identifier: Apache-2.0
import APIModel
import Foundation
import RelayEngine
import Terminal
import UpgradeRules
import VersionSources
import WireFormat

/// Reads devices from a file's bytes, CSV or NDJSON by what the first line holds. Pure.
package struct DeviceReader: Sendable {
    package enum Item: Sendable, Equatable {
        case device(line: Int, DeviceLine)
        case refused(RefusedLine)
    }

    private enum Form {
        /// Nothing but white space has been seen.
        case unknown
        case csv(CSVParser, CSVHeader?)
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
    /// Of the line before: nearly always of the next one too.
    private var lastPlace: (app: String, platform: String)?
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
            form = .csv(parser, header)
        case .ndjson(var splitter):
            form = .unknown
            try splitter.feed(bytes) { try take(json: $0, $1, line: $2, receive) }
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
            try splitter.finish { try take(json: $0, $1, line: $2, receive) }
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
            ? .ndjson(LineSplitter(limit: Self.longestLine)) : .csv(CSVParser(), nil)
        let bytes = Array(held[start...])
        held = []
        try feed(bytes, receive)
    }

    // MARK: CSV

    /// Which field of a line holds what.
    private struct CSVHeader {
        /// By column of `DeviceLine.columns`; nil: the file has none.
        var fields: [Int?]
        var count: Int

        init(_ names: [String]) {
            fields = DeviceLine.columns.map { names.firstIndex(of: $0.rawValue) }
            count = names.count
        }

        /// The bytes of a column; nil where there is none.
        func value(_ column: Int, of record: CSVParser.Record) -> ArraySlice<UInt8>? {
            fields[column].map { record.bytes[record[$0]] }
        }
    }

    private mutating func take(
        _ record: CSVParser.Record, header: inout CSVHeader?, _ receive: (Item) throws -> Void
    ) throws {
        guard let columns = header else {
            header = CSVHeader(try checked(record.fields))
            return
        }
        guard record.count == columns.count else {
            let problem = "\(record.count) fields where the header has \(columns.count)"
            return try receive(.refused(RefusedLine(line: record.line, reason: problem)))
        }
        let item: Item
        do throws(RefusedLine) {
            let place = try place(
                app: columns.value(0, of: record) ?? [], platform: columns.value(1, of: record) ?? [],
                line: record.line)
            let json = Self.json { columns.value($0, of: record) }
            item = .device(line: record.line, DeviceLine(app: place.app, platform: place.platform, json: json))
        } catch {
            item = .refused(error)
        }
        try receive(item)
    }

    /// The object of a device, from its token on. A column that the file does not have is left out, which leaves the field as it is;
    /// an empty cell is null, which forgets it.
    ///
    /// - Parameter value: of a column, by its place among all; nil: the file has none.
    private static func json(_ value: (Int) -> ArraySlice<UInt8>?) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(256)
        for (name, column) in names {
            guard let value = value(column) else { continue }
            json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
            json += name
            if value.isEmpty {
                json += "null".utf8
            } else if value.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
                json.append(UInt8(ascii: "\""))
                json += value
                json.append(UInt8(ascii: "\""))
            } else {
                // JSON is UTF-8 (RFC 8259, 8.1): what is not becomes U+FFFD.
                JSONWriter.append(quoted: String(decoding: value, as: UTF8.self), to: &json)
            }
        }
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// The columns behind app and platform, as they stand before their values.
    private static let names = DeviceLine.columns.enumerated().dropFirst(2).map {
        (Array("\"\($0.element.rawValue)\":".utf8), $0.offset)
    }

    /// Where a line belongs by its own columns, or by what the command was given where they are empty.
    private mutating func place(
        app: ArraySlice<UInt8>, platform: ArraySlice<UInt8>, line: Int
    ) throws(RefusedLine) -> (app: String, platform: String) {
        if let last = lastPlace,
            app.isEmpty
                ? self.app?.utf8.elementsEqual(last.app.utf8) == true : app.elementsEqual(last.app.utf8),
            platform.isEmpty
                ? self.platform?.utf8.elementsEqual(last.platform.utf8) == true
                : platform.elementsEqual(last.platform.utf8)
        {
            return last
        }
        let place = try checked(
            app: app.isEmpty ? self.app : String(decoding: app, as: UTF8.self),
            platform: platform.isEmpty ? self.platform : String(decoding: platform, as: UTF8.self), line: line)
        lastPlace = place
        return place
    }

    private func checked(_ header: [String]) throws -> [String] {
        let names = header.map { $0.trimmingCharacters(in: .whitespaces) }
        let columns = DeviceLine.columns.map(\.rawValue)
        let known = columns.joined(separator: ", ")
        for name in names where !columns.contains(name) {
            let nearest = Suggestion.nearest(to: name, among: columns).map { "; did you mean \"\($0)\"?" }
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

    private mutating func take(
        json bytes: [UInt8], _ range: Range<Int>?, line: Int, _ receive: (Item) throws -> Void
    ) throws {
        guard let range else {
            let reason = "the line has more than \(Self.longestLine) bytes"
            return try receive(.refused(RefusedLine(line: line, reason: reason)))
        }
        guard bytes[range].contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        let item: Item
        do throws(RefusedLine) {
            let place = try place(json: bytes, range, line: line)
            // The API reads and judges the line itself: what is handed on is what was given.
            item = .device(
                line: line, DeviceLine(app: place.app, platform: place.platform, json: Array(bytes[range])))
        } catch {
            item = .refused(error)
        }
        try receive(item)
    }

    private mutating func place(
        json bytes: [UInt8], _ range: Range<Int>, line: Int
    ) throws(RefusedLine) -> (app: String, platform: String) {
        // An empty name is a name here.
        if let plain = DeviceLineScan(bytes, in: range), plain.app?.isEmpty != true, plain.platform?.isEmpty != true {
            return try place(
                app: plain.app.map { bytes[$0] } ?? [], platform: plain.platform.map { bytes[$0] } ?? [], line: line)
        }
        let device: JSONValue
        do throws(JSONSyntaxError) {
            device = try JSONReader.read(bytes, in: range)
        } catch {
            throw RefusedLine(line: line, reason: "not JSON, \(error)")
        }
        guard device.object != nil else { throw RefusedLine(line: line, reason: "not a JSON object") }
        return try checked(
            app: device[.app]?.string ?? app, platform: device[.platform]?.string ?? platform, line: line)
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
