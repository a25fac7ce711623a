// SPDX-License-Identifier: Apache-2.0

/// A text for users, with translations into any number of languages.
package struct LocalizedText: Hashable, Sendable, ExpressibleByStringLiteral {
    package struct Translation: Hashable, Sendable {
        package var language: LanguageTag
        package var text: String

        package init(_ language: LanguageTag, _ text: String) {
            self.language = language
            self.text = text
        }
    }

    /// The most languages of one text: the app stores support fewer.
    package static let maximumLanguages = 100
    /// The key for all languages that are not listed, where a text is written as an object with a member for each language.
    package static let others = "*"
    /// The language whose text is the default where there is no text for `others`.
    package static let usualDefault = "en"

    /// Used where no language is known, or no translation fits.
    package var text: String
    /// Ascending by language, each language once.
    package private(set) var translations: [Translation]

    package init(_ text: String, _ translations: [Translation] = []) {
        self.text = text
        self.translations = translations.sorted { $0.language < $1.language }
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// Whether both are equal byte for byte, also in the spelling of their languages. `String` treats canonically equivalent
    /// texts as equal.
    package func isWritten(as other: LocalizedText) -> Bool {
        text.utf8.elementsEqual(other.text.utf8)
            && translations.elementsEqual(other.translations) {
                $0.language.text == $1.language.text && $0.text.utf8.elementsEqual($1.text.utf8)
            }
    }

    /// The text for a user with these languages.
    package func text(for ranges: LanguageRanges?) -> String {
        guard let ranges, !translations.isEmpty else { return text }
        let byLanguage = Dictionary(uniqueKeysWithValues: translations.map { ($0.language.folded, $0.text) })
        return ranges.lookup(in: byLanguage) ?? text
    }
}
