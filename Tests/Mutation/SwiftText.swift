// SPDX-License-Identifier: Apache-2.0

/// A Swift source of which is known, byte by byte, what is code and what is a comment or a text, and which bracket belongs to which.
/// A lexer's work: enough to find where bodies begin and end.
package struct SwiftText: Sendable {
    package enum Kind: UInt8, Sendable {
        case code, comment
        /// Inside a string literal, its quotes too; or a regular expression.
        case text
        /// Inside `\(…)` of a string literal.
        case inserted
    }

    package let bytes: [UInt8]
    package private(set) var kinds: [Kind]
    /// Where each bracket of the code that opens is closed.
    package private(set) var closing: [Int: Int] = [:]

    package init(_ text: String) {
        bytes = Array(text.utf8)
        kinds = Array(repeating: .code, count: bytes.count)
        var index = 0
        while index < bytes.count { index = pass(index) }
        pair()
    }

    /// - Returns: where what begins at `index` ends: a comment, a text, or one byte of code.
    private mutating func pass(_ index: Int) -> Int {
        switch bytes[index] {
        case UInt8(ascii: "/") where byte(index + 1) == UInt8(ascii: "/"):
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            mark(index..<end, .comment)
            return end
        case UInt8(ascii: "/") where byte(index + 1) == UInt8(ascii: "*"):
            return passComment(index)
        case UInt8(ascii: "\""):
            return passText(index, pounds: 0)
        case UInt8(ascii: "#"):
            let rest = bytes[index...].prefix { $0 == UInt8(ascii: "#") }
            switch byte(rest.endIndex) {
            case UInt8(ascii: "\""): return passText(index, pounds: rest.count)
            case UInt8(ascii: "/"): return passExpression(index, pounds: rest.count)
            default: return rest.endIndex
            }
        default:
            return index + 1
        }
    }

    private func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func mark(_ range: Range<Int>, _ kind: Kind) { for index in range { kinds[index] = kind } }

    private mutating func passComment(_ start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            if has("/*", at: index) {
                (depth, index) = (depth + 1, index + 2)
            } else if has("*/", at: index) {
                (depth, index) = (depth - 1, index + 2)
                if depth == 0 { break }
            } else {
                index += 1
            }
        }
        mark(start..<index, .comment)
        return index
    }

    /// A string literal with all that is inserted in it.
    private mutating func passText(_ start: Int, pounds: Int) -> Int {
        let fence = String(repeating: "#", count: pounds)
        let quotes = has("\"\"\"", at: start + pounds) ? "\"\"\"" : "\""
        let (end, escape) = (quotes + fence, "\\" + fence)
        var index = start + pounds + quotes.utf8.count
        var inserted: [Range<Int>] = []
        while index < bytes.count, !has(end, at: index) {
            if has(escape + "(", at: index) {
                let from = index
                index = passInserted(index + escape.utf8.count + 1)
                inserted.append(from..<index)
            } else {
                index += has(escape, at: index) ? escape.utf8.count + 1 : 1
            }
        }
        index = min(index + end.utf8.count, bytes.count)
        mark(start..<index, .text)
        for range in inserted { mark(range, .inserted) }
        return index
    }

    private mutating func passInserted(_ start: Int) -> Int {
        var (index, depth) = (start, 1)
        while index < bytes.count, depth > 0 {
            switch bytes[index] {
            case UInt8(ascii: "("): (depth, index) = (depth + 1, index + 1)
            case UInt8(ascii: ")"): (depth, index) = (depth - 1, index + 1)
            default: index = pass(index)
            }
        }
        return index
    }

    private mutating func passExpression(_ start: Int, pounds: Int) -> Int {
        let end = "/" + String(repeating: "#", count: pounds)
        var index = start + pounds + 1
        while index < bytes.count, !has(end, at: index) { index += 1 }
        index = min(index + end.utf8.count, bytes.count)
        mark(start..<index, .text)
        return index
    }

    private mutating func pair() {
        var open: [Int] = []
        for index in bytes.indices where kinds[index] == .code {
            switch bytes[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): open.append(index)
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if let start = open.popLast() { closing[start] = index }
            default: break
            }
        }
    }

    // MARK: Reading

    package func has(_ text: String, at index: Int) -> Bool {
        index >= 0 && index + text.utf8.count <= bytes.count && bytes[index...].starts(with: text.utf8)
    }

    package func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    package static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 }

    /// The word of the code that begins at `index`; empty where none does.
    package func word(at index: Int) -> String {
        string(index..<(bytes[index...].firstIndex { !Self.isName($0) } ?? bytes.count))
    }

    /// The first byte from `index` on that is code and not blank.
    package func nextCode(from index: Int) -> Int? {
        bytes.indices[min(index, bytes.count)...].first { kinds[$0] == .code && !Self.isBlank(bytes[$0]) }
    }

    /// The line of a byte, from 1.
    package func line(of index: Int) -> Int { bytes[..<index].count { $0 == UInt8(ascii: "\n") } + 1 }
}
