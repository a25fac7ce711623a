// SPDX-License-Identifier: Apache-2.0
import Terminal

/// A few words, of which an option takes one.
struct NamedChoice: Sendable {
    private let option: String
    let names: [String]

    init(_ option: String, _ names: [String]) {
        self.option = option
        self.names = names
    }

    var shown: String { names.joined(separator: ", ") }

    /// nil where it is not given.
    func option(_ arguments: ParsedArguments) throws(UsageError) -> String? {
        guard let text = arguments.value(option), !names.contains(text) else { return arguments.value(option) }
        throw refusal(text)
    }

    private func refusal(_ text: String) -> UsageError {
        let article = option.first.map { "aeiou".contains($0) } ?? false ? "an" : "a"
        return UsageError(
            "--\(option): \"\(text)\" is not \(article) \(option); \(shown)",
            suggestion: Suggestion.nearest(to: text, among: names))
    }

    /// Several, separated by commas; nil where it is not given.
    func list(_ arguments: ParsedArguments) throws(UsageError) -> [String]? {
        guard let text = arguments.value(option) else { return nil }
        let chosen = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for word in chosen where !names.contains(word) { throw refusal(word) }
        return chosen
    }
}
