// SPDX-License-Identifier: Apache-2.0

/// One option of a command, as the parser and the help read it.
package struct OptionSpec: Sendable, Equatable {
    /// Without the dashes: "required".
    package var name: String
    /// One letter after a single dash: "h".
    package var short: Character?
    /// What the help calls the value, in capitals: "VERSION". nil: the option is a flag.
    package var value: String?
    package var summary: String
    /// What holds without the option, for the help only.
    package var defaultText: String?
    package var isRequired = false
    package var isRepeatable = false
    /// Takes every following word up to the next option: `--scope status versions`.
    package var isVariadic = false
    /// The words that it takes, for shells to propose; none: anything.
    package var choices: [String] = []

    /// All that a page says of it.
    package var help: String {
        summary + (isRepeatable ? "; may be given more than once" : "")
            + (defaultText.map { " (default: \($0))" } ?? "")
    }

    package static func flag(_ name: String, short: Character? = nil, _ summary: String) -> OptionSpec {
        OptionSpec(name: name, short: short, value: nil, summary: summary)
    }

    package static func value(_ name: String, _ value: String, _ summary: String, default text: String? = nil)
        -> OptionSpec
    {
        OptionSpec(name: name, value: value, summary: summary, defaultText: text)
    }

    package static func required(_ name: String, _ value: String, _ summary: String) -> OptionSpec {
        OptionSpec(name: name, value: value, summary: summary, isRequired: true)
    }

    package func repeatable() -> OptionSpec {
        var copy = self
        copy.isRepeatable = true
        return copy
    }

    package func choosing(_ words: [String]) -> OptionSpec {
        var copy = self
        copy.choices = words
        return copy
    }

    package func variadic() -> OptionSpec {
        var copy = self
        copy.isVariadic = true
        return copy
    }
}

/// One argument that is known by its place.
package struct PositionalSpec: Sendable, Equatable {
    /// In capitals: "APP".
    package var name: String
    package var summary: String
    package var isRequired: Bool

    package init(_ name: String, _ summary: String, isRequired: Bool = true) {
        self.name = name
        self.summary = summary
        self.isRequired = isRequired
    }
}
