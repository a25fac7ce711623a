// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import UpgradeRules

/// The languages of the page.
package enum PageLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case chinese = "zh"

    package static let cookie = "upgrade_relay_language"

    /// The language's name in itself.
    var ownName: String { self == .english ? "English" : "中文" }
    /// The value of `lang` (RFC 5646).
    var tag: String { self == .english ? "en" : "zh-Hans" }

    /// The language that was chosen, else the first known one that the browser asks for, else English.
    init(of head: RequestHead) {
        let chosen = SessionCookie.value(of: Self.cookie, in: head).flatMap(PageLanguage.init(rawValue:))
        self = chosen ?? Self.wanted(head.headers["accept-language"]) ?? .english
    }

    /// The first known language by weight, then by order (RFC 9110, section 12.5.4).
    static func wanted(_ header: String?) -> PageLanguage? {
        for range in header.flatMap({ LanguageRanges($0) })?.ranges ?? [] {
            let primary = range.prefix { $0 != "-" }
            if let language = PageLanguage(rawValue: String(primary)) { return language }
        }
        return nil
    }
}
