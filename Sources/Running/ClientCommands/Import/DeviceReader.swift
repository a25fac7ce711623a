// SPDX-License-Identifier: Apache-2.0
import Registry
import Terminal
import UpgradeRules
import WireFormat

/// Reads devices from a file's bytes: delimited text or NDJSON, depending on the first line. Pure.
package struct DeviceReader: Sendable {
    package enum Item: Sendable, Equatable {
        case device(line: Int, DeviceLine)
        case refused(RefusedLine)
    }

    /// A line's app and platform, and the text of both as it stood in the line.
    private struct Place {
        var app: String
        var platform: Platform
        var appText: [UInt8]
        var platformText: [UInt8]
    }

    private enum Form {
        /// Too little was read to decide.
        case unknown
        case csv(CSVParser, DeviceHeader?)
        case ndjson(LineSplitter)
    }

    /// The most bytes of one line: many times the API's limit, but a file without line ends cannot fill the memory.
    private static let longestLine = 1 << 20

    /// The app and the platform for lines that name none.
    let app: String?
    let platform: String?
    /// Whether a line with a `DeviceDoubt` is refused.
    let isStrict: Bool
    /// Whether devices and refused lines keep their text as it stood in the file.
    let keepsRaw: Bool
    private var form = Form.unknown
    private var transcoder: UTF16Reader?
    /// Whether the first record is not the header but names the delimiter.
    private var hasDelimiterLine = false
    /// The app and platform of the line before; nearly always the next line has the same.
    private var lastPlace: Place?
    private var firstBytes: [UInt8] = []
    private var items = 0

    /// The lines with which a file of refused lines must begin, so that it can be imported.
    package private(set) var preamble: [UInt8] = []
    private(set) var doubts = DoubtTally()
    /// The header's warnings that were not taken yet.
    private var warnings: [String] = []

    package init(app: String?, platform: String?, isStrict: Bool = false, keepsRaw: Bool = false) {
        self.app = app
        self.platform = platform
        self.isStrict = isStrict
        self.keepsRaw = keepsRaw
    }

    /// - Throws: `CommandFailure` where the file as a whole cannot be read: its encoding, its header.
    package mutating func feed(_ bytes: [UInt8], _ receive: (Item) throws -> Void) throws {
        if case .unknown = form {
            firstBytes += bytes
            guard firstBytes.count >= InputText.sample else { return }
            try begin(receive)
        } else if transcoder != nil {
            let text = transcoder?.feed(bytes) ?? []
            try read(text, receive)
        } else {
            try read(bytes, receive)
        }
    }

    package mutating func finish(_ receive: (Item) throws -> Void) throws {
        if case .unknown = form { try begin(receive) }
        if let rest = transcoder?.finish(), !rest.isEmpty { try read(rest, receive) }
        switch form {
        case .unknown:
            break
        case .csv(var parser, var header):
            try parser.finish { try take($0, header: &header, receive) }
        case .ndjson(var splitter):
            try splitter.finish { try take(json: $0, $1, line: $2, receive) }
        }
        form = .unknown
        guard items > 0 else { throw CommandFailure(.failed, "the file has a header and no devices") }
    }

    /// Returns the warnings for the user since the last call.
    mutating func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    private mutating func read(_ bytes: [UInt8], _ receive: (Item) throws -> Void) throws {
        switch form {
        case .unknown:
            break
        case .csv(var parser, var header):
            // The enum must not hold a second reference while its payload changes: that would copy it.
            form = .unknown
            try parser.feed(bytes) { try take($0, header: &header, receive) }
            form = .csv(parser, header)
        case .ndjson(var splitter):
            form = .unknown
            try splitter.feed(bytes) { try take(json: $0, $1, line: $2, receive) }
            form = .ndjson(splitter)
        }
    }

    /// Chooses the form by the first `InputText.sample` bytes, however many have come.
    private mutating func begin(_ receive: (Item) throws -> Void) throws {
        let sample = firstBytes.prefix(InputText.sample)
        var text: [UInt8]
        let beginning: ArraySlice<UInt8>
        switch InputText(sample) {
        case .utf8(let mark):
            text = Array(firstBytes[mark...])
            beginning = sample.dropFirst(mark)
        case .utf16(let mark, let isLittleEndian):
            var reader = UTF16Reader(isLittleEndian: isLittleEndian)
            beginning = reader.feed(sample.dropFirst(mark))[...]
            reader = UTF16Reader(isLittleEndian: isLittleEndian)
            text = reader.feed(firstBytes[mark...])
            transcoder = reader
        case .other(let name, let hint):
            throw CommandFailure(.failed, "the file is \(name)", hint: hint)
        }
        firstBytes = []
        guard let first = beginning.firstIndex(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            throw CommandFailure(
                .failed,
                sample.count < InputText.sample
                    ? "the file is empty" : "the file begins with \(InputText.sample) bytes of white space")
        }
        if beginning[first] == UInt8(ascii: "[") {
            throw CommandFailure(
                .failed, "the file is a JSON array, and one object on each line is needed (NDJSON)",
                hint: "jq -c '.[]' FILE | upgrade-relay devices import -")
        }
        if !beginning[first...].contains(0x0A), let end = beginning[first...].firstIndex(of: 0x0D),
            end + 1 < beginning.endIndex
        {
            throw CommandFailure(
                .failed, "the lines end with a carriage return alone, as old Macs write them",
                hint: "tr '\\r' '\\n' < FILE | upgrade-relay devices import -")
        }
        if beginning[first] == UInt8(ascii: "{") {
            form = .ndjson(LineSplitter(limit: Self.longestLine))
        } else {
            let line = beginning[first...].prefix { $0 != 0x0A }
            let announced = DeviceHeader.announcedDelimiter(line)
            hasDelimiterLine = announced != nil
            form = .csv(CSVParser(delimiter: announced ?? DeviceHeader.delimiter(of: line)), nil)
        }
        try read(text, receive)
    }

    private mutating func give(_ item: Item, _ receive: (Item) throws -> Void) throws {
        items += 1
        try receive(item)
    }

    // MARK: CSV

    private mutating func take(
        _ item: CSVParser.Item, header: inout DeviceHeader?, _ receive: (Item) throws -> Void
    ) throws -> CSVParser.Shape? {
        let record: CSVParser.Record
        switch item {
        case .fault(let fault):
            guard header != nil else {
                throw CommandFailure(.failed, "the header cannot be read: \(fault)")
            }
            try give(.refused(RefusedLine(line: fault.line, reason: fault.problem, raw: fault.raw)), receive)
            return nil
        case .record(let whole):
            record = whole
        }
        guard let columns = header else { return try begin(record, header: &header) }
        try give(device(record, columns), receive)
        return nil
    }

    private mutating func begin(_ record: CSVParser.Record, header: inout DeviceHeader?) throws -> CSVParser.Shape? {
        preamble += record.raw + [0x0A]
        if hasDelimiterLine {
            hasDelimiterLine = false
            return nil
        }
        guard InputText.isUTF8(record.bytes[...]) else {
            throw CommandFailure(.failed, "the header is not in UTF-8")
        }
        let columns = try DeviceHeader(record.fields, app: app != nil, platform: platform != nil)
        header = columns
        warnings += columns.warnings
        return CSVParser.Shape(count: columns.count, plain: columns.fields.compactMap(\.self), keepsRaw: keepsRaw)
    }

    private mutating func device(_ record: CSVParser.Record, _ columns: DeviceHeader) -> Item {
        let raw = keepsRaw ? record.raw : nil
        guard record.count == columns.count else {
            let problem = "\(record.count) fields where the header has \(columns.count)"
            return .refused(RefusedLine(line: record.line, reason: problem, raw: raw))
        }
        do throws(RefusedLine) {
            let place = try place(
                app: columns.value(0, of: record) ?? [], platform: columns.value(1, of: record) ?? [],
                line: record.line)
            // Nearly every line is ASCII throughout.
            if !record.bytes.allSatisfy({ $0 < 0x80 }) { try checkText(of: record, columns) }
            try doubt(of: place.platform, line: record.line) { columns.value($0.index, of: record) ?? [] }
            let json = Self.json { columns.value($0, of: record) }
            return .device(
                line: record.line, DeviceLine(app: place.app, platform: place.platform.rawValue, json: json, raw: raw))
        } catch {
            return .refused(RefusedLine(line: error.line, reason: error.reason, raw: raw))
        }
    }

    private func checkText(of record: CSVParser.Record, _ columns: DeviceHeader) throws(RefusedLine) {
        for (index, column) in DeviceLine.columns.enumerated() {
            guard let value = columns.value(index, of: record), !InputText.isUTF8(value) else { continue }
            // Decoding would lose its meaning, and another value would be stored.
            throw RefusedLine(line: record.line, reason: "\(column.name): not in UTF-8")
        }
    }

    /// - Parameter value: the bytes of a column; empty where there is none.
    private mutating func doubt(
        of platform: Platform, line: Int, _ value: ((column: DeviceField, index: Int)) -> ArraySlice<UInt8>
    ) throws(RefusedLine) {
        var first: DeviceDoubt?
        for judged in Self.judged {
            let bytes = value(judged)
            guard let doubt = DeviceDoubt(bytes, of: judged.column, on: platform) else { continue }
            doubts.add(doubt, bytes, line: line)
            first = first ?? doubt
        }
        guard isStrict, let first else { return }
        throw RefusedLine(line: line, reason: first.text)
    }

    /// The columns of `DeviceDoubt`, with their indexes among all columns.
    private static let judged = DeviceDoubt.columns.compactMap { column in
        DeviceLine.columns.firstIndex(of: column).map { (column: column, index: $0) }
    }

    /// The JSON object of a device, without its app and platform. A column that the file does not have is left out, so the relay
    /// keeps the field; an empty cell is null, which clears it.
    ///
    /// - Parameter value: the bytes of a column, by its index among all; nil: the file does not have the column.
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
                JSONWriter.append(quoted: String(decoding: value, as: UTF8.self), to: &json)
            }
        }
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// The columns behind app and platform: their names in JSON with the colon, and their indexes.
    private static let names = DeviceLine.columns.enumerated().dropFirst(2).map {
        (Array("\"\($0.element.name)\":".utf8), $0.offset)
    }

    /// A line's app and platform: its own, or the command's where its own are empty.
    private mutating func place(
        app: ArraySlice<UInt8>, platform: ArraySlice<UInt8>, line: Int
    ) throws(RefusedLine) -> Place {
        if let last = lastPlace, app.elementsEqual(last.appText), platform.elementsEqual(last.platformText) {
            return last
        }
        var place = try checked(
            app: app.isEmpty ? self.app : String(decoding: app, as: UTF8.self),
            platform: platform.isEmpty ? self.platform : String(decoding: platform, as: UTF8.self), line: line)
        (place.appText, place.platformText) = (Array(app), Array(platform))
        lastPlace = place
        return place
    }

    // MARK: NDJSON

    private mutating func take(
        json bytes: [UInt8], _ range: Range<Int>?, line: Int, _ receive: (Item) throws -> Void
    ) throws {
        guard let range else {
            let reason = "the line has more than \(Self.longestLine) bytes"
            return try give(.refused(RefusedLine(line: line, reason: reason)), receive)
        }
        guard bytes[range].contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return }
        let json = Array(bytes[range])
        let item: Item
        do throws(RefusedLine) {
            let place = try place(json: bytes, range, line: line)
            // The API reads and judges the line itself, so it is passed on unchanged.
            item = .device(
                line: line,
                DeviceLine(app: place.app, platform: place.platform.rawValue, json: json, raw: keepsRaw ? json : nil))
        } catch {
            item = .refused(RefusedLine(line: error.line, reason: error.reason, raw: keepsRaw ? json : nil))
        }
        try give(item, receive)
    }

    private mutating func place(
        json bytes: [UInt8], _ range: Range<Int>, line: Int
    ) throws(RefusedLine) -> Place {
        // In NDJSON an empty name is not replaced by the command's.
        if let plain = DeviceLineScan(bytes, in: range), plain[.app]?.isEmpty != true,
            plain[.platform]?.isEmpty != true
        {
            func value(_ column: DeviceField) -> ArraySlice<UInt8> { plain[column].map { bytes[$0] } ?? [] }
            let place = try place(app: value(.app), platform: value(.platform), line: line)
            try doubt(of: place.platform, line: line) { value($0.column) }
            return place
        }
        let device: JSONValue
        do throws(JSONSyntaxError) {
            device = try JSONReader.read(bytes, in: range)
        } catch {
            throw RefusedLine(line: line, reason: "not JSON, \(error)")
        }
        guard device.object != nil else { throw RefusedLine(line: line, reason: "not a JSON object") }
        let place = try checked(
            app: device[.app]?.string ?? app, platform: device[.platform]?.string ?? platform, line: line)
        try doubt(of: place.platform, line: line) { Array((device[$0.column.name]?.string ?? "").utf8)[...] }
        return place
    }

    private func checked(
        app: String?, platform: String?, line: Int
    ) throws(RefusedLine) -> Place {
        guard let app else { throw RefusedLine(line: line, reason: "app: missing") }
        guard let platform else { throw RefusedLine(line: line, reason: "platform: missing; ios or android") }
        // Many databases write "iOS".
        guard let known = Platform(rawValue: platform.lowercased()) else {
            let shown = DisplayWidth.truncated(DisplayWidth.sanitised(platform), to: 40)
            throw RefusedLine(line: line, reason: "platform: \"\(shown)\" is not a platform; ios or android")
        }
        return Place(app: app, platform: known, appText: [], platformText: [])
    }
}
