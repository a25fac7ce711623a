// SPDX-License-Identifier: Apache-2.0

/// Parses delimited text by RFC 4180, piece by piece, so that a file may have any size. Pure.
///
/// Line ends may be CRLF or LF, the last one may be missing; empty lines are skipped. A malformed record costs only itself:
/// the parser goes on with the line after the one on which that record began. A quote that is never properly closed would
/// otherwise swallow the lines behind it.
struct CSVParser: Sendable {
    struct Record: Sendable, Equatable {
        /// The number of the line on which the record begins, from 1.
        var line: Int
        /// The fields one after another, without quotes and delimiters.
        fileprivate(set) var bytes: [UInt8] = []
        /// The end of each field in `bytes`.
        fileprivate var ends: [Int] = []
        /// As it stood in the file, without its line end; empty where `Shape.keepsRaw` is false.
        fileprivate(set) var raw: [UInt8] = []

        var count: Int { ends.count }

        /// The place of a field in `bytes`.
        subscript(index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

        var fields: [String] { ends.indices.map { String(decoding: bytes[self[$0]], as: UTF8.self) } }
    }

    /// A line that begins no readable record.
    struct Fault: Sendable, Equatable, CustomStringConvertible {
        var line: Int
        var problem: String
        /// The line without its end; nil where it was too long to be kept.
        var raw: [UInt8]?

        var description: String { "line \(line): \(problem)" }
    }

    enum Item: Sendable, Equatable {
        case record(Record)
        case fault(Fault)
    }

    /// The header's rules for the records behind it.
    struct Shape: Sendable {
        var count: Int
        /// The indexes of fields that never hold a line break in a correct file: a line break in one comes from a stray quote.
        var plain: [Int]
        /// Whether records keep their text as it stood in the file.
        var keepsRaw: Bool
    }

    /// The most bytes of a line, or of a record of several lines.
    static let maximumRecord = 65_536
    /// The most fields of a record.
    static let maximumFields = 256

    private let delimiter: UInt8
    /// nil before the header is read.
    private var shape: Shape?
    /// The bytes that are not parsed yet, from `start` on.
    private var buffer: [UInt8] = []
    private var start = 0
    private var line: Int
    /// Whether the rest of a line that is too long is being skipped.
    private var isSkipping = false
    private var record = Record(line: 1)

    /// - Parameter line: the number of the first line.
    init(delimiter: UInt8 = UInt8(ascii: ","), line: Int = 1) {
        self.delimiter = delimiter
        self.line = line
    }

    /// Hands each record that `bytes` completes to `receive`, in the order of the file. The shape that `receive` returns for the
    /// header applies to the records behind it.
    mutating func feed(_ bytes: some Collection<UInt8>, _ receive: (Item) throws -> Shape?) throws {
        buffer.removeFirst(start)
        start = 0
        buffer += bytes
        while try takeRecord(isLast: false, receive) {}
    }

    /// Hands over the records that the end of the file completes.
    mutating func finish(_ receive: (Item) throws -> Shape?) throws {
        while try takeRecord(isLast: true, receive) {}
    }

    /// Returns false where more bytes are needed.
    private mutating func takeRecord(isLast: Bool, _ receive: (Item) throws -> Shape?) throws -> Bool {
        guard start < buffer.count else { return false }
        let lineFeed = buffer[start...].firstIndex(of: 0x0A)
        if isSkipping {
            start = lineFeed.map { $0 + 1 } ?? buffer.count
            guard lineFeed != nil else { return false }
            isSkipping = false
            line += 1
            return true
        }
        let end = lineFeed ?? buffer.count
        if end - start > Self.maximumRecord {
            let fault = Fault(line: line, problem: "the line has more than \(Self.maximumRecord) bytes", raw: nil)
            if lineFeed == nil { isSkipping = true } else { line += 1 }
            start = lineFeed.map { $0 + 1 } ?? buffer.count
            _ = try receive(.fault(fault))
            return true
        }
        guard lineFeed != nil || isLast else { return false }
        let next = lineFeed.map { $0 + 1 } ?? end
        let text = withoutCarriageReturn(start..<end)
        record.line = line
        defer { clear() }
        if text.isEmpty {
            (start, line) = (next, line + 1)
            return true
        }
        let outcome = takePlain(text) ? .whole(end: next, lines: 1) : takeQuoted(isLast: isLast)
        switch outcome {
        case .unfinished:
            return false
        case .whole(let last, let lines):
            if shape?.keepsRaw ?? true {
                let all = start..<last
                record.raw += buffer[withoutCarriageReturn(buffer[all].last == 0x0A ? all.dropLast() : all)]
            }
            (start, line) = (last, line + lines)
            shape = try receive(.record(record)) ?? shape
        case .broken(let problem):
            let fault = Fault(line: line, problem: problem, raw: Array(buffer[text]))
            (start, line) = (next, line + 1)
            shape = try receive(.fault(fault)) ?? shape
        }
        return true
    }

