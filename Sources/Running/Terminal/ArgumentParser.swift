// SPDX-License-Identifier: Apache-2.0

/// Reads the words after a command's name by its specification. Pure: words in, arguments or a usage error out.
///
/// Options may stand anywhere: `--name value`, `--name=value`, `-n value`. `--` ends them; a lone `-` is a positional
/// (standard input by custom).
package struct ArgumentParser: Sendable {
    package let spec: CommandSpec

    package init(_ spec: CommandSpec) {
        self.spec = spec
    }

    package func parse(_ words: [String]) throws(UsageError) -> ParsedArguments {
        var result = ParsedArguments()
        var places: [String] = []
        var rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if optionsEnded || !word.hasPrefix("-") || word == "-" {
                places.append(word)
            } else if word == "--" {
                optionsEnded = true
            } else {
                try readOption(word, rest: &rest, into: &result)
            }
        }
        // With --help a missing or surplus argument does not matter.
        if result.flag("help") { return result }
        try assign(places, into: &result)
        for option in spec.options where option.isRequired && result.value(option.name) == nil {
            throw UsageError("--\(option.name) \(option.value ?? "") is missing")
        }
        return result
    }

    private func readOption(
        _ word: String, rest: inout ArraySlice<String>, into result: inout ParsedArguments
    ) throws(UsageError) {
        let (option, attached) = try find(word)
        guard option.value != nil else {
            if let attached { throw UsageError("--\(option.name) takes no value; it was given \"\(attached)\"") }
            result.set(flag: option.name)
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError("--\(option.name) needs a value: --\(option.name) \(option.value ?? "")")
        }
        if !option.isRepeatable, result.value(option.name) != nil {
            throw UsageError("--\(option.name) was given twice")
        }
        try option.check(value)
        result.append(value, to: option.name)
        while option.isVariadic, let next = rest.first, !next.hasPrefix("-") {
            try option.check(next)
            result.append(next, to: option.name)
            rest.removeFirst()
        }
    }

    private func find(_ word: String) throws(UsageError) -> (OptionSpec, attached: String?) {
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            if let option = spec.option(named: name) {
                return (option, parts.count > 1 ? String(parts[1]) : nil)
            }
            let nearest = Suggestion.nearest(to: name, among: spec.allOptions.map(\.name))
            throw UsageError("unknown option \"--\(name)\"", suggestion: nearest.map { "--\($0)" })
        }
        let letters = word.dropFirst()
        if letters.count == 1, let letter = letters.first, let option = spec.option(short: letter) {
            return (option, nil)
        }
        let nearest = Suggestion.nearest(to: String(letters), among: spec.allOptions.map(\.name))
        throw UsageError("unknown option \"\(word)\"", suggestion: nearest.map { "--\($0)" })
    }

    private func assign(_ places: [String], into result: inout ParsedArguments) throws(UsageError) {
        for (index, place) in places.enumerated() {
            guard let positional = spec.positional(at: index) else {
                let known = spec.positionals.map(\.usage).joined(separator: " ")
                throw UsageError(
                    "unexpected argument \"\(place)\": the command takes \(known.isEmpty ? "options alone" : known)")
            }
            // An empty argument is often a shell variable that was never set.
            guard !place.isEmpty else { throw UsageError("\(positional.name) is empty: \(positional.summary)") }
            if positional.isRepeatable {
                result.append(place, to: positional.name)
            } else {
                result.set(positional: positional.name, place)
            }
        }
        for positional in spec.positionals.dropFirst(places.count) where positional.isRequired {
            throw UsageError("\(positional.name) is missing: \(positional.summary)")
        }
    }
}
