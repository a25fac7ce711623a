// SPDX-License-Identifier: Apache-2.0
import Terminal

/// What can stand for a placeholder such as FILE, as a shell may propose it.
enum CompletionValues: Equatable {
    case files
    case words([String])
    case unknown

    /// By the names that the commands give their arguments and values.
    init(placeholder: String) {
        switch placeholder {
        case "FILE", "FILE|-", "PATH", "DIRECTORY": self = .files
        case "PLATFORM": self = .words(["ios", "android"])
        case "LEVEL": self = .words(["debug", "info", "notice", "warning", "error"])
        default: self = .unknown
        }
    }
}

/// The commands as shells see them: first words, and what follows them.
struct CompletionGroups {
    struct Group {
        var word: String
        /// Where the word is a command by itself.
        var command: CommandSpec?
        /// Where it needs a second one.
        var members: [CommandSpec] = []

        var purpose: String {
            command?.purpose ?? "Commands: \(members.compactMap(\.path.last).joined(separator: ", "))"
        }
    }

    /// In the order of the overview.
    private(set) var groups: [Group] = []

    init(_ specs: [CommandSpec]) {
        for spec in specs {
            let word = spec.path[0]
            if !groups.contains(where: { $0.word == word }) { groups.append(Group(word: word)) }
            guard let index = groups.firstIndex(where: { $0.word == word }) else { continue }
            if spec.path.count == 1 { groups[index].command = spec } else { groups[index].members.append(spec) }
        }
    }
}
