// SPDX-License-Identifier: Apache-2.0

/// The content of a command line, by the names of its specification.
package struct ParsedArguments: Sendable, Equatable {
    package private(set) var flags: Set<String> = []
    package private(set) var options: [String: [String]] = [:]
    package private(set) var positionals: [String: String] = [:]

    package init() {}

    package mutating func set(flag name: String) {
        flags.insert(name)
    }

    package mutating func append(_ value: String, to name: String) {
        options[name, default: []].append(value)
    }

    package mutating func replace(_ name: String, with value: String) {
        options[name] = [value]
    }

    package mutating func remove(_ name: String) {
        options[name] = nil
    }

    package mutating func set(positional name: String, _ value: String) {
        positionals[name] = value
    }

    package func flag(_ name: String) -> Bool { flags.contains(name) }

    /// The option's value; the last one where it was given more than once.
    package func value(_ name: String) -> String? { options[name]?.last }

    package func values(_ name: String) -> [String] { options[name] ?? [] }

    /// The words of an option whose values have commas between them.
    package func list(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",").map(String.init) }
    }

    package func positional(_ name: String) -> String? { positionals[name] }

    /// The value of a positional or option that the specification requires, so that the parser has checked for it.
    package func require(_ name: String) throws(UsageError) -> String {
        guard let value = positionals[name] ?? options[name]?.last else { throw UsageError("\(name) is missing") }
        return value
    }

    /// The option's value, as `parse` reads it.
    ///
    /// - Parameter problem: the fault of a value for which `parse` returns nil.
    package func parsed<Value>(
        _ name: String, else problem: String, _ parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = self.value(name) else { return nil }
        guard let value = parse(text) else { throw UsageError("--\(name): \"\(text)\" \(problem)") }
        return value
    }

    package func duration(
        _ name: String, in range: some RangeExpression<Duration>, else problem: String
    ) throws(UsageError) -> Duration? {
        try parsed(name, else: problem) { DurationText.parse($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A whole number within `range`, written in digits; underscores and commas may group them.
    package func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) throws(UsageError) -> Int {
        try integer(name, in: range) ?? value
    }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        try parsed(name, else: "is not a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text.filter { $0 != "," && $0 != "_" }).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A share from 0 to 1, or in percent: "0.02", "2%".
    package func share(_ name: String, default value: Double) throws(UsageError) -> Double {
        try parsed(name, else: "is not a share; a number from 0 to 1, or 0% to 100%") { text in
            let number = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
            return number.flatMap { (0...1).contains($0) ? $0 : nil }
        } ?? value
    }
}
