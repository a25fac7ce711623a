// SPDX-License-Identifier: Apache-2.0
import CTexts

/// The specification of a command, for the parser, the help and the manual. Sources/C/CTexts/commands.txt has all of them:
///
///     # a comment
///     devices show                           the words that select it
///       Shows one device of the registry     its purpose: one line, which begins with a verb
///
///       Without --app every app is searched  more paragraphs
///
///       arguments:                           known by their place; one in brackets may be left out
///         [TOKEN]  the device's push token
///         VERSION*  versions                 the last one may be given more than once
///
///       options:
///         -k, --keep  keep the directory     a flag
///         --name NAME!  its name             one that must be given
///         --app APP*  an app                 one that may be given more than once
///         --scope SCOPE...  rights           the same, and each time all words up to the next option
///         --state STATE {a|b}  only (…)      one of these words, which stand for "…"; {a,b}: some of them, with commas
///         @connection                        the lines under this name at the top of the file
///
///       examples:                            command lines that work as they stand
///         upgrade-relay devices show 740f
///
///       exit: 0 1 2                          the codes that it can end with
package struct CommandSpec: Sendable {
    /// ["devices", "import"].
    package var path: [String]
    package var purpose = ""
    /// Paragraphs, separated by an empty line.
    package var discussion = ""
    package var positionals: [PositionalSpec] = []
    package var options: [OptionSpec] = []
    package var examples: [String] = []
    package var exitCodes: [ExitCode] = []

    /// Every command of the tool, in the order of the overview.
    package static let all = text.commands

    private static let text = CommandText(unsafe String(cString: relay_commands()))

    package static func named(_ name: String) -> CommandSpec {
        guard let spec = all.first(where: { $0.name == name }) else {
            preconditionFailure("commands.txt has no command \(name)")
        }
        return spec
    }

    /// The options of a named group.
    package static func options(_ name: String) -> [OptionSpec] { text.groups[name]?.options ?? [] }

    package var name: String { path.joined(separator: " ") }

    /// The command's own options, and those that every command has.
    package var allOptions: [OptionSpec] { options + Self.options("help") }

    /// The argument at a place, from 0; nil: there is none.
    func positional(at place: Int) -> PositionalSpec? {
        if place < positionals.count { return positionals[place] }
        return positionals.last.flatMap { $0.isRepeatable ? $0 : nil }
    }

    package func option(named name: String) -> OptionSpec? {
        allOptions.first { $0.name == name }
    }

    package func option(short letter: Character) -> OptionSpec? {
        allOptions.first { $0.short == letter }
    }
}

/// Parses the text of many commands. Pure.
struct CommandText {
    private(set) var commands: [CommandSpec] = []
    /// The named groups of lines; only arguments and options are read in them.
    private(set) var groups: [String: CommandSpec] = [:]
    private var group: String?
    /// The section that is being read, for example "options:".
    private var part = ""
    private var isNewParagraph = false

    init(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("#") {
            read(line)
        }
    }

    private mutating func read(_ line: Substring) {
        let text = line.drop { $0 == " " }
        switch line.count - text.count {
        case _ where text.isEmpty: isNewParagraph = true
        case 0 where text.hasPrefix("@"):
            group = String(text.dropFirst())
            groups[group ?? ""] = CommandSpec(path: [])
        case 0:
            (group, part) = (nil, "")
            commands.append(CommandSpec(path: text.split(separator: " ").map(String.init)))
        case 2 where text.hasSuffix(":"): part = String(text)
        case 2:
            commands[commands.count - 1].say(text, isNewParagraph)
            isNewParagraph = false
        default:
            if let group, var spec = groups[group] {
                spec.take(line.dropFirst(4), in: part, groups)
                groups[group] = spec
            } else {
                commands[commands.count - 1].take(line.dropFirst(4), in: part, groups)
            }
        }
    }
}

extension CommandSpec {
    fileprivate mutating func say(_ text: Substring, _ isNewParagraph: Bool) {
        if text.hasPrefix("exit: ") {
            exitCodes = text.split(separator: " ").compactMap { Int32($0).flatMap(ExitCode.init) }
        } else if purpose.isEmpty {
            purpose = String(text)
        } else {
            discussion += discussion.isEmpty ? text : (isNewParagraph ? "\n\n" : " ") + text
        }
    }

    fileprivate mutating func take(_ line: Substring, in part: String, _ groups: [String: CommandSpec]) {
        if part == "examples:" { return examples.append(String(line)) }
        if line.hasPrefix("@"), let group = groups[String(line.dropFirst())] {
            positionals += group.positionals
            return options += group.options
        }
        let end = line.firstRange(of: "  ") ?? line.endIndex..<line.endIndex
        let (head, summary) = (line[..<end.lowerBound], String(line[end.upperBound...]))
        if head.hasPrefix("-") { return options.append(OptionSpec(head, summary)) }
        let (isRequired, isRepeatable) = (!head.hasPrefix("["), head.hasSuffix("*"))
        let name = isRepeatable ? head.dropLast() : isRequired ? head : head.dropFirst().dropLast()
        positionals.append(
            PositionalSpec(
                name: String(name), summary: summary, isRequired: isRequired, isRepeatable: isRepeatable))
    }
}
