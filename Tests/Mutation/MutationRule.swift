// SPDX-License-Identifier: Apache-2.0

/// How a line is changed: small faults that a hand makes.
package enum MutationRule: String, CaseIterable, Sendable {
    /// `if a` becomes `if !(a)`.
    case negation
    /// `guard a` or `if a` becomes `true`: the condition is not asked any more.
    case unasked
    /// `<` becomes `<=`, `==` becomes `!=`, `&&` becomes `||`, `min` becomes `max`, `+` becomes `-`.
    case comparison
    /// `f(a, b)` becomes `f(b, a)`.
    case swap
    /// `.superseded` becomes `.cancelled`, its neighbour in the enumeration.
    case neighbour
    /// `f(a: x, b: y)` becomes `f(a: x, b: nil)`: a field is not passed on.
    case field
    /// A statement of one line is left out.
    case statement
    /// `return true` becomes `return false`.
    case answer
    /// A condition, a comparison or an order in the text of an SQL statement.
    case sql
}

/// One change that a rule can make.
package struct MutationCandidate: Sendable {
    package let rule: MutationRule
    package let file: String
    package let line: Int
    package let edit: Edit
    /// The lines before and after, without what they are indented by.
    package let before: String
    package let after: String
}

/// Looks for what can be changed in one source.
struct CandidateFinder {
    private static let operators: [(String, String)] = [
        ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
        ("+", "-"),
        ("-", "+"),
    ]
    private static let words: [(String, String)] = [
        ("min", "max"), ("max", "min"), ("true", "false"), ("false", "true"),
    ]
    /// Only where they are words of a statement.
    private static let clauses: [(String, String)] = [
        (" AND ", " OR "), (" OR ", " AND "), (" <= ", " < "), (" < ", " <= "), (" >= ", " > "), (" > ", " >= "),
        (" = ", " != "),
        (" IS NULL", " IS NOT NULL"), (" IS NOT NULL", " IS NULL"), ("min(", "max("), ("max(", "min("), (" + ", " - "),
        (" - ", " + "),
        ("LEFT JOIN", "JOIN"), ("NOT EXISTS", "EXISTS"),
    ]
    private static let openers: Set = [
        "let", "var", "guard", "if", "for", "while", "switch", "case", "default", "return", "throw", "func", "repeat",
        "do", "else",
        "break", "continue", "fallthrough", "defer", "catch", "where", "init", "struct", "enum", "final", "static",
        "private",
    ]

    private let source: SwiftText
    private let file: String
    private let neighbours: [String: String]
    private var inner: [Int]
    private(set) var found: [MutationCandidate] = []

    /// - Parameter neighbours: by name of a case: another case of its enumeration.
    init(_ text: String, file: String, neighbours: [String: String]) {
        source = SwiftText(text)
        (self.file, self.neighbours) = (file, neighbours)
        // The innermost bracket around each byte.
        inner = Array(repeating: -1, count: source.bytes.count)
        var open: [Int] = []
        for index in source.bytes.indices {
            if let last = open.last, source.closing[last] == index { open.removeLast() }
            inner[index] = open.last ?? -1
            if source.closing[index] != nil { open.append(index) }
        }
        for unit in source.units { look(unit) }
    }

