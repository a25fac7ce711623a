// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Completions for zsh. Pure.
struct ZshCompletion {
    private let specs: [CommandSpec]

    init(_ specs: [CommandSpec]) {
        self.specs = specs
    }

    var text: String {
        let groups = CompletionGroups(specs).groups
        return """
            #compdef upgrade-relay
            # made by "upgrade-relay generate zsh"
            _upgrade_relay() {
                local -a entries
                if (( CURRENT == 2 )); then
                    entries=(\(Self.entries(groups.map { ($0.word, $0.purpose) })))
                    _describe command entries
                    _arguments '--version[print the version and exit]' '--help[show all commands and exit]'
                    return
                fi
                shift words
                (( CURRENT-- ))
                case $words[1] in
            \(groups.map(group).joined(separator: "\n"))
                esac
            }
            _upgrade_relay "$@"

            """
    }

    private func group(_ group: CompletionGroups.Group) -> String {
        var lines = ["        \(group.word))"]
        if let command = group.command { lines.append(Self.arguments(command, indent: 12)) }
        if !group.members.isEmpty {
            let entries = Self.entries(group.members.map { ($0.path.last ?? "", $0.purpose) })
            lines += [
                "            if (( CURRENT == 2 )); then", "                entries=(\(entries))",
                "                _describe command entries", "                return", "            fi",
                "            shift words", "            (( CURRENT-- ))", "            case $words[1] in",
            ]
            for member in group.members {
                lines += [
                    "                \(member.path.last ?? ""))", Self.arguments(member, indent: 20),
                    "                    ;;",
                ]
            }
            lines.append("            esac")
        }
        return (lines + ["            ;;"]).joined(separator: "\n")
    }

    private static func entries(_ entries: [(String, String)]) -> String {
        entries.map { quoted("\($0.replacing(":", with: "\\:")):\($1)") }.joined(separator: " ")
    }

    private static func arguments(_ spec: CommandSpec, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var words = spec.allOptions.map { option in
            let star = option.isRepeatable ? "*" : ""
            let text = "\(star)--\(option.name)[\(escaped(option.summary))]"
            return quoted(text + (option.value.map { ":\(escaped($0)):\(action($0))" } ?? ""))
        }
        words += spec.positionals.map { quoted(":\(escaped($0.name)):\(action($0.name))") }
        return "\(margin)_arguments \\\n" + words.map { "\(margin)    \($0)" }.joined(separator: " \\\n")
    }

    private static func action(_ placeholder: String) -> String {
        switch CompletionValues(placeholder: placeholder) {
        case .files: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .unknown: " "
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }
}
