// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

@testable import ClientCommands
@testable import RelayAPI

extension FuzzTarget {
    /// A file of devices: the cuts on its way make no difference, and the API reads the command's lines alike.
    static let deviceImport = FuzzTarget("device-import") { bytes in
        var input = FuzzInput(bytes)
        let borders = [input.byte(), input.byte(), input.byte()].map { Int($0) % 48 + 1 }
        let file = input.remainder()
        let whole = Import(file, pieces: [file.count])
        let cut = Import(file, pieces: borders)
        try hold(whole == cut, "cut at \(borders): \(cut), whole: \(whole)")
        let numbers = whole.items.map { item in
            switch item {
            case .device(let line, _): line
            case .refused(let refused): refused.line
            }
        }
        try hold(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "lines are numbered \(numbers)")
        for case .device(_, let line) in whole.items {
            let app = AppKey(app: line.app, platform: .android)
            let reading = Result(catching: { () throws(BodyError) in
                try DeviceFields.readLine(line.json, in: 0..<line.json.count, app: app)
            })
            if case .failure(let error) = reading { try holdShort(error, of: line.json) }
            for platform in Platform.allCases { try holdAlike(line.json, AppKey(app: line.app, platform: platform)) }
            // The command itself writes the lines that were CSV.
            if file.first != UInt8(ascii: "{"), case .failure(.notJSON(let error)) = reading, whole.isCSV {
                throw Violation(description: "the command wrote what is no JSON: \(error)")
            }
        }
        // nil: too long.
        var lines = [[[UInt8]?](), []]
        for (index, pieces) in [[file.count], borders].enumerated() {
            var splitter = LineSplitter(limit: 64)
            var numbers: [Int] = []
            for piece in Self.cut(file, pieces) {
                splitter.feed(piece) { bytes, line, number in
                    lines[index].append(line.map { Array(bytes[$0]) })
                    numbers.append(number)
                }
            }
            splitter.finish { bytes, line, number in
                lines[index].append(line.map { Array(bytes[$0]) })
                numbers.append(number)
            }
            try hold(numbers == Array(1..<numbers.count + 1), "lines are numbered \(numbers)")
        }
        try hold(lines[0] == lines[1], "lines differ by where they are cut")

        // A quoted field is read back: RFC 4180, 2.6 and 2.7.
        var rest = FuzzInput(file)
        let fields = [rest.text(), rest.text(), "end"]
        var parser = CSVParser()
        var records: [CSVParser.Record] = []
        var record: [UInt8] = []
        CSVText.append(fields.map(Optional.some), to: &record)
        record.replaceSubrange((record.count - 1)..., with: [0x0D, 0x0A])
        func keep(_ item: CSVParser.Item) -> CSVParser.Shape? {
            if case .record(let record) = item { records.append(record) }
            return nil
        }
        try parser.feed(record, keep)
        try parser.finish(keep)
        // A mark at the very beginning is the file's, not the field's.
        if !record.starts(with: [0xEF, 0xBB, 0xBF]), record.count <= CSVParser.maximumRecord {
            try hold(
                records.count == 1 && records[0].fields.count == 3
                    && zip(records[0].fields, fields).allSatisfy {
                        CSVText.cell(Array($0.utf8)[...]).elementsEqual($1.utf8)
                    },
                "\(fields) came back as \(records)")
        }
    }

    /// A line that the short way takes is taken by the long way, too, and means the same.
    private static func holdAlike(_ line: [UInt8], _ app: AppKey) throws {
        var batch = RegistrationBatch(app: app)
        guard DeviceFields.readPlain(line, in: 0..<line.count, into: &batch) else { return }
        let short = try device(of: batch)
        var long = try DeviceFields.readLine(line, in: 0..<line.count, app: app)
        // Forgotten and production are the same.
        if long.environment == .set(nil) { long.environment = .set(.production) }
        try hold(
            short == long && short.version.value?.text == long.version.value?.text,
            "read plainly: \(short), otherwise: \(long)")
    }

    /// The one device of a batch, as it would have come by itself.
    private static func device(of batch: RegistrationBatch) throws -> DeviceChange {
        guard batch.count == 1 else { throw Violation(description: "\(batch.count) devices in one line") }
        let row = batch.rows[0]
        func text(_ slice: ByteSlice) -> String? {
            slice.isAbsent ? nil : String(decoding: batch.bytes[slice.range], as: UTF8.self)
        }
        var change = DeviceChange(
            token: text(row.token) ?? "",
            environment: row.kept.contains(.environment) ? .keep : .set(row.channel.environment),
            registeredAt: row.registeredAt, deadSince: row.deadSince, seenAt: row.seenAt)
        for field in DeviceField.texts {
            let value = text(row.texts[field])
            change[text: field] = row.kept.contains(field) ? .keep : .set(value)
            // A text that a change does not accept would be accepted here, and by no other door.
            guard row.kept.contains(field) || change[text: field].value == value else {
                throw Violation(description: "\(field): \(value ?? "nothing")")
            }
        }
        return change
    }

    /// The pieces of `bytes` by sizes, over and over.
    private static func cut(_ bytes: [UInt8], _ sizes: [Int]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var place = 0
        while place < bytes.count {
            let end = min(bytes.count, place + max(1, sizes[pieces.count % sizes.count]))
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        return pieces
    }

    private struct Import: Equatable {
        var items: [DeviceReader.Item] = []
        var failure: String?
        var isCSV: Bool

        init(_ file: [UInt8], pieces sizes: [Int]) {
            isCSV = file.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } != UInt8(ascii: "{")
            var reader = DeviceReader(app: "com.example.app", platform: "ios")
            do {
                for piece in FuzzTarget.cut(file, sizes) { try reader.feed(piece) { items.append($0) } }
                try reader.finish { items.append($0) }
            } catch {
                failure = "\(error)"
            }
        }
    }
}
