// SPDX-License-Identifier: Apache-2.0

/// Why a text is not JSON.
package struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes from the beginning of the text, from 0.
    package var offset: Int
    package var reason: String

    package var description: String { "at byte \(offset + 1): \(reason)" }
}

/// A strict reader of RFC 8259 JSON: one value, UTF-8, no duplicate names (RFC 8259 section 4 leaves their meaning open;
/// a signed body must have only one reading), bounded depth and breadth. For files that people write it reads JSON5 as well.
package struct JSONReader {
    /// Nested arrays and objects.
    package static let maximumDepth = ListBound.jsonDepth.limit
    /// Names in one object.
    package static let maximumMembers = ListBound.jsonMembers.limit
    /// The number of names up to which a linear search for a duplicate is quicker than a set.
    private static let fewMembers = 16

    let bytes: [UInt8]
    private let start: Int
    let end: Int
    private let isJSON5: Bool
    var position: Int
    /// The places of names that occur again in their object; only in JSON5.
    private var duplicates: [JSONSyntaxError] = []
    /// The most values that are read, of all arrays and objects together.
    private let most: Int
    private var count = 0

    private init(_ bytes: [UInt8], _ range: Range<Int>, isJSON5: Bool, atMost most: Int) {
        self.most = most
        self.bytes = bytes
        self.isJSON5 = isJSON5
        start = range.lowerBound
        end = range.upperBound
        position = range.lowerBound
    }

    /// Reads the one value in `bytes`.
    ///
    /// - Parameter bound: how many values it may have: `jsonValues` for input from strangers. Default `foreignValues`.
    package static func read(
        _ bytes: [UInt8], within bound: ListBound = .foreignValues
    ) throws(JSONSyntaxError) -> JSONValue {
        try read(bytes, in: 0..<bytes.count, within: bound)
    }

    /// Reads the one value in a part of `bytes`.
    package static func read(
        _ bytes: [UInt8], in range: Range<Int>, within bound: ListBound = .foreignValues
    ) throws(JSONSyntaxError) -> JSONValue {
        try read(bytes, in: range, isJSON5: false, atMost: bound.limit).value
    }

    /// Reads the one value of a text in JSON5 (json5.org), and lists the names that occur again: the last of each counts.
    package static func readJSON5(
        _ bytes: [UInt8]
    ) throws(JSONSyntaxError) -> (value: JSONValue, duplicates: [JSONSyntaxError]) {
        try read(bytes, in: 0..<bytes.count, isJSON5: true, atMost: Int.max)
    }

    private static func read(
        _ bytes: [UInt8], in range: Range<Int>, isJSON5: Bool, atMost most: Int
    ) throws(JSONSyntaxError) -> (value: JSONValue, duplicates: [JSONSyntaxError]) {
        do {
            _ = try UTF8Span(validating: bytes.span.extracting(range))
        } catch {
            let isMarked = range.count >= 2 && [0xFE, 0xFF].contains(bytes[range.lowerBound])
            throw JSONSyntaxError(
                offset: error.byteOffsets.lowerBound,
                reason: isMarked ? "the text is UTF-16; UTF-8 is needed" : "the text is not valid UTF-8")
        }
        var reader = JSONReader(bytes, range, isJSON5: isJSON5, atMost: most)
        // "implementations that parse JSON texts MAY ignore the presence of a byte order mark" (RFC 8259, 8.1).
        if range.count >= 3, bytes[range.lowerBound] == 0xEF, bytes[range.lowerBound + 1] == 0xBB,
            bytes[range.lowerBound + 2] == 0xBF
        {
            reader.position += 3
        }
        reader.skipSpace()
        guard reader.position < reader.end else { throw reader.fault("a value is missing") }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == reader.end else { throw reader.fault("there is something after the end") }
        return (value, reader.duplicates)
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw fault("nested deeper than \(Self.maximumDepth)") }
        count += 1
        guard count <= most else { throw fault("more than \(most) values") }
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "'") where isJSON5: return .string(try string())
        case _ where isJSON5: return try word()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
        case nil: throw fault("the text ends where a value is needed")
        default: throw fault("a value is needed")
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        let opening = position
        position += 1
        var members: [JSONMember] = []
        // Filled from `fewMembers` names on.
        var names: Set<String> = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            if isJSON5, take("}") { return .object(members) }
            let place = position
            let name = try name(opening)
            if members.count == Self.fewMembers { names = Set(members.map(\.name)) }
            let isTwice = members.count < Self.fewMembers ? nil : names.contains(name)
            let first = isTwice == false ? nil : members.firstIndex { $0.name == name }
            if first != nil {
                let fault = "the name \"\(JSONValue.shortened(name))\" appears twice"
                guard isJSON5 else { throw self.fault(fault) }
                duplicates.append(JSONSyntaxError(offset: place - start, reason: fault))
            }
            let most = isJSON5 ? Self.maximumMembers * 16 : Self.maximumMembers
            guard members.count < most else { throw fault("an object with more than \(most) names") }
            skipSpace()
            guard take(":") else { throw fault("a colon is needed") }
            skipSpace()
            let member = JSONMember(name: name, value: try value(depth: depth + 1))
            if let first { members[first] = member } else { members.append(member) }
            if members.count > Self.fewMembers { names.insert(name) }
            skipSpace()
            if take(",") { continue }
            guard take("}") else { throw fault("a comma or a closing brace is needed", within: opening) }
            return .object(members)
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        let opening = position
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            skipSpace()
            if isJSON5, take("]") { return .array(elements) }
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(",") { continue }
            guard take("]") else { throw fault("a comma or a closing bracket is needed", within: opening) }
            return .array(elements)
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let word = Array(text.description.utf8)
        guard end - position >= word.count, bytes[position..<position + word.count].elementsEqual(word) else {
            throw fault("a value is needed")
        }
        position += word.count
        return value
    }

    /// RFC 8259 section 6: no leading zeros, digits on both sides of the point.
    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let first = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return .number(String(decoding: bytes[first..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let first = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > first else { throw fault("a digit is needed") }
    }

    // MARK: Strings

    /// - Parameter opening: where the object begins.
    private mutating func name(_ opening: Int) throws(JSONSyntaxError) -> String {
        if peek == UInt8(ascii: "\"") || isJSON5 && peek == UInt8(ascii: "'") { return try string() }
        guard isJSON5 else { throw fault("a name in quotes is needed") }
        let name = run { Self.isName($0, first: $1) }
        guard !name.isEmpty else { throw fault("a name or a closing brace is needed", within: opening) }
        return name
    }

    /// Whether a string must escape the byte. In JSON5 only line ends must be escaped.
    private func mustBeEscaped(_ byte: UInt8) -> Bool { byte < 0x20 && (!isJSON5 || byte == 0x0A || byte == 0x0D) }

    private var escapeFault: JSONSyntaxError {
        fault(
            isJSON5
                ? "a text is not closed in its line" : "a control character in a string must be written as \\u00XX")
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        let quote = bytes[position]
        position += 1
        let first = position
        while let byte = peek {
            switch byte {
            case quote:
                defer { position += 1 }
                return String(decoding: bytes[first..<position], as: UTF8.self)
            case UInt8(ascii: "\\"):
                return try escapedString(from: first, closedBy: quote)
            case _ where mustBeEscaped(byte):
                throw escapeFault
            default:
                position += 1
            }
        }
        throw fault("the text ends inside a string")
    }

    private mutating func escapedString(from first: Int, closedBy quote: UInt8) throws(JSONSyntaxError) -> String {
        var text = Array(bytes[first..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case quote:
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            case _ where mustBeEscaped(byte):
                position -= 1
                throw escapeFault
            default:
                text.append(byte)
            }
        }
        throw fault("the text ends inside a string")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = peek else { throw fault("the text ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let high = try hexUnit()
            var scalar = UInt32(high)
            if (0xD800..<0xDC00).contains(high) {
                guard take("\\"), take("u") else { throw fault("half a surrogate pair") }
                let low = try hexUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw fault("half a surrogate pair") }
                scalar = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            }
            guard let valid = Unicode.Scalar(scalar) else { throw fault("half a surrogate pair") }
            text.append(contentsOf: Array(String(Character(valid)).utf8))
        default:
            position -= 1
            guard isJSON5 else { throw fault("an unknown escape in a string") }
            try escapeOfJSON5(into: &text)
        }
    }

    mutating func hexUnit(_ count: Int = 4) throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<count {
            guard let byte = peek, let digit = Hex.value(of: byte) else {
                throw fault(count == 4 ? "four hex digits are needed after \\u" : "two hex digits are needed after \\x")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: Bytes

    var peek: UInt8? { position < end ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < end, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case _ where isJSON5: guard skipSpaceOfJSON5() else { return }
            default: return
            }
        }
    }

    /// - Parameter opening: where the object or array around it begins, which is the place reported for a missing end.
    func fault(_ reason: String, within opening: Int? = nil) -> JSONSyntaxError {
        guard isJSON5 else { return JSONSyntaxError(offset: position - start, reason: reason) }
        if peek == nil, let opening { return JSONSyntaxError(offset: opening - start, reason: "this is never closed") }
        let isComment = peek == UInt8(ascii: "/")
        return JSONSyntaxError(
            offset: position - start,
            reason: isComment ? "no comment begins here, or none that ends; // or /* … */" : reason)
    }
}
