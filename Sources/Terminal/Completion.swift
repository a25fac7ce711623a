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
    package func text(_ words: [String]) -> String {
        let last = words.last ?? ""
        let proposals = proposals(before: words.dropLast(), isOption: last.hasPrefix("-"))
        return proposals.filter { $0.word.hasPrefix(last) || $0.word == "/" }.map { "\($0.word)\t\($0.meaning)\n" }
            .joined()
    }

    private typealias Proposal = (word: String, meaning: String)

    private func proposals(before words: ArraySlice<String>, isOption: Bool) -> [Proposal] {
        let specs = tree.commands.map(\.spec)
        let valued = specs.flatMap(\.allOptions).filter { $0.value != nil }
        // The words that are neither options nor their values, and the option whose value comes next.
        var places: [String] = []
        var option: OptionSpec?
        for word in words {
            if option != nil {
                option = nil
            } else if word.hasPrefix("-") {
                option = valued.first { "--\($0.name)" == word }
            } else {
                places.append(word)
            }
        }
        if let value = option?.value { return Self.values(of: value) ?? [] }
        guard let spec = specs.first(where: { places.starts(with: $0.path) }) else { return commands(after: places) }
        let place = places.count - spec.path.count
        if !isOption, place < spec.positionals.count, let values = Self.values(of: spec.positionals[place].name) {
            return values
        }
        return spec.allOptions.map { ("--\($0.name)", $0.summary) }
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
