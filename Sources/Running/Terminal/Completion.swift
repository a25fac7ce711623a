// SPDX-License-Identifier: Apache-2.0

/// A shell's proposals for the end of a command line. Pure: words in, proposals out.
package struct Completion: Sendable {
    private let tree: CommandTree

    package init(_ tree: CommandTree) {
        self.tree = tree
    }

    /// A line for each proposal: the word, a tab, its meaning. A lone slash stands for the names of files.
    ///
    /// - Parameters:
    ///   - words: those after the program's name; the last one may be incomplete.
    ///   - lookup: the values of the placeholder that `wanted` returns.
    package func text(_ words: [String], lookup: [Proposal] = []) -> String {
        let last = words.last ?? ""
        let proposals =
            switch next(before: words.dropLast(), isOption: last.hasPrefix("-")) {
            case .these(let proposals): proposals
            case .value: lookup
            }
        return proposals.filter { $0.word.hasPrefix(last) || $0.word == "/" }.map { "\($0.word)\t\($0.meaning)\n" }
            .joined()
    }

    package typealias Proposal = (word: String, meaning: String)

    /// The placeholder, such as "APP", whose values come next and must be looked up.
    package func wanted(_ words: [String]) -> String? {
        let isOption = words.last?.hasPrefix("-") ?? false
        guard case .value(let placeholder) = next(before: words.dropLast(), isOption: isOption) else { return nil }
        return placeholder
    }

    private enum Next {
        case these([Proposal])
        case value(of: String)

        init(_ placeholder: String) {
            self = Completion.values(of: placeholder).map(Next.these) ?? .value(of: placeholder)
        }
    }

    private func next(before words: ArraySlice<String>, isOption: Bool) -> Next {
        let specs = tree.commands.map(\.spec)
        let valued = specs.flatMap(\.allOptions).filter { $0.value != nil }
        // The words that are neither options nor their values, and an option whose value comes next.
        var places: [String] = []
        var option: OptionSpec?
        for word in words {
            if option != nil {
                option = nil
            } else if word.hasPrefix("-") {
                // Several commands may have an option of this name: that of the command typed so far comes first.
                let own = specs.first { places.starts(with: $0.path) }?.allOptions.filter { $0.value != nil } ?? []
                option = (own + valued).first { "--\($0.name)" == word }
            } else {
                places.append(word)
            }
        }
        if let option, let value = option.value {
            return option.choices.isEmpty ? Next(value) : .these(option.choices.map { ($0, "") })
        }
        guard let spec = specs.first(where: { places.starts(with: $0.path) }) else {
            return .these(commands(after: places))
        }
        if !isOption, let positional = spec.positional(at: places.count - spec.path.count) {
            let next = Next(positional.name)
            if case .these = next { return next }
            if Self.looked.contains(positional.name) { return next }
        }
        return .these(spec.allOptions.map { ("--\($0.name)", $0.summary) })
    }

    /// The next words of commands, each once, and the options that need no command.
    private func commands(after places: [String]) -> [Proposal] {
        var proposals: [Proposal] = []
        for spec in tree.commands.map(\.spec) where spec.path.starts(with: places) {
            let word = spec.path[places.count]
            let isWhole = spec.path.count == places.count + 1
            if proposals.contains(where: { $0.word == word }) { continue }
            proposals.append((word, isWhole ? spec.purpose : "commands of \(word)"))
        }
        if proposals.isEmpty { return [] }
        proposals.append(("--help", "show this page and exit"))
        if places.isEmpty { proposals.append(("--version", "print the version and exit")) }
        return proposals
    }

    /// Arguments whose values the daemon knows.
    private static let looked: Set<String> = ["APP", "ID"]

    /// The values of the placeholders that are known here; nil for any other.
    private static func values(of placeholder: String) -> [Proposal]? {
        switch placeholder {
        case "FILE", "FILE|-", "PATH", "DIRECTORY": [("/", "")]
        case "PLATFORM": ["ios", "android"].map { ($0, "") }
        case "LEVEL": ["debug", "info", "notice", "warning", "error"].map { ($0, "") }
        default: nil
        }
    }
}
