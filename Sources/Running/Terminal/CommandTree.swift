// SPDX-License-Identifier: Apache-2.0

/// All commands, and the choice of one by the first words of a command line.
package struct CommandTree: Sendable {
    package let commands: [CommandEntry]
    /// Former names of commands by their first words, with those of today.
    private static let formerNames = [
        (former: ["alerts"], now: ["notice"]), (former: ["campaigns", "release"], now: ["campaigns", "approve"]),
    ]

    /// The options that may stand before the command's name, and so must be known before a command is selected.
    private let leadingOptions: [OptionSpec]
    /// The values of a placeholder, for a shell's completion.
    let lookup: Lookup

    package typealias Lookup =
        @Sendable (_ placeholder: String, CommandContext) async -> [(word: String, meaning: String)]

    package init(
        commands: [CommandEntry], leadingOptions: [OptionSpec] = [],
        lookup: @escaping Lookup = { _, _ in [] }
    ) {
        self.lookup = lookup
        self.commands = commands
        self.leadingOptions = leadingOptions
    }

    package enum Selection {
        case command(CommandEntry, words: [String])
        /// Help on all commands, or on those of one group ("devices"); on request, or because no command was named.
        case overview(group: String?, wasAsked: Bool)
        case version
        /// A shell's request for proposals while a command line is being written.
        case completion(of: [String])
    }

    /// The remark on a former name of a command; nil: the words have none.
    package func note(on words: [String]) -> String? {
        guard let (former, now) = Self.formerName(in: words.drop { $0.hasPrefix("-") }) else { return nil }
        return "\"\(former.joined(separator: " "))\" is another word for \"\(now.joined(separator: " "))\""
    }

    private static func formerName(in words: ArraySlice<String>) -> (former: [String], now: [String])? {
        formerNames.first { words.starts(with: $0.former) }
    }

    /// Selects a command by the first words, also by its former name; options that stand before it are passed on to it.
    package func select(_ words: [String]) throws(UsageError) -> Selection {
        var leading: [String] = []
        var rest = words[...]
        while let word = rest.first, word.hasPrefix("-") {
            rest.removeFirst()
            switch word {
            case "--version", "-V": return .version
            case "--help", "-h": return .overview(group: nil, wasAsked: true)
            default: break
            }
            leading.append(word)
            // An option with its value in the next word.
            let isKnown = leadingOptions.contains { $0.value != nil && "--\($0.name)" == word }
            if isKnown, let value = rest.popFirst() { leading.append(value) }
        }
        if let (former, now) = Self.formerName(in: rest) { rest = ArraySlice(now + rest.dropFirst(former.count)) }
        guard let first = rest.popFirst() else {
            if let option = leading.first { throw UsageError("\(option): a command is missing") }
            return .overview(group: nil, wasAsked: false)
        }
        if first == "help" { return try help(on: Array(rest)) }
        if first == "complete" { return .completion(of: Array(rest)) }
        if let command = commands.first(where: { $0.spec.path == [first] }) {
            return .command(command, words: leading + rest)
        }
        let group = commands.filter { $0.spec.path.first == first }
        guard !group.isEmpty else {
            throw UsageError(
                "unknown command \"\(first)\"", suggestion: Suggestion.nearest(to: first, among: firstWords))
        }
        guard let second = rest.popFirst() else { return .overview(group: first, wasAsked: false) }
        if second == "--help" || second == "-h" { return .overview(group: first, wasAsked: true) }
        if let command = group.first(where: { $0.spec.path == [first, second] }) {
            return .command(command, words: leading + rest)
        }
        let nearest = Suggestion.nearest(to: second, among: group.compactMap { $0.spec.path.last })
        throw UsageError("unknown command \"\(first) \(second)\"", suggestion: nearest.map { "\(first) \($0)" })
    }

    private var firstWords: [String] {
        commands.compactMap { $0.spec.path.first } + ["help"]
    }

    private func help(on words: [String]) throws(UsageError) -> Selection {
        guard !words.isEmpty else { return .overview(group: nil, wasAsked: true) }
        return try select(words + ["--help"])
    }

    /// The overview of a group's commands, with one line each; nil: of all commands.
    package func overview(of group: String?) -> String {
        let shown = commands.map { $0.spec }.filter { group == nil || $0.path.first == group }
        var lines: [String] = []
        if let group {
            lines += ["Usage: upgrade-relay \(group) COMMAND [options]", "", "Commands:"]
        } else {
            lines += [
                "Upgrade Relay: notifies every device that runs a version older than required.", "",
                "Usage: upgrade-relay COMMAND [options]", "", "Commands:",
            ]
        }
        lines += HelpPage.definitions(shown.map { ($0.name, $0.purpose) })
        if group == nil {
            lines += [
                "", "Options:", "  -V, --version  print the version and exit",
                "  -h, --help     show this page and exit",
            ]
        }
        lines += ["", "\"upgrade-relay \(group.map { "\($0) " } ?? "")COMMAND --help\" explains a command."]
        return lines.joined(separator: "\n") + "\n"
    }
}
