// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Completions for fish. Pure.
struct FishCompletion {
    private let specs: [CommandSpec]

    init(_ specs: [CommandSpec]) {
        self.specs = specs
    }

    var text: String {
        var lines = [
            "# fish completion for upgrade-relay; made by \"upgrade-relay generate fish\"",
            "complete -c upgrade-relay -f",
            "complete -c upgrade-relay -n __fish_use_subcommand -l version -d 'print the version and exit'",
            "complete -c upgrade-relay -n __fish_use_subcommand -l help -d 'show all commands and exit'",
        ]
        for group in CompletionGroups(specs).groups {
            lines.append(
                "complete -c upgrade-relay -n __fish_use_subcommand -a \(group.word) -d \(Self.quoted(group.purpose))")
            let seen = "__fish_seen_subcommand_from \(group.word)"
            if let command = group.command { lines += Self.options(of: command, when: seen) }
            let members = group.members.compactMap(\.path.last).joined(separator: " ")
            for member in group.members {
                let word = member.path.last ?? ""
                lines.append(
                    "complete -c upgrade-relay -n '\(seen); and not __fish_seen_subcommand_from \(members)' "
                        + "-a \(word) -d \(Self.quoted(member.purpose))")
                lines += Self.options(of: member, when: "\(seen); and __fish_seen_subcommand_from \(word)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func options(of spec: CommandSpec, when condition: String) -> [String] {
        let start = "complete -c upgrade-relay -n '\(condition)'"
        var lines = spec.allOptions.map { option in
            "\(start) -l \(option.name)" + (option.value.map { " -r\(values($0))" } ?? "")
                + " -d \(quoted(option.summary))"
        }
        for positional in spec.positionals {
            switch CompletionValues(placeholder: positional.name) {
            case .files: lines.append("\(start) -F")
            case .words(let words): lines.append("\(start) -a '\(words.joined(separator: " "))'")
            case .unknown: break
            }
        }
        return lines
    }

    private static func values(_ placeholder: String) -> String {
        switch CompletionValues(placeholder: placeholder) {
        case .files: " -F"
        case .words(let words): " -a '\(words.joined(separator: " "))'"
        case .unknown: ""
        }
    }

    /// fish knows two escapes within single quotes.
    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
