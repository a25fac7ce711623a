// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// What is answered, rendered once in each language that there are words in (at most `LocalizedText.maximumLanguages` and the default).
package struct Spoken<Content: Sendable>: Sendable {
    /// With the default's words.
    package let usual: Content
    /// By language, in lower case.
    private let others: [String: Content]

    /// - Parameter render: makes it with these words; nil: there are none.
    init(_ message: LocalizedText?, _ render: (String?) -> Content) {
        usual = render(message?.text)
        others = Dictionary(
            uniqueKeysWithValues: (message?.translations ?? []).map { ($0.language.folded, render($0.text)) })
    }

    /// What somebody is answered, and the header that this hangs on; nil: on none. What he wishes is not looked at where there is one
    /// language alone.
    func chosen(for wish: @autoclosure () -> LanguageWish) -> (content: Content, vary: String?) {
        guard !others.isEmpty else { return (usual, nil) }
        let wish = wish()
        return (wish.ranges?.lookup(in: others) ?? usual, wish.vary)
    }
}

/// In which languages somebody asks: a parameter wins over `Accept-Language`, unless it names no language at all. Neither is ever a
/// fault: an app is not refused its answer for what a vendor calls a language.
struct LanguageWish {
    /// The most wanted first; nil: nobody said.
    private(set) var ranges: LanguageRanges?
    /// The header that decided, if one did: another request may have another.
    private(set) var vary: String?

    /// Nobody said.
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
