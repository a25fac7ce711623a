// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// The stored form of a text in several languages: the default in the column `message`, which other programs may read and
/// write, and all of it as JSON in `messages`.
package enum StoredText {
    /// nil where there is only the default.
    package static func written(_ text: LocalizedText) -> String? {
        guard !text.translations.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(LocalizedText.others, text.text)
            for translation in text.translations { writer.member(translation.language.text, translation.text) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The other languages belong to the default that they came with: if another program has set another message, they
    /// are not its translations.
    package static func read(_ message: String?, _ messages: String?) -> LocalizedText? {
        guard let message else { return nil }
        guard let messages, case .object(let members)? = try? JSONReader.read(Array(messages.utf8)),
            case .string(let fallback)? = members.first(where: { $0.name == LocalizedText.others })?.value,
            fallback.utf8.elementsEqual(message.utf8)
        else { return LocalizedText(message) }
        return LocalizedText(
            message,
            members.compactMap { member in
                guard let language = LanguageTag(member.name), case .string(let text) = member.value else { return nil }
                return LocalizedText.Translation(language, text)
            })
    }
}
