// SPDX-License-Identifier: Apache-2.0

/// Comma-separated values by RFC 4180, byte by byte, so that a file of any size passes through. Pure.
///
/// Line ends may be CRLF or LF, the last one may be missing; empty lines are passed over.
struct CSVParser: Sendable {
    struct Record: Sendable, Equatable {
        /// Of the line on which the record begins, from 1.
        var line: Int
        var fields: [String]
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
    private var line = 1
    private var recordLine = 1
    private var field: [UInt8] = []
    private var fields: [String] = []
    private var hasContent = false

    init() {}

    /// Hands each record that `bytes` completes to `receive`.
    mutating func feed(_ bytes: some Sequence<UInt8>, _ receive: (Record) throws -> Void) throws {
        for byte in bytes { try take(byte, receive) }
    }

    /// The record that the end of the file completes.
    mutating func finish(_ receive: (Record) throws -> Void) throws {
        if state == .quoted { throw Fault(line: recordLine, problem: "a quote is never closed") }
        try endRecord(receive)
    }

    private mutating func take(_ byte: UInt8, _ receive: (Record) throws -> Void) throws {
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")):
            state = .quoteInQuoted
        case (.quoted, _):
            if byte == UInt8(ascii: "\n") { line += 1 }
            try append(byte)
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            state = .quoted
            try append(byte)
        case (.fieldStart, UInt8(ascii: "\"")):
            state = .quoted
            hasContent = true
        case (.closed, _) where byte != UInt8(ascii: "\n"):
            throw Self.notClosed(line)
        case (_, UInt8(ascii: ",")):
            guard fields.count < Self.maximumFields else {
                throw Fault(line: recordLine, problem: "more than \(Self.maximumFields) fields")
            }
            endField()
            hasContent = true
        case (_, UInt8(ascii: "\n")):
            try endRecord(receive)
            line += 1
            recordLine = line
        case (.quoteInQuoted, UInt8(ascii: "\r")):
            state = .closed
        case (.fieldStart, UInt8(ascii: "\r")):
            // Part of CRLF: the LF follows.
            break
        case (.quoteInQuoted, _):
            throw Self.notClosed(line)
        case (.unquoted, UInt8(ascii: "\"")):
            throw Fault(line: line, problem: "a quote inside a field that does not begin with one")
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
        guard field.count < Self.maximumField else {
            throw Fault(
                line: recordLine, problem: "a field has more than \(Self.maximumField) bytes; is a quote missing?")
        }
        field.append(byte)
    }

    private mutating func endField() {
        if state == .unquoted, field.last == UInt8(ascii: "\r") { field.removeLast() }
        fields.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
    }

    private mutating func endRecord(_ receive: (Record) throws -> Void) throws {
        defer {
            field.removeAll(keepingCapacity: true)
            fields.removeAll(keepingCapacity: true)
            hasContent = false
            state = .fieldStart
        }
        guard hasContent else { return }
        endField()
        try receive(Record(line: recordLine, fields: fields))
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
