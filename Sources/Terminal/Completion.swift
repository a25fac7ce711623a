// SPDX-License-Identifier: Apache-2.0

/// What a shell may propose at the end of a command line. Pure: words in, proposals out.
package struct Completion: Sendable {
    private let tree: CommandTree

    package init(_ tree: CommandTree) {
        self.tree = tree
    }

    /// A line for each proposal: the word, a tab, what it means. A lone slash stands for the names of files.
    ///
    /// - Parameter words: those after the program's name, the last one as far as it is written.
    ///   - lookup: the values of a placeholder that only the daemon knows, as `wanted` names it.
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

    /// The placeholder whose values are proposed next and are not known here: "APP".
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
        // The words that are neither options nor their values, and the option whose value comes next.
        var places: [String] = []
        var option: OptionSpec?
        for word in words {
            if option != nil {
                option = nil
            } else if word.hasPrefix("-") {
                // Two commands may have an option of one name: that of the command so far.
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

    /// The next words of commands, each once, and the options that stand alone.
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

    /// By the names that the commands give their arguments and values; nil where nobody can know them.
    private static func values(of placeholder: String) -> [Proposal]? {
        switch placeholder {
        case "FILE", "FILE|-", "PATH", "DIRECTORY": [("/", "")]
        case "PLATFORM": ["ios", "android"].map { ($0, "") }
        case "LEVEL": ["debug", "info", "notice", "warning", "error"].map { ($0, "") }
        default: nil
        }
    }
}
