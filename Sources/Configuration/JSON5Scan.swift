// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Finds the place of a fault in a JSON5 text. Foundation reads the text; outside of Apple's systems it only says that it is
/// "not valid JSON", not where, and it takes a key that stands twice without a word. Pure.
package struct JSON5Scan {
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        package var line: Int
        package var column: Int
        package var problem: String

        package var description: String { "line \(line), column \(column): \(problem)" }
    }

    private let text: [Unicode.Scalar]
    private var place = 0
    private var depth = 0
    private(set) var duplicates: [Fault] = []
    /// More than anybody repairs at a time: each place is counted from the beginning of the text.
    private static let mostDuplicates = 20

    package init(_ bytes: [UInt8]) {
        text = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    }

    /// The first thing that is not JSON5.
    package mutating func run() throws(Fault) {
        if peek == "\u{FEFF}" { place += 1 }
        try value()
        try space()
        if let rest = peek { throw fault("\(Self.shown(rest)) after the end of the value") }
    }

    // MARK: Grammar (json5.org)

    private mutating func value() throws(Fault) {
        try space()
        guard let first = peek else { throw fault("a value is missing") }
        switch first {
        case "{": try object()
        case "[": try array()
        case "\"", "'": _ = try string()
        default: try word()
        }
    }

    private mutating func object() throws(Fault) {
        let start = place
        try enter()
        var keys: Set<String> = []
        while true {
            try space()
            if take("}") { break }
            let keyPlace = place
            let key = try self.key(opened: start)
            if !keys.insert(key).inserted, duplicates.count < Self.mostDuplicates {
                duplicates.append(fault("the key \"\(Self.shown(key))\" stands here a second time", at: keyPlace))
            }
            try space()
            guard take(":") else { throw unexpected("a colon after the key \"\(Self.shown(key))\"", opened: start) }
            try value()
            try space()
            if take(",") { continue }
            guard take("}") else { throw unexpected("a comma or }", opened: start) }
            break
        }
        depth -= 1
    }

    private mutating func array() throws(Fault) {
        let start = place
        try enter()
        while true {
            try space()
            if take("]") { break }
            try value()
            try space()
            if take(",") { continue }
            guard take("]") else { throw unexpected("a comma or ]", opened: start) }
            break
        }
        depth -= 1
    }

    private mutating func enter() throws(Fault) {
        place += 1
        depth += 1
        guard depth <= 200 else { throw fault("more than 200 objects or lists within each other") }
    }

    private mutating func key(opened start: Int) throws(Fault) -> String {
        if peek == "\"" || peek == "'" { return try string() }
        let begin = place
        while let next = peek, Self.isName(next, first: place == begin) { place += 1 }
        guard place > begin else { throw unexpected("a key or }", opened: start) }
        return text[begin..<place].reduce(into: "") { $0.unicodeScalars.append($1) }
    }

    private mutating func string() throws(Fault) -> String {
        let start = place
        guard let quote = peek else { throw fault("a text is missing") }
        place += 1
        var result = ""
        while let next = peek {
            place += 1
            if next == quote { return result }
            if next == "\n" || next == "\r" { break }
            result.unicodeScalars.append(next)
            guard next == "\\", let escaped = peek else { continue }
            place += 1
            // A line end after a backslash goes on in the next line; CRLF is one.
            if escaped == "\r", peek == "\n" { place += 1 }
            result.unicodeScalars.append(escaped)
        }
        throw fault("a text that begins here is never closed", at: start)
    }

    private mutating func word() throws(Fault) {
        let begin = place
        while let next = peek, Self.isName(next, first: false) || "+-.".unicodeScalars.contains(next) { place += 1 }
        let word = text[begin..<place].reduce(into: "") { $0.unicodeScalars.append($1) }
        guard !word.isEmpty else { throw unexpected("a value", opened: nil) }
        guard !["true", "false", "null"].contains(word), !Self.isNumber(word) else { return }
        if word.unicodeScalars.allSatisfy({ "0"..."9" ~= $0 }) {
            throw fault("\(Self.shown(word)) is not a number; leave out the zeros before it", at: begin)
        }
        throw fault("\(Self.shown(word)) is not a value; is it a text that lacks its quotes?", at: begin)
    }

    private static func isNumber(_ word: String) -> Bool {
        var digits = word[...]
        if let sign = digits.first, sign == "+" || sign == "-" { digits = digits.dropFirst() }
        if digits == "Infinity" || digits == "NaN" { return true }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            return digits.count > 2 && digits.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
        }
        guard let first = digits.first, first == "." || first.isASCII && first.isNumber else { return false }
        // No octal, and nothing that looks like it (ECMAScript's DecimalIntegerLiteral, which json5.org takes over).
        if digits.dropFirst().first.map({ $0.isASCII && $0.isNumber }) == true, first == "0" { return false }
        return Double(digits.hasSuffix(".") ? digits.dropLast() : digits) != nil
    }

    private mutating func space() throws(Fault) {
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

    private mutating func comment() throws(Fault) {
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

    private func unexpected(_ wanted: String, opened start: Int?) -> Fault {
        if let found = peek { return fault("\(wanted) is needed; it was \(Self.shown(found))") }
        guard let start else { return fault("\(wanted) is needed; the file ends") }
        return fault("\(Self.shown(text[start])) is never closed", at: start)
    }

    private func fault(_ problem: String, at offset: Int? = nil) -> Fault {
        let before = text[..<(offset ?? place)]
        let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $1 == "\n" ? $0 + 1 : $0 }
        return Fault(line: line, column: before.count - lineStart + 1, problem: problem)
    }
}
