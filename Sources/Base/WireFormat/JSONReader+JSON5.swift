// SPDX-License-Identifier: Apache-2.0

/// The parts of JSON5 that JSON does not have (json5.org, which takes over ECMAScript's grammar).
extension JSONReader {
    /// A value without quotes: true, 0x10, .5, -Infinity.
    mutating func word() throws(JSONSyntaxError) -> JSONValue {
        let first = position
        let word = run { scalar, _ in Self.isName(scalar, first: false) || "+-.".unicodeScalars.contains(scalar) }
        switch word {
        case "": throw fault("a value is needed")
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: if let number = Self.number(word) { return number }
        }
        position = first
        throw fault(
            "\(JSONValue.shortened(word)) is not a value; a text needs quotes, and a number has no zeros before it")
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
        // No octal, and nothing that looks like it (ECMAScript's DecimalIntegerLiteral).
        if first == "0", digits.dropFirst().first.map({ $0.isASCII && $0.isNumber }) == true { return nil }
        if let whole = Int64(sign + digits) { return .integer(whole) }
        guard let number = Double(sign + (digits.hasSuffix(".") ? digits.dropLast() : digits)) else { return nil }
        return Int64(exactly: number).map { .integer($0) } ?? .number("\(number)")
    }

    /// An escape that JSON does not have, from the character behind the backslash on.
    mutating func escapeOfJSON5(into text: inout [UInt8]) throws(JSONSyntaxError) {
        guard let next = scalar else { return }
        let digits: ClosedRange<Unicode.Scalar> = "0"..."9"
        let isDigit = digits.contains(next)
        position += UTF8.width(next)
        switch next {
        // A line end after a backslash continues the text in the next line; CRLF is one.
        case "\r": _ = take("\n")
        case "\n", "\u{2028}", "\u{2029}": break
        case "v": text.append(0x0B)
        case "x": text += String(Unicode.Scalar(UInt8(try hexUnit(2)))).utf8
        case "0" where !(scalar.map(digits.contains) ?? false): text.append(0)
        default:
            guard !isDigit else { throw fault("\\\(next) stands for no character") }
            text += String(next).utf8
        }
    }

    /// - Returns: false where neither white space nor a comment is next.
    mutating func skipSpaceOfJSON5() -> Bool {
        guard let next = scalar else { return false }
        guard next == "/" else {
            guard next.properties.isWhitespace || next == "\u{FEFF}" else { return false }
            position += UTF8.width(next)
            return true
        }
        let rest = bytes[(position + 1)..<end]
        switch rest.first {
        case UInt8(ascii: "/"): position = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? end
        case UInt8(ascii: "*"):
            guard let close = rest.dropFirst().firstRange(of: "*/".utf8) else { return false }
            position = close.upperBound
        default: return false
        }
        return true
    }

    /// The next character.
    private var scalar: Unicode.Scalar? {
        String(decoding: bytes[position..<min(position + 4, end)], as: UTF8.self).unicodeScalars.first
    }

    /// The next characters, as long as `belongs` holds; its second parameter is whether the character is the first.
    mutating func run(while belongs: (Unicode.Scalar, Bool) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        while position < end, let next = scalar, belongs(next, result.isEmpty) {
            position += UTF8.width(next)
            result.append(next)
        }
        return String(result)
    }

    static func isName(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        if scalar == "_" || scalar == "$" || scalar.properties.isAlphabetic { return true }
        return !first && scalar.properties.numericType != nil
    }
}
