// SPDX-License-Identifier: Apache-2.0

/// A command as the parser and the help read it.
package struct CommandSpec: Sendable {
    /// The words that select it: ["devices", "import"].
    package var path: [String]
    /// One line, beginning with a verb: "Registers devices from a file".
    package var purpose: String
    /// What a page of help says beyond that; paragraphs separated by an empty line.
    package var discussion: String
    package var positionals: [PositionalSpec]
    package var options: [OptionSpec]
    /// Command lines that work as they stand.
    package var examples: [String]
    /// The exit codes that the command can end with.
    package var exitCodes: [ExitCode]

    package init(
        path: [String], purpose: String, discussion: String = "", positionals: [PositionalSpec] = [],
        options: [OptionSpec] = [], examples: [String] = [], exitCodes: [ExitCode] = [.done, .failed, .usage]
    ) {
        self.path = path
        self.purpose = purpose
        self.discussion = discussion
        self.positionals = positionals
        self.options = options
        self.examples = examples
        self.exitCodes = exitCodes
    }

    package var name: String { path.joined(separator: " ") }

    /// What every command understands.
    package static let commonOptions: [OptionSpec] = [
        .flag("help", short: "h", "show this page and exit")
    ]

    package var allOptions: [OptionSpec] { options + Self.commonOptions }

    package func option(named name: String) -> OptionSpec? {
        allOptions.first { $0.name == name }
    }

    package func option(short letter: Character) -> OptionSpec? {
        allOptions.first { $0.short == letter }
    }
}
