// SPDX-License-Identifier: Apache-2.0

/// A command as the parser and the help read it.
struct CommandSpec: Sendable {
    /// The words that select it: ["devices", "import"].
    var path: [String]
    /// One line, beginning with a verb: "Registers devices from a file".
    var purpose: String
    /// What a page of help says beyond that; paragraphs separated by an empty line.
    var discussion = ""
    var positionals: [PositionalSpec] = []
    var options: [OptionSpec] = []
    /// Command lines that work as they stand.
    var examples: [String] = []
    /// The exit codes that the command can end with.
    var exitCodes: [ExitCode] = [.done, .failed, .usage]

    var name: String { path.joined(separator: " ") }

    /// What every command understands.
    static let commonOptions: [OptionSpec] = [
        .flag("help", short: "h", "show this page and exit")
    ]

    var allOptions: [OptionSpec] { options + Self.commonOptions }

    func option(named name: String) -> OptionSpec? {
        allOptions.first { $0.name == name }
    }

    func option(short letter: Character) -> OptionSpec? {
        allOptions.first { $0.short == letter }
    }
}
