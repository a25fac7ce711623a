// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Completions for bash. Pure.
struct BashCompletion {
    private let specs: [CommandSpec]

    init(_ specs: [CommandSpec]) {
        self.specs = specs
    }

    var text: String {
        let groups = CompletionGroups(specs).groups
        let pairs = groups.filter { !$0.members.isEmpty }
        let valued = Set(specs.flatMap(\.allOptions).filter { $0.value != nil }.map { "--\($0.name)" }).sorted()
        return """
            # bash completion for upgrade-relay; made by "upgrade-relay generate bash"
            _upgrade_relay() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
                local first="" second="" places=0 word i
                for ((i = 1; i < COMP_CWORD; i++)); do
                    word=${COMP_WORDS[i]}
                    case ${COMP_WORDS[i-1]} in
                        \(valued.joined(separator: "|"))) continue ;;
                    esac
                    case $word in
                        -*) continue ;;
                    esac
                    if [[ -z $first ]]; then
                        first=$word
                    elif [[ -z $second && " \(pairs.map(\.word).joined(separator: " ")) " == *" $first "* ]]; then
                        second=$word
                    else
                        ((places++))
                    fi
                done
                local words="" values=""
                case "$first${second:+ $second}" in
                    "") words="\((groups.map(\.word) + ["--help", "--version"]).joined(separator: " "))" ;;
            \(pairs.map(members).joined(separator: "\n"))
            \(specs.map(command).joined(separator: "\n"))
                esac
                case $values in
                    "<files>") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
                    "<unknown>") COMPREPLY=() ;;
                    "") mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
                    *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
                esac
            }
            complete -F _upgrade_relay upgrade-relay

            """
    }

    private func members(_ group: CompletionGroups.Group) -> String {
        let words = group.members.compactMap(\.path.last) + ["--help"]
        return "        \"\(group.word)\") words=\"\(words.joined(separator: " "))\" ;;"
    }

    private func command(_ spec: CommandSpec) -> String {
        var lines = ["        \"\(spec.name)\")"]
        lines.append("            words=\"\(spec.allOptions.map { "--\($0.name)" }.joined(separator: " "))\"")
        for (index, positional) in spec.positionals.enumerated() {
            let values = Self.text(CompletionValues(placeholder: positional.name))
            guard values != "<unknown>" else { continue }
            lines.append("            [[ $places == \(index) && $cur != -* ]] && values=\"\(values)\"")
        }
        let valued = spec.allOptions.filter { $0.value != nil }
        if !valued.isEmpty {
            lines.append("            case $prev in")
            for option in valued {
                let values = Self.text(CompletionValues(placeholder: option.value ?? ""))
                lines.append("                --\(option.name)) values=\"\(values)\" ;;")
            }
            lines.append("            esac")
        }
        lines.append("            ;;")
        return lines.joined(separator: "\n")
    }

    private static func text(_ values: CompletionValues) -> String {
        switch values {
        case .files: "<files>"
        case .words(let words): words.joined(separator: " ")
        case .unknown: "<unknown>"
        }
    }
}
