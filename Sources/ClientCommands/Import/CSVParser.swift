// SPDX-License-Identifier: Apache-2.0

/// Comma-separated values by RFC 4180, byte by byte, so that a file of any size passes through. Pure.
///
/// Line ends may be CRLF or LF, the last one may be missing; empty lines are passed over.
struct CSVParser: Sendable {
    struct Record: Sendable, Equatable {
        /// Of the line on which the record begins, from 1.
        var line: Int
        /// The fields one after another, without quotes and commas.
        fileprivate(set) var bytes: [UInt8] = []
        /// Where each of them ends.
        fileprivate var ends: [Int] = []

        var count: Int { ends.count }

        /// Where a field is in `bytes`.
        subscript(index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

        var fields: [String] { ends.indices.map { String(decoding: bytes[self[$0]], as: UTF8.self) } }
    }

    struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        var line: Int
        var problem: String

        var description: String { "line \(line): \(problem)" }
    }

    private enum State {
        case fieldStart
        case unquoted
        case quoted
        /// After a quote within a quoted field: the end of it, or the first of two that mean one.
        case quoteInQuoted
        /// After a closing quote and a CR: the LF must follow.
        case closed
    }

    /// A field may not be larger: a quote that is never closed would swallow the file.
    static let maximumField = 65_536
    /// A line may not have more: one without an end would fill the memory, comma by comma.
    static let maximumFields = 256

    private var state = State.fieldStart
    private var lineNumber = 1
    /// What there is of it.
    private var record = Record(line: 1)
    /// Where its last field begins.
    private var fieldStart = 0
    private var hasContent = false

    init() {}

    /// Hands each record that `bytes` completes to `receive`.
    mutating func feed(_ bytes: ArraySlice<UInt8>, _ receive: (Record) throws -> Void) throws {
        var place = bytes.startIndex
        // Not looked for again where there is none: that would take a time that grows with the square.
        var hasLineEnd = true
        while place < bytes.endIndex {
            if hasLineEnd, state == .fieldStart, !hasContent {
                if let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
                    if try takePlain(bytes[place..<end], receive) {
                        place = end + 1
                        continue
                    }
                } else {
                    hasLineEnd = false
                }
            }
            try take(bytes[place], receive)
            place += 1
        }
    }

    mutating func feed(_ bytes: [UInt8], _ receive: (Record) throws -> Void) throws {
        try feed(bytes[...], receive)
    }

    /// A whole line without quotes, as nearly all are. False, and nothing is changed, where it is not so plain.
    private mutating func takePlain(_ line: ArraySlice<UInt8>, _ receive: (Record) throws -> Void) throws -> Bool {
        guard line.count <= Self.maximumField else { return false }
        let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        var commas = 0
        for byte in text {
            if byte == UInt8(ascii: ",") { commas += 1 }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\r") { return false }
        }
        guard commas < Self.maximumFields else { return false }
        if !text.isEmpty {
            defer { clear() }
            var rest = text
            while let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
                record.bytes.append(contentsOf: rest[..<comma])
                record.ends.append(record.bytes.count)
                rest = rest[(comma + 1)...]
            }
            record.bytes.append(contentsOf: rest)
            record.ends.append(record.bytes.count)
            try receive(record)
        }
        lineNumber += 1
        record.line = lineNumber
        return true
    }

    /// The record that the end of the file completes.
    mutating func finish(_ receive: (Record) throws -> Void) throws {
        if state == .quoted { throw Fault(line: record.line, problem: "a quote is never closed") }
        try endRecord(receive)
    }

    private mutating func take(_ byte: UInt8, _ receive: (Record) throws -> Void) throws {
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")):
            state = .quoteInQuoted
        case (.quoted, _):
            if byte == UInt8(ascii: "\n") { lineNumber += 1 }
            try append(byte)
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            state = .quoted
            try append(byte)
        case (.fieldStart, UInt8(ascii: "\"")):
            state = .quoted
            hasContent = true
        case (.closed, _) where byte != UInt8(ascii: "\n"):
            throw Self.notClosed(lineNumber)
        case (_, UInt8(ascii: ",")):
            guard record.count < Self.maximumFields else {
                throw Fault(line: record.line, problem: "more than \(Self.maximumFields) fields")
            }
            endField()
            hasContent = true
        case (_, UInt8(ascii: "\n")):
            try endRecord(receive)
            lineNumber += 1
            record.line = lineNumber
        case (.quoteInQuoted, UInt8(ascii: "\r")):
            state = .closed
        case (.fieldStart, UInt8(ascii: "\r")):
            // Part of CRLF: the LF follows.
            break
        case (.quoteInQuoted, _):
            throw Self.notClosed(lineNumber)
        case (.unquoted, UInt8(ascii: "\"")):
            throw Fault(line: lineNumber, problem: "a quote inside a field that does not begin with one")
        default:
            state = .unquoted
            hasContent = true
            try append(byte)
        }
    }

    private static func notClosed(_ line: Int) -> Fault {
        Fault(line: line, problem: "a comma or the line's end must follow a closing quote")
    }

    private mutating func append(_ byte: UInt8) throws {
        guard record.bytes.count - fieldStart < Self.maximumField else {
            throw Fault(
                line: record.line, problem: "a field has more than \(Self.maximumField) bytes; is a quote missing?")
        }
        record.bytes.append(byte)
    }

    private mutating func endField() {
        if state == .unquoted, record.bytes.count > fieldStart, record.bytes.last == UInt8(ascii: "\r") {
            record.bytes.removeLast()
        }
        fieldStart = record.bytes.count
        record.ends.append(fieldStart)
        state = .fieldStart
    }

    private mutating func endRecord(_ receive: (Record) throws -> Void) throws {
        defer { clear() }
        guard hasContent else { return }
        endField()
        try receive(record)
    }

    private mutating func clear() {
        record.bytes.removeAll(keepingCapacity: true)
        record.ends.removeAll(keepingCapacity: true)
        fieldStart = 0
        hasContent = false
        state = .fieldStart
    }

    /// The field as it is written: in quotes where it must be (RFC 4180, 2.6).
    static func quoted(_ text: String) -> String {
        let needs = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard needs else { return text }
        // By bytes: with a combining mark behind it, a quote is another character to `String`.
        let doubled = text.utf8.flatMap { $0 == 0x22 ? [$0, $0] : [$0] }
        return "\"\(String(decoding: doubled, as: UTF8.self))\""
    }
}
