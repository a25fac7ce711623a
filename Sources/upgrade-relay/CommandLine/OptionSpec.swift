// SPDX-License-Identifier: Apache-2.0

/// One option of a command, as the parser and the help read it.
struct OptionSpec: Sendable, Equatable {
    /// Without the dashes: "required".
    var name: String
    /// One letter after a single dash: "h".
    var short: Character?
    /// What the help calls the value, in capitals: "VERSION". nil: the option is a flag.
    var value: String?
    var summary: String
    /// What holds without the option, for the help only.
    var defaultText: String?
    var isRequired = false
    var isRepeatable = false
    /// Takes every following word up to the next option: `--scope status versions`.
    var isVariadic = false

    static func flag(_ name: String, short: Character? = nil, _ summary: String) -> OptionSpec {
        OptionSpec(name: name, short: short, value: nil, summary: summary)
    }

    static func value(_ name: String, _ value: String, _ summary: String, default text: String? = nil) -> OptionSpec {
        OptionSpec(name: name, value: value, summary: summary, defaultText: text)
    }

    static func required(_ name: String, _ value: String, _ summary: String) -> OptionSpec {
        OptionSpec(name: name, value: value, summary: summary, isRequired: true)
    }

    func repeatable() -> OptionSpec {
        var copy = self
        copy.isRepeatable = true
        return copy
    }

    func variadic() -> OptionSpec {
        var copy = self
        copy.isVariadic = true
        return copy
    }
}

/// One argument that is known by its place.
struct PositionalSpec: Sendable, Equatable {
    /// In capitals: "APP".
    var name: String
    var summary: String
    var isRequired: Bool

    init(_ name: String, _ summary: String, isRequired: Bool = true) {
        self.name = name
        self.summary = summary
        self.isRequired = isRequired
    }
}
