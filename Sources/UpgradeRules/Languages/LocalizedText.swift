// SPDX-License-Identifier: Apache-2.0

/// What is said to users: a text, and the same in other languages where somebody has given it.
package struct LocalizedText: Hashable, Sendable, ExpressibleByStringLiteral {
    package struct Translation: Hashable, Sendable {
        package var language: LanguageTag
        package var text: String

        package init(_ language: LanguageTag, _ text: String) {
            self.language = language
            self.text = text
        }
    }

    /// The most languages of one text: the app stores know fewer.
    package static let maximumLanguages = 100
    /// What stands for every language that is not named, where a text is written by language.
    package static let others = "*"
    /// The language whose text is the default where none is given for all others.
    package static let usualDefault = "en"

    /// Said where no language is known, or none of those that are wanted is there.
    package var text: String
    /// By language, each once.
    package private(set) var translations: [Translation]

    package init(_ text: String, _ translations: [Translation] = []) {
        self.text = text
        self.translations = translations.sorted { $0.language < $1.language }
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// Byte for byte, and in the same spelling of its languages: to `String`, canonically equivalent texts are equal.
    package func isWritten(as other: LocalizedText) -> Bool {
        text.utf8.elementsEqual(other.text.utf8)
            && translations.elementsEqual(other.translations) {
                $0.language.text == $1.language.text && $0.text.utf8.elementsEqual($1.text.utf8)
            }
    }

    /// The text for somebody.
    package func text(for ranges: LanguageRanges?) -> String {
        guard let ranges, !translations.isEmpty else { return text }
        let byLanguage = Dictionary(uniqueKeysWithValues: translations.map { ($0.language.folded, $0.text) })
        return ranges.lookup(in: byLanguage) ?? text
    }
}