    private mutating func add(_ rule: MutationRule, _ range: Range<Int>, _ text: String, in unit: SourceUnit) {
        guard unit.range.lowerBound <= range.lowerBound, range.upperBound <= unit.range.upperBound else { return }
        let newline = UInt8(ascii: "\n")
        let start = (source.bytes[..<range.lowerBound].lastIndex(of: newline) ?? -1) + 1
        let end = source.bytes[range.upperBound...].firstIndex(of: newline) ?? source.bytes.count
        let after = source.string(start..<range.lowerBound) + text + source.string(range.upperBound..<end)
        func short(_ text: String) -> String {
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        found.append(
            MutationCandidate(
                rule: rule, file: file, line: source.line(of: range.lowerBound), edit: Edit(range, text),
                before: short(source.string(start..<end)), after: short(after)))
    }

    private mutating func look(_ unit: SourceUnit) {
        var index = unit.range.lowerBound
        while index < unit.range.upperBound {
            let isStart = index == 0 || !SwiftText.isName(source.bytes[index - 1])
            switch source.kinds[index] {
            case .code where isStart && SwiftText.isName(source.bytes[index]):
                let word = source.word(at: index)
                lookAtWord(word, index, unit)
                index += word.utf8.count
            case .code:
                lookAtSign(index, unit)
                index += 1
            case .text:
                lookAtClause(index, unit)
                index += 1
            default:
                index += 1
            }
        }
        if unit.kind == .body { lookAtLines(unit) }
    }

    // MARK: Words and signs

    private mutating func lookAtWord(_ word: String, _ index: Int, _ unit: SourceUnit) {
        let end = index + word.utf8.count
        let isMember = index > 0 && source.bytes[index - 1] == UInt8(ascii: ".")
        switch word {
        case "if", "guard", "while": if !isMember { lookAtConditions(from: end, word, unit) }
        case "min", "max":
            if source.has("(", at: end), let other = Self.words.first(where: { $0.0 == word })?.1 {
                add(.comparison, index..<end, other, in: unit)
            }
        case "true", "false":
            if !isMember { add(.answer, index..<end, word == "true" ? "false" : "true", in: unit) }
        default:
            guard isMember, index > 1, !SwiftText.isName(source.bytes[index - 2]),
                ")]}?!>".utf8.contains(source.bytes[index - 2]) == false,
                !source.has("(", at: end), !source.has(".", at: end), let other = neighbours[word], !isPattern(index)
            else { return }
            add(.neighbour, index..<end, other, in: unit)
        }
    }

    /// Whether its line is a `case` of a `switch`, where a neighbour would only be there twice.
    private func isPattern(_ index: Int) -> Bool {
        let start = (source.bytes[..<index].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        guard let first = source.nextCode(from: start) else { return true }
        guard source.word(at: first) == "case" else { return false }
        // Behind the colon it is an answer.
        return !source.bytes[first..<index].contains(UInt8(ascii: ":"))
    }

    private mutating func lookAtSign(_ index: Int, _ unit: SourceUnit) {
        guard index > 0, source.bytes[index - 1] == UInt8(ascii: " ") else { return lookAtCall(index, unit) }
        for (sign, other) in Self.operators where source.has(sign + " ", at: index) {
            return add(.comparison, index..<(index + sign.utf8.count), other, in: unit)
        }
        lookAtCall(index, unit)
    }

    /// Two neighbours in the brackets of a call change places; a field that it passes on is nothing.
    private mutating func lookAtCall(_ index: Int, _ unit: SourceUnit) {
        guard source.bytes[index] == UInt8(ascii: "("), let end = source.closing[index], index > 0,
            SwiftText.isName(source.bytes[index - 1])
        else { return }
        let values = parts(of: (index + 1)..<end).map { value(in: $0) }
        guard values.count > 1 else { return }
        for (one, other) in zip(values, values.dropFirst()) where isPlain(one) && isPlain(other) {
            let (first, second) = (source.string(one), source.string(other))
            guard first != second else { continue }
            let between = source.string(one.upperBound..<other.lowerBound)
            add(.swap, one.lowerBound..<other.upperBound, second + between + first, in: unit)
        }
        for value in values where values.count > 2 && isPlain(value) && source.string(value) != "nil" {
            add(.field, value, "nil", in: unit)
        }
    }

    /// The parts between commas.
    private func parts(of range: Range<Int>) -> [Range<Int>] {
        var (parts, start, index) = ([Range<Int>](), range.lowerBound, range.lowerBound)
        while index < range.upperBound {
            if source.kinds[index] == .code, source.bytes[index] == UInt8(ascii: ",") {
                parts.append(start..<index)
                start = index + 1
            }
            index = (source.closing[index] ?? index) + 1
        }
        parts.append(start..<range.upperBound)
        return parts.map(trimmed).filter { !$0.isEmpty }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, SwiftText.isBlank(source.bytes[first]) { range = (first + 1)..<range.upperBound }
        while let last = range.last, SwiftText.isBlank(source.bytes[last]) { range = range.lowerBound..<last }
        return range
    }

    /// Without its label.
    private func value(in range: Range<Int>) -> Range<Int> {
        let name = source.bytes[range].prefix { SwiftText.isName($0) }
        guard !name.isEmpty, name.endIndex < range.upperBound, source.bytes[name.endIndex] == UInt8(ascii: ":") else {
            return range
        }
        return trimmed((name.endIndex + 1)..<range.upperBound)
    }

    private func isPlain(_ range: Range<Int>) -> Bool {
        range.count > 0 && range.count < 40
            && range.allSatisfy { SwiftText.isName(source.bytes[$0]) || source.bytes[$0] == UInt8(ascii: ".") }
    }

    // MARK: Conditions

    private mutating func lookAtConditions(from start: Int, _ word: String, _ unit: SourceUnit) {
        var end = start
        while end < unit.range.upperBound {
            if source.kinds[end] == .code {
                if source.bytes[end] == UInt8(ascii: "{") { break }
                if word == "guard", source.has("else", at: end), SwiftText.isBlank(source.bytes[end - 1]) { break }
                end = (source.closing[end] ?? end) + 1
            } else {
                end += 1
            }
        }
        for part in parts(of: start..<end) where part.allSatisfy({ source.kinds[$0] != .comment }) {
            let first = source.word(at: part.lowerBound)
            guard !["let", "var", "case"].contains(first), !source.has("#", at: part.lowerBound) else { continue }
            let text = source.string(part)
            // The beginning of an expression that goes on behind a trailing closure's brace.
            guard !text.isEmpty, end < unit.range.upperBound else { continue }
            add(.negation, part, "!(\(text))", in: unit)
            // A loop without an end is found by any test that comes to it.
            if word != "while" { add(.unasked, part, word == "guard" ? "true" : "(\(text)) || true", in: unit) }
        }
    }

    // MARK: Texts of SQL

    private mutating func lookAtClause(_ index: Int, _ unit: SourceUnit) {
        for (clause, other) in Self.clauses where source.has(clause, at: index) {
            let range = index..<(index + clause.utf8.count)
            guard range.allSatisfy({ source.kinds[$0] == .text }), isStatement(index) else { return }
            return add(.sql, range, other, in: unit)
        }
    }

    /// Whether the text around it is one of the database's: its words are written large.
    private func isStatement(_ index: Int) -> Bool {
        let start = (source.bytes[..<index].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let end = source.bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? source.bytes.count
        let from = (source.bytes[..<max(0, start - 1)].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let words = source.string(from..<end).split { !$0.isLetter }
        return words.contains {
            ["SELECT", "WHERE", "UPDATE", "SET", "AND", "JOIN", "ON", "FROM", "EXISTS", "CASE", "ORDER"].contains($0)
        }
    }

    // MARK: Statements

    private mutating func lookAtLines(_ unit: SourceUnit) {
        var start = unit.range.lowerBound
        var last: UInt8 = UInt8(ascii: "{")
        while start < unit.range.upperBound {
            let end = min(
                source.bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? source.bytes.count, unit.range.upperBound)
            let line = trimmed(start..<end)
            defer {
                if let code = line.last(where: { source.kinds[$0] != .comment && !SwiftText.isBlank(source.bytes[$0]) })
                {
                    last = source.bytes[code]
                }
                start = end + 1
            }
            guard let first = line.first,
                SwiftText.isName(source.bytes[first]) || source.bytes[first] == UInt8(ascii: "("),
                line.allSatisfy({ source.kinds[$0] != .comment }), isWhole(line),
                !"=,(+-*/&|<>?:[".utf8.contains(last) || last == UInt8(ascii: ":"),
                inner[first] == -1 || source.bytes[inner[first]] == UInt8(ascii: "{")
            else { continue }
            let word = source.word(at: first)
            guard !Self.openers.contains(word), let next = source.nextCode(from: end) else { continue }
            guard !".?:+-*/&|<>=,".utf8.contains(source.bytes[next]) else { continue }
            let text = source.string(line)
            guard text.contains("(") || text.contains(" = ") || text.contains("+= "),
                last != UInt8(ascii: ":") || text.contains(" = ")
            else {
                continue
            }
            let isField = text.contains(" = ")
            add(
                isField && text.split(separator: " = ").last?.contains(".") == true ? .field : .statement, line,
                "do {}", in: unit)
        }
    }

    /// Whether each bracket that opens on the line is closed on it.
    private func isWhole(_ line: Range<Int>) -> Bool {
        line.allSatisfy { index in
            guard source.kinds[index] == .code else { return true }
            if let end = source.closing[index] { return line.contains(end) }
            return !")]}".utf8.contains(source.bytes[index]) || hasOpener(index, in: line)
        }
    }

    private func hasOpener(_ close: Int, in line: Range<Int>) -> Bool { line.contains { source.closing[$0] == close } }
}