    private enum Outcome {
        case whole(end: Int, lines: Int)
        /// More bytes are needed.
        case unfinished
        case broken(String)
    }

    private func withoutCarriageReturn(_ range: Range<Int>) -> Range<Int> {
        !range.isEmpty && buffer[range.upperBound - 1] == 0x0D ? range.dropLast() : range
    }

    /// Takes a line without quotes, as nearly all are. Returns false, and changes nothing, for any other line.
    private mutating func takePlain(_ text: Range<Int>) -> Bool {
        var delimiters = 0
        for byte in buffer[text] {
            if byte == delimiter { delimiters += 1 }
            if byte == UInt8(ascii: "\"") { return false }
        }
        guard delimiters < Self.maximumFields else { return false }
        var rest = buffer[text]
        while let place = rest.firstIndex(of: delimiter) {
            record.bytes.append(contentsOf: rest[..<place])
            record.ends.append(record.bytes.count)
            rest = rest[(place + 1)...]
        }
        record.bytes.append(contentsOf: rest)
        record.ends.append(record.bytes.count)
        return true
    }

    private enum State {
        case fieldStart
        case unquoted
        case quoted
        /// After a quote within a quoted field: it either closes the field or is the first of two that stand for one.
        case quoteInQuoted
        /// After a closing quote and a CR: the LF must follow.
        case closed
    }

    /// Takes a record with quotes, which may have several lines. Looks no further than `maximumRecord`, however the file was cut
    /// into pieces.
    private mutating func takeQuoted(isLast: Bool) -> Outcome {
        var state = State.fieldStart
        var lines = 0
        var place = start
        let limit = min(buffer.count, start + Self.maximumRecord + 1)
        while place < limit {
            let byte = buffer[place]
            place += 1
            switch (state, byte) {
            case (.quoted, UInt8(ascii: "\"")):
                state = .quoteInQuoted
            case (.quoted, _):
                if byte == 0x0A { lines += 1 }
                record.bytes.append(byte)
            case (.quoteInQuoted, UInt8(ascii: "\"")):
                state = .quoted
                record.bytes.append(byte)
            case (.fieldStart, UInt8(ascii: "\"")):
                state = .quoted
            case (.closed, _) where byte != 0x0A:
                return .broken(Self.notClosed)
            case (_, delimiter):
                guard record.count + 1 < Self.maximumFields else {
                    return .broken("more than \(Self.maximumFields) fields")
                }
                record.ends.append(record.bytes.count)
                state = .fieldStart
            case (_, 0x0A):
                if state == .unquoted, record.bytes.last == 0x0D { record.bytes.removeLast() }
                return whole(end: place, lines: lines + 1)
            case (.quoteInQuoted, 0x0D):
                state = .closed
            case (.quoteInQuoted, _):
                return .broken(Self.notClosed)
            case (.unquoted, UInt8(ascii: "\"")):
                return .broken("a quote inside a field that does not begin with one")
            default:
                state = .unquoted
                record.bytes.append(byte)
            }
        }
        if buffer.count - start > Self.maximumRecord {
            return .broken("a quote is opened and not closed within \(Self.maximumRecord) bytes")
        }
        guard isLast else { return .unfinished }
        if state == .quoted { return .broken("a quote is never closed") }
        if state == .unquoted, record.bytes.last == 0x0D { record.bytes.removeLast() }
        return whole(end: place, lines: lines + 1)
    }

    /// Ends the last field, and checks that a record of several lines fits the shape.
    private mutating func whole(end: Int, lines: Int) -> Outcome {
        record.ends.append(record.bytes.count)
        guard lines > 1, let shape else { return .whole(end: end, lines: lines) }
        let isRight =
            record.count == shape.count && shape.plain.allSatisfy { !record.bytes[record[$0]].contains(0x0A) }
        guard isRight else {
            return .broken("a quote is opened here and closed in line \(line + lines - 1)")
        }
        return .whole(end: end, lines: lines)
    }

    private static let notClosed = "a delimiter or the line's end must follow a closing quote"

    private mutating func clear() {
        record.bytes.removeAll(keepingCapacity: true)
        record.ends.removeAll(keepingCapacity: true)
        record.raw.removeAll(keepingCapacity: true)
    }
}
