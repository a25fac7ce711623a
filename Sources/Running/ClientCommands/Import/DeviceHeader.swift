// SPDX-License-Identifier: Apache-2.0
import Registry
import Terminal
import WireFormat

/// The first line of a table: it names the fields of the lines behind it.
struct DeviceHeader: Sendable {
    /// The index in the file of each column of `DeviceLine.columns`; nil: the file does not have the column.
    let fields: [Int?]
    let count: Int
    /// Warnings about it for the user.
    let warnings: [String]

    /// - Parameters:
    ///   - app: whether the command was given the app, so that no column is needed.
    ///   - platform: whether it was given the platform.
    /// - Throws: `CommandFailure` where the header lacks a column that is needed, or names one twice.
    init(_ names: [String], app: Bool, platform: Bool) throws {
        let names = names.map { TrimmedText.trimmed($0) }
        let columns = DeviceLine.columns.map(\.name)
        fields = columns.map { names.firstIndex(of: $0) }
        count = names.count
        for column in columns where names.filter({ $0 == column }).count > 1 {
            throw CommandFailure(.failed, "the header names the column \"\(column)\" twice")
        }
        func meant(_ name: String) -> String? {
            guard let field = Self.meaning(of: name), !names.contains(field.name) else { return nil }
            return field.name
        }
        func missing(_ column: DeviceField, or option: String?) throws {
            if names.contains(column.name) { return }
            let other = names.first { meant($0) == column.name }
            let hint = other.map { "rename the column \"\(DisplayWidth.sanitised($0))\" to \"\(column.name)\"" }
            throw CommandFailure(
                .failed, "the header names no column \"\(column.name)\"",
                hint: [hint ?? (option == nil ? nil : "add it"), option.map { "give \($0)" }].compactMap(\.self)
                    .joined(separator: ", or ").nonEmpty
                    ?? "the first line names the columns: \(columns.joined(separator: ", "))")
        }
        try missing(.token, or: nil)
        if !app { try missing(.app, or: "--app") }
        if !platform { try missing(.platform, or: "--platform") }
        warnings = names.filter { !columns.contains($0) }.map { name in
            let shown = DisplayWidth.truncated(DisplayWidth.sanitised(name), to: 40)
            if shown.isEmpty { return "a column without a name is ignored" }
            return "the column \"\(shown)\" is ignored" + (meant(name).map { "; did you mean \"\($0)\"?" } ?? "")
        }
    }

    private static func meaning(of name: String) -> DeviceField? {
        let bare = String(name.lowercased().filter { !"_-. ".contains($0) })
        if let column = DeviceLine.columns.first(where: { $0.name.lowercased() == bare }) { return column }
        if let column = DeviceLine.columns.first(where: { $0.synonyms.contains(bare) }) { return column }
        return Suggestion.nearest(to: name, among: DeviceLine.columns.map(\.name)).flatMap {
            DeviceField(name: $0)
        }
    }

    /// The delimiter of a header: the one that splits it into the most known columns.
    static func delimiter(of line: ArraySlice<UInt8>) -> UInt8 {
        let columns = Set(DeviceLine.columns.map(\.name))
        func known(_ delimiter: UInt8) -> Int {
            line.split(separator: delimiter, omittingEmptySubsequences: false).count { name in
                let text = String(decoding: name, as: UTF8.self)
                return columns.contains(TrimmedText.trimmed(text) { " \"\r".unicodeScalars.contains($0) })
            }
        }
        let best = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].map { mark in
            (mark, known(mark), line.count { $0 == mark })
        }
        .max { ($0.1, $0.2) < ($1.1, $1.2) }
        return best.map(\.0) ?? UInt8(ascii: ",")
    }

    /// The delimiter that a line "sep=;" names, as Excel writes and reads it.
    static func announcedDelimiter(_ line: ArraySlice<UInt8>) -> UInt8? {
        let text = line.filter { $0 != UInt8(ascii: "\"") && $0 != 0x0D }
        guard text.count == 5, String(decoding: text.prefix(4), as: UTF8.self).lowercased() == "sep=" else {
            return nil
        }
        return text.last
    }

    /// The bytes of a column, without the apostrophe that keeps a spreadsheet from taking them for a formula; nil where the file
    /// does not have the column.
    func value(_ column: Int, of record: CSVParser.Record) -> ArraySlice<UInt8>? {
        fields[column].map { CSVText.cell(record.bytes[record[$0]]) }
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
