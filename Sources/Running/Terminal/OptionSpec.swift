// SPDX-License-Identifier: Apache-2.0

/// One option of a command, as the parser and the help read it.
package struct OptionSpec: Sendable, Equatable {
    /// Without the dashes: "required".
    package let name: String
    /// One letter after a single dash: "h".
    package private(set) var short: Character?
    /// The value's name in the help, in capitals: "VERSION". nil: the option is a flag.
    package private(set) var value: String?
    package private(set) var summary: String
    package private(set) var isRequired = false
    package private(set) var isRepeatable = false
    /// Takes every following word up to the next option: `--scope status versions`.
    package private(set) var isVariadic = false
    /// The words that are allowed; empty: any.
    package private(set) var choices: [String] = []
    /// Whether a value may be several of these words, separated by commas.
    package private(set) var isList = false

    /// The replacement of a deprecated option, such as "write --canary"; nil: it is not deprecated.
    package var deprecation: String? {
        let mark = "deprecated: "
        return summary.hasPrefix(mark) ? String(summary.dropFirst(mark.count)) : nil
    }

    /// - Parameter head: as it stands in commands.txt: "-h, --help", "--state STATE {a|b}".
    init(_ head: Substring, _ summary: String) {
        var words = head.split(separator: " ")
        if let first = words.first, first.hasSuffix(",") {
            short = first.dropFirst().first
            words.removeFirst()
        }
        name = String(words.removeFirst().dropFirst(2))
        self.summary = summary
        if var value = words.first {
            isRequired = Self.cut("!", from: &value)
            isVariadic = Self.cut("...", from: &value)
            isRepeatable = isVariadic || Self.cut("*", from: &value)
            self.value = String(value)
        }
        guard words.count > 1 else { return }
        isList = words[1].contains(",")
        choices = words[1].dropFirst().dropLast().split { ",|".contains($0) }.map(String.init)
        self.summary = summary.replacing("…", with: choices.joined(separator: ", "))
    }

    private static func cut(_ mark: String, from text: inout Substring) -> Bool {
        guard text.hasSuffix(mark) else { return false }
        text = text.dropLast(mark.count)
        return true
    }

    /// Its text on a help page.
    package var help: String { summary + (isRepeatable ? "; may be given more than once" : "") }

    /// - Throws: where there are `choices` and the value is none of them.
    func check(_ value: String) throws(UsageError) {
        let words = isList ? value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) : [value]
        guard !choices.isEmpty, let wrong = words.first(where: { !choices.contains($0) }) else { return }
        let article = name.first.map { "aeiou".contains($0) } ?? false ? "an" : "a"
        throw UsageError(
            "--\(name): \"\(wrong)\" is not \(article) \(name); \(choices.joined(separator: ", "))",
            suggestion: Suggestion.nearest(to: wrong, among: choices))
    }
}

/// A positional argument.
package struct PositionalSpec: Sendable, Equatable {
    /// In capitals: "APP".
    package var name: String
    package var summary: String
    package var isRequired: Bool
    /// Whether it may be given more than once; only a command's last one may.
    package var isRepeatable = false

    /// Its part of the usage line: "APP", "[APP]" where it may be left out, "VERSION…" where several may follow.
    var usage: String { isRequired ? name + (isRepeatable ? "…" : "") : "[\(name)]" }
}
