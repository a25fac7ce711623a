// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI

/// What the page can be read in.
package enum PageLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case chinese = "zh"

    package static let cookie = "upgrade_relay_language"

    /// What the language calls itself.
    var ownName: String { self == .english ? "English" : "中文" }
    /// For `lang` (RFC 5646).
    var tag: String { self == .english ? "en" : "zh-Hans" }

    /// The one that was chosen, else the first that the browser asks for.
    init(of head: RequestHead) {
        let chosen = SessionCookie.value(of: Self.cookie, in: head).flatMap(PageLanguage.init(rawValue:))
        self = chosen ?? Self.wanted(head.headers["accept-language"]) ?? .english
    }

    /// By weight, then by order (RFC 9110, section 12.5.4).
    static func wanted(_ header: String?) -> PageLanguage? {
        let ranges = header?.lowercased().split(separator: ",").compactMap { range -> (PageLanguage, Double)? in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let primary = parts.first?.split(separator: "-").first,
                let language = PageLanguage(rawValue: String(primary))
            else { return nil }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return weight > 0 ? (language, weight) : nil
        }
        var best: (PageLanguage, Double)?
        for range in ranges ?? [] where range.1 > best?.1 ?? 0 { best = range }
        return best?.0
    }
}
