// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

extension BodyFields {
    /// A text, or texts by language: `{"en": "…", "zh-Hans": "…", "*": "…"}`. Users who speak none of the languages get the
    /// text of "*", else that of "en"; JSON's objects have no order (RFC 8259, section 4), so it cannot be the first.
    ///
    /// - Parameter limit: the most characters of each text.
    package mutating func localizedText(_ name: String, example: String, limit: Int) -> LocalizedText? {
        guard let value = take(name) else { return nil }
        guard case .object(let members) = value else {
            guard case .string = value else {
                refuse(
                    name,
                    "a string is needed, such as \"\(example)\", or an object with one for each language, such as "
                        + "{\"en\": \"\(example)\"}; got \(value.sight)")
                return nil
            }
            return text(value, field: name, example: example, limit: limit).map { LocalizedText($0) }
        }
        let count = faultCount
        guard
            isWithin(
                .languages, members.count - (members.contains { $0.name == LocalizedText.others } ? 1 : 0), name,
                of: "languages")
        else { return nil }
        var fallback: String?
        var translations: [LocalizedText.Translation] = []
        for member in members {
            let field = "\(name).\(JSONValue.shortened(member.name))"
            let text = text(member.value, field: field, example: example, limit: limit)
            if member.name == LocalizedText.others {
                fallback = text
            } else if let language = LanguageTag(member.name) {
                if let other = translations.first(where: { $0.language == language }) {
                    refuse(
                        field,
                        "is the language \"\(other.language)\" once more: upper and lower case make no difference")
                }
                translations.append(.init(language, text ?? ""))
            } else {
                refuse(
                    field,
                    "is not a language; a tag as in RFC 5646 is needed, such as en, zh-Hans or pt-BR, or * for all others"
                )
            }
        }
        fallback = fallback ?? translations.first { $0.language.folded == LocalizedText.usualDefault }?.text
        if members.isEmpty { refuse(name, "names no language; leave it out to say what the configuration says") }
        if faultCount == count, fallback == nil {
            refuse(
                name, "has no text for users of other languages; add \"en\", or \"*\" for all others")
        }
        guard faultCount == count, let fallback else { return nil }
        return LocalizedText(fallback, translations)
    }
}
