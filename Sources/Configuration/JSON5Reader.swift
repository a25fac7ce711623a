// SPDX-License-Identifier: Apache-2.0
import Terminal
package import WireFormat

/// Reads JSON5 (json5.org) and says where it is none, by line and column. Pure.
package struct JSON5Reader {
    private let text: [Unicode.Scalar]
    private var place = 0
    private var depth = 0
    private var duplicates: [ConfigurationFault] = []
    /// More than anybody repairs at a time: each place is counted from the beginning of the text.
    private static let mostDuplicates = 20

    private init(_ text: [Unicode.Scalar]) {
        self.text = text
    }

    /// The one value of the text, and the keys that stand twice, of which it has the last.
    ///
    /// - Throws: the first thing that is not JSON5.
    package static func read(
        _ bytes: [UInt8]
    ) throws(ConfigurationFault) -> (value: JSONValue, duplicates: [ConfigurationFault]) {
        // json5.org: a text is Unicode.
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            let line = lines.prefix { String(validating: $0, as: UTF8.self) != nil }.count + 1
            throw ConfigurationFault("", "not JSON5: line \(line) holds bytes that are not UTF-8")
        }
        var reader = JSON5Reader(Array(text.unicodeScalars))
        if reader.peek == "\u{FEFF}" { reader.place += 1 }
        let value = try reader.value()
        try reader.space()
        if let rest = reader.peek { throw reader.fault("\(shown(rest)) after the end of the value") }
        return (value, reader.duplicates)
    }

    // MARK: Grammar (json5.org)

    private mutating func value() throws(ConfigurationFault) -> JSONValue {
        try space()
        guard let first = peek else { throw fault("a value is missing") }
        switch first {
        case "{": return .object(try object())
        case "[": return .array(try array())
        case "\"", "'": return .string(try string())
        default: return try word()
        }
    }

    private mutating func object() throws(ConfigurationFault) -> [JSONMember] {
        var members: [JSONMember] = []
        var places: [String: Int] = [:]
        try list(closedBy: "}") { reader, start throws(ConfigurationFault) in
            let keyPlace = reader.place
            let key = try reader.key(opened: start)
            try reader.space()
            guard reader.take(":") else {
                throw reader.unexpected("a colon after the key \"\(Self.shown(key))\"", opened: start)
            }
            let member = JSONMember(name: key, value: try reader.value())
            guard let first = places[key] else {
                places[key] = members.count
                members.append(member)
                return
            }
            members[first] = member
            if reader.duplicates.count < Self.mostDuplicates {
                let problem = "the key \"\(Self.shown(key))\" stands here a second time"
                reader.duplicates.append(ConfigurationFault("", "\(reader.position(keyPlace)): \(problem)"))
            }
        }
        return members
    }

    private mutating func array() throws(ConfigurationFault) -> [JSONValue] {
        var elements: [JSONValue] = []
        try list(closedBy: "]") { reader, _ throws(ConfigurationFault) in elements.append(try reader.value()) }
        return elements
    }

    /// What stands within brackets, with a comma behind each but perhaps the last.
    ///
    /// - Parameter element: reads one; gets the place of the opening bracket.
    private mutating func list(
        closedBy close: Unicode.Scalar, _ element: (inout JSON5Reader, Int) throws(ConfigurationFault) -> Void
    ) throws(ConfigurationFault) {
        let start = place
        place += 1
        depth += 1
        guard depth <= 200 else { throw fault("more than 200 objects or lists within each other") }
        while true {
            try space()
            if take(close) { break }
            try element(&self, start)
            try space()
            if take(",") { continue }
            guard take(close) else { throw unexpected("a comma or \(close)", opened: start) }
            break
        }
        depth -= 1
    }

    private mutating func key(opened start: Int) throws(ConfigurationFault) -> String {
        if peek == "\"" || peek == "'" { return try string() }
        let key = run { Self.isName($0, first: $1) }
        guard !key.isEmpty else { throw unexpected("a key or }", opened: start) }
        return key
    }

    private mutating func string() throws(ConfigurationFault) -> String {
        let start = place
        let quote = peek
        place += 1
        var result = String.UnicodeScalarView()
        while let next = peek, next != "\n", next != "\r" {
            place += 1
            if next == quote { return String(result) }
            if next == "\\" { try escape(into: &result) } else { result.append(next) }
        }
        throw fault("a text that begins here is never closed", at: start)
    }

    private mutating func escape(into result: inout String.UnicodeScalarView) throws(ConfigurationFault) {
        let start = place - 1
        guard let next = peek else { return }
        place += 1
        switch next {
        // A line end after a backslash goes on in the next line; CRLF is one.
        case "\r": _ = take("\n")
        case "\n", "\u{2028}", "\u{2029}": break
        case "b": result.append("\u{8}")
        case "f": result.append("\u{C}")
        case "n": result.append("\n")
        case "r": result.append("\r")
        case "t": result.append("\t")
        case "v": result.append("\u{B}")
        case "x": result.append(Unicode.Scalar(UInt8(try hex(2, from: start))))
        case "u":
            var units = [UInt16(try hex(4, from: start))]
            // What is beyond U+FFFF is written as two halves.
            if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(UInt16(try hex(4, from: start))) }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw fault("half of a character is written here", at: start)
            }
            result.append(contentsOf: text.unicodeScalars)
        case "0" where !(peek.map { "0"..."9" ~= $0 } ?? false): result.append("\0")
        case "0"..."9": throw fault("\\\(next) stands for no character", at: start)
        default: result.append(next)
        }
    }

    private mutating func hex(_ count: Int, from start: Int) throws(ConfigurationFault) -> UInt32 {
        let digits = text[place..<min(place + count, text.count)].reduce(into: "") { $0.unicodeScalars.append($1) }
        // A sign is none of the digits.
        guard digits.utf8.count == count, digits.allSatisfy(\.isHexDigit), let number = UInt32(digits, radix: 16) else {
            throw fault("\(count) hexadecimal digits are needed after \\\(text[start + 1])", at: start)
        }
        place += count
        return number
    }

    private mutating func word() throws(ConfigurationFault) -> JSONValue {
        let begin = place
        let word = run { scalar, _ in
            Self.isName(scalar, first: false) || "+-.".unicodeScalars.contains(scalar)
        }
        switch word {
        case "": throw unexpected("a value", opened: nil)
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: if let number = Self.number(word) { return number }
        }
        if word.unicodeScalars.allSatisfy({ "0"..."9" ~= $0 }) {
            throw fault("\(Self.shown(word)) is not a number; leave out the zeros before it", at: begin)
        }
        throw fault("\(Self.shown(word)) is not a value; is it a text that lacks its quotes?", at: begin)
    }

    /// In decimal digits, however it was written: 0x10 as 16, 1e3 as 1000.
    private static func number(_ word: String) -> JSONValue? {
        let hasSign = word.hasPrefix("+") || word.hasPrefix("-")
        let digits = hasSign ? word.dropFirst() : word[...]
        let sign = word.hasPrefix("-") ? "-" : ""
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            // A second sign is no digit.
            guard digits.dropFirst(2).first?.isHexDigit == true else { return nil }
            return Int64(sign + digits.dropFirst(2), radix: 16).map { .integer($0) }
        }
        if digits == "Infinity" || digits == "NaN" { return .number(sign + (digits == "NaN" ? "nan" : "inf")) }
        guard let first = digits.first, first == "." || first.isASCII && first.isNumber else { return nil }
        // No octal, and nothing that looks like it (ECMAScript's DecimalIntegerLiteral, which json5.org takes over).
        if first == "0", digits.dropFirst().first.map({ $0.isASCII && $0.isNumber }) == true { return nil }
        if let whole = Int64(sign + digits) { return .integer(whole) }
        guard let number = Double(sign + (digits.hasSuffix(".") ? digits.dropLast() : digits)) else { return nil }
        return Int64(exactly: number).map { .integer($0) } ?? .number("\(number)")
    }

    private mutating func space() throws(ConfigurationFault) {
        while let next = peek {
            if next == "/" {
                try comment()
            } else if next.properties.isWhitespace || next == "\u{FEFF}" {
                place += 1
            } else {
                return
            }
        }
    }

    private mutating func comment() throws(ConfigurationFault) {
        let start = place
        place += 1
        if take("/") {
            while let next = peek, next != "\n", next != "\r" { place += 1 }
            return
        }
        guard take("*") else { throw fault("/ begins no comment here; // or /* do", at: start) }
        while let next = peek {
            place += 1
            if next == "*", take("/") { return }
        }
        throw fault("a comment that begins here is never closed", at: start)
    }

    // MARK: Characters and places

    private var peek: Unicode.Scalar? { place < text.count ? text[place] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        place += 1
        return true
    }

    /// What comes next, as far as each belongs to it; the second parameter says whether it is the first.
    private mutating func run(while belongs: (Unicode.Scalar, Bool) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        while let next = peek, belongs(next, result.isEmpty) {
            place += 1
            result.append(next)
        }
        return String(result)
    }

    private static func isName(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        if scalar == "_" || scalar == "$" || scalar.properties.isAlphabetic { return true }
        return !first && scalar.properties.numericType != nil
    }

    private static func shown(_ text: String) -> String {
        DisplayWidth.truncated(DisplayWidth.sanitised(text), to: 60)
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        "\"\(DisplayWidth.sanitised(String(Character(scalar))))\""
    }

    private func unexpected(_ wanted: String, opened start: Int?) -> ConfigurationFault {
        if let found = peek { return fault("\(wanted) is needed; got \(Self.shown(found))") }
        guard let start else { return fault("\(wanted) is needed; the file ends") }
        return fault("\(Self.shown(text[start])) is never closed", at: start)
    }

    private func fault(_ problem: String, at offset: Int? = nil) -> ConfigurationFault {
        ConfigurationFault("", "not JSON5: \(position(offset ?? place)): \(problem)")
    }

    private func position(_ offset: Int) -> String {
        let before = text[..<offset]
        let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $1 == "\n" ? $0 + 1 : $0 }
        return "line \(line), column \(before.count - lineStart + 1)"
    }
}
