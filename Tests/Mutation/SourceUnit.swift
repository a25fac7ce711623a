// SPDX-License-Identifier: Apache-2.0

/// A part of a source that can stand twice in it, side by side behind a switch: the body of a function, or what a property begins with.
package struct SourceUnit: Hashable, Sendable {
    package enum Kind: Sendable {
        /// Between the braces of a function, an initialiser, a getter: statements.
        case body
        /// Behind the `=` of a property: one expression.
        case value
    }

    package let kind: Kind
    package let range: Range<Int>
}

extension SwiftText {
    /// The outermost ones, in their order: what a function has inside belongs to it.
    package var units: [SourceUnit] {
        var finder = UnitFinder(self)
        finder.pass(bytes.indices)
        return finder.units
    }
}

private struct UnitFinder {
    private static let types: Set = ["class", "struct", "enum", "extension", "protocol", "actor"]
    private static let functions: Set = ["func", "init", "deinit", "subscript"]
    private static let others: Set = ["let", "var", "case", "import", "typealias", "associatedtype"]
    private static let accessors: Set = [
        "get", "set", "didSet", "willSet", "mutating", "nonmutating", "_read", "_modify",
    ]

    private let source: SwiftText
    var units: [SourceUnit] = []

    init(_ source: SwiftText) { self.source = source }

    /// Looks through what a type or a file has.
    mutating func pass(_ range: Range<Int>) {
        var index = range.lowerBound
        var (keyword, before) = ("", "")
        while let next = source.nextCode(from: index), next < range.upperBound {
            let byte = source.bytes[next]
            index = next + 1
            if byte == UInt8(ascii: "`") {
                index = (source.bytes[index...].firstIndex(of: byte) ?? next) + 1
                before = "`"
            } else if SwiftText.isName(byte) {
                let word = source.word(at: next)
                index = next + word.utf8.count
                if isKeyword(word, at: next, after: before) { keyword = word }
                before = word
            } else if byte == UInt8(ascii: "{") {
                let inner = index..<(source.closing[next] ?? next)
                index = inner.upperBound + 1
                passBraces(inner, of: keyword)
                (keyword, before) = ("", "")
            } else if let end = source.closing[next] {
                (index, before) = (end + 1, ")")
            } else if byte == UInt8(ascii: "="), ["let", "var"].contains(keyword), isAssignment(next) {
                let value = index..<valueEnd(from: index, in: range)
                units.append(SourceUnit(kind: .value, range: value))
                (index, keyword, before) = (value.upperBound, "", "")
            } else {
                before = String(UnicodeScalar(byte))
            }
        }
    }

    private func isKeyword(_ word: String, at index: Int, after before: String) -> Bool {
        guard Self.types.contains(word) || Self.functions.contains(word) || Self.others.contains(word) else {
            return false
        }
        if before == "class" { return word == "func" || word == "var" || word == "let" || word == "subscript" }
        return before != "." && !Self.types.contains(before) && !Self.functions.contains(before)
            && !Self.others.contains(before)
    }

    private func isAssignment(_ index: Int) -> Bool {
        SwiftText.isBlank(source.bytes[index - 1]) && index + 1 < source.bytes.count
            && SwiftText.isBlank(source.bytes[index + 1])
    }

    private mutating func passBraces(_ inner: Range<Int>, of keyword: String) {
        if Self.types.contains(keyword) { return pass(inner) }
        guard Self.functions.contains(keyword) || keyword == "var" || keyword == "let" || keyword.isEmpty else {
            return
        }
        guard hasAccessors(inner) else {
            // Without a keyword, of a property with a value before: a closure that is called belongs to the value.
            if !keyword.isEmpty { units.append(SourceUnit(kind: .body, range: inner)) }
            return
        }
        var index = inner.lowerBound
        while let next = source.nextCode(from: index), next < inner.upperBound {
            index = (source.closing[next] ?? next) + 1
            guard source.bytes[next] == UInt8(ascii: "{") else { continue }
            units.append(SourceUnit(kind: .body, range: (next + 1)..<(index - 1)))
        }
    }

    /// Whether it begins with `get {` or the like; a body may begin with `set.insert(…)`.
    private func hasAccessors(_ inner: Range<Int>) -> Bool {
        guard var index = source.nextCode(from: inner.lowerBound), index < inner.upperBound else { return false }
        guard Self.accessors.contains(source.word(at: index)) else { return false }
        while index < inner.upperBound {
            let word = source.word(at: index)
            guard word.isEmpty || Self.accessors.contains(word) || word == "throws" || word == "async" else {
                return false
            }
            guard let next = source.nextCode(from: index + max(word.utf8.count, 1)), next < inner.upperBound else {
                return true
            }
            if source.bytes[next] == UInt8(ascii: "{") || source.bytes[next] == UInt8(ascii: "}") { return true }
            index = source.bytes[next] == UInt8(ascii: "(") ? (source.closing[next] ?? next) + 1 : next
            if source.bytes[next] == UInt8(ascii: "(") {
                guard let after = source.nextCode(from: index) else { return false }
                return source.bytes[after] == UInt8(ascii: "{")
            }
            if !SwiftText.isName(source.bytes[next]) { return false }
        }
        return true
    }

    /// An expression ends with its line, unless it or the next line says that it goes on. Comments behind it are not of it.
    private func valueEnd(from start: Int, in range: Range<Int>) -> Int {
        let (goOn, goesOn) = (Set("=+-*/%&|^<:".utf8), Set(".+-*/%&|^<>?:=".utf8))
        var (index, end, last) = (start, start, UInt8(ascii: "="))
        while index < range.upperBound {
            let byte = source.bytes[index]
            switch source.kinds[index] {
            case .comment:
                index += 1
                continue
            case .text, .inserted:
                (index, end, last) = (index + 1, index + 1, UInt8(ascii: "\""))
                continue
            case .code: break
            }
            if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") { break }
            if byte == UInt8(ascii: "{"), hasObservers(index) { break }
            if byte == UInt8(ascii: "\n"), !goOn.contains(last) {
                guard let next = source.nextCode(from: index), next < range.upperBound else { break }
                guard goesOn.contains(source.bytes[next]) else { break }
            }
            if let close = source.closing[index] {
                (index, end, last) = (close + 1, close + 1, UInt8(ascii: ")"))
            } else {
                index += 1
                if !SwiftText.isBlank(byte) { (end, last) = (index, byte) }
            }
        }
        return end
    }

    private func hasObservers(_ brace: Int) -> Bool {
        guard let first = source.nextCode(from: brace + 1) else { return false }
        return ["didSet", "willSet"].contains(source.word(at: first))
    }
}
