// SPDX-License-Identifier: Apache-2.0

/// The name of a language, such as "zh-Hans": well-formed by the `langtag` and `privateuse` of RFC 5646, section 2.1. Its subtags
/// need not be registered, and the irregular tags that the RFC keeps for compatibility ("i-klingon") are refused.
package struct LanguageTag: Sendable, CustomStringConvertible {
    /// The most characters of a tag: RFC 5646, section 4.4.1, has that much room for the longest of its recommended forms.
    package static let maximumLength = 35

    /// The tag as it was written.
    package let text: String
    /// The same in lower case: "the ABNF syntax … does not distinguish between upper- and lowercase" (section 2.1).
    package let folded: String

    /// nil where the text is no tag.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let folded = text.lowercased()
        let subtags = folded.split(separator: "-", omittingEmptySubsequences: false)
        guard Self.isPrivate(subtags[...]) || Self.isLanguage(subtags) else { return nil }
        (self.text, self.folded) = (String(text), folded)
    }

    package var description: String { text }

    /// Its first subtag, such as "zh".
    package var primary: String { String(folded.prefix { $0 != "-" }) }

    /// `language ["-" script] ["-" region] *("-" variant) *("-" extension) ["-" privateuse]`
    private static func isLanguage(_ subtags: [Substring]) -> Bool {
        var rest = subtags[...]
        /// Takes the next subtag if it matches.
        func take(_ isMeant: (Substring) -> Bool) -> Bool {
            guard let next = rest.first, isMeant(next) else { return false }
            rest.removeFirst()
            return true
        }
        guard let language = rest.first, isLetters(language, 2...8) else { return false }
        rest.removeFirst()
        // Only the shortest codes have extended language subtags.
        if language.utf8.count < 4 {
            for _ in 0..<3 { guard take({ isLetters($0, 3...3) }) else { break } }
        }
        _ = take { isLetters($0, 4...4) }
        _ = take { isLetters($0, 2...2) || $0.utf8.count == 3 && $0.utf8.allSatisfy(isDigit) }
        while take({ isAlphanumeric($0, 5...8) || isAlphanumeric($0, 4...4) && isDigit($0.utf8.first ?? 0) }) {}
        while take({ isAlphanumeric($0, 1...1) && $0 != "x" }) {
            guard take({ isAlphanumeric($0, 2...8) }) else { return false }
            while take({ isAlphanumeric($0, 2...8) }) {}
        }
        return rest.isEmpty || isPrivate(rest)
    }

    /// `"x" 1*("-" (1*8alphanum))`
    private static func isPrivate(_ subtags: ArraySlice<Substring>) -> Bool {
        subtags.first == "x" && subtags.count > 1 && subtags.dropFirst().allSatisfy { isAlphanumeric($0, 1...8) }
    }

    private static func isLetters(_ subtag: Substring, _ length: ClosedRange<Int>) -> Bool {
        length.contains(subtag.utf8.count) && subtag.utf8.allSatisfy(isLetter)
    }

    static func isAlphanumeric(_ subtag: Substring, _ length: ClosedRange<Int>) -> Bool {
        length.contains(subtag.utf8.count) && subtag.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// Whether a byte is a lower-case letter.
    static func isLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

extension LanguageTag: Hashable, Comparable {
    package static func == (left: LanguageTag, right: LanguageTag) -> Bool { left.folded == right.folded }

    package static func < (left: LanguageTag, right: LanguageTag) -> Bool { left.folded < right.folded }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}
