// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// An answer, rendered once in each language of its words (at most `LocalizedText.maximumLanguages` and the default).
package struct LocalizedAnswer<Content: Sendable>: Sendable {
    /// In the default language.
    package let usual: Content
    /// By language, in lower case.
    private let others: [String: Content]

    /// - Parameter render: makes the content with these words; nil: there are none.
    init(_ message: LocalizedText?, _ render: (String?) -> Content) {
        usual = render(message?.text)
        others = Dictionary(
            uniqueKeysWithValues: (message?.translations ?? []).map { ($0.language.folded, render($0.text)) })
    }

    /// The content in the requested language, and the request header on which the choice depends; nil: none. The wish is
    /// not evaluated where there is only one language.
    func chosen(for wish: @autoclosure () -> RequestedLanguages) -> (content: Content, vary: String?) {
        guard !others.isEmpty else { return (usual, nil) }
        let wish = wish()
        return (wish.ranges?.lookup(in: others) ?? usual, wish.vary)
    }
}

/// The languages that a request asks for: a parameter wins over `Accept-Language`, unless it names no language at all.
/// Neither is ever refused: an app gets its answer even with a vendor's own name for a language.
struct RequestedLanguages {
    /// The languages in order of preference; nil: none were given.
    private(set) var ranges: LanguageRanges?
    /// The request header on which the choice depends, for the field `Vary`; nil: none.
    private(set) var vary: String?

    /// A request without a language.
    init() {}

    init(parameter: String?, header: String?) {
        if let parameter, let ranges = LanguageRanges(parameter) {
            self.ranges = ranges
            return
        }
        ranges = header.flatMap { LanguageRanges($0) }
        vary = "Accept-Language"
    }
}
