// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UpgradeRules

/// The names of languages (RFC 5646), and the choice of a user's text (RFC 4647, RFC 9110).
struct LanguageTests {
    @Test(
        arguments: [
            // RFC 5646, appendix A.
            "de", "fr", "ja", "zh-Hant", "zh-Hans", "sr-Cyrl", "sr-Latn", "zh-cmn-Hans-CN", "cmn-Hans-CN", "zh-yue-HK",
            "yue-HK",
            "zh-Hans-CN", "sr-Latn-RS", "sl-rozaj", "sl-rozaj-biske", "sl-nedis", "de-CH-1901", "sl-IT-nedis",
            "hy-Latn-IT-arevela", "de-DE", "en-US", "es-419", "de-CH-x-phonebk", "az-Arab-x-AZE-derbend", "x-whatever",
            "qaa-Qaaa-QM-x-southern", "de-Qaaa", "sr-Latn-QM", "sr-Qaaa-RS", "en-US-u-islamcal",
            "zh-CN-a-myext-x-private",
            "en-a-myext-b-another", "EN-us", "zh-min-nan",
        ])
    func `A language has a tag that is well-formed`(tag: String) throws {
        let read = try #require(LanguageTag(tag))
        #expect(read.text == tag && read.folded == tag.lowercased())
        #expect(LanguageTag(tag.uppercased()) == read, "upper and lower case make no difference")
    }

    @Test(
        arguments: [
            "", "-", "en-", "-en", "en--US", "e", "englishes9", "en_US", "en US", "en-US ", "zh-Hans-CN-", "de-419-DE",
            "a-DE",
            "en-x", "x", "x-", "x-waytoolongsubtag", "en-a", "en-a-b-cd", "français", "*", "en-*", "1en", "i-klingon",
            "de-Latn-DE-1996-extlang-u-co-phonebk-x-private",
        ])
    func `What is no tag is none`(tag: String) {
        #expect(LanguageTag(tag) == nil)
    }

    @Test(
        arguments: [
            ("da, en-gb;q=0.8, en;q=0.7", ["da", "en-gb", "en"]),  // RFC 9110, section 12.5.4
            ("en;q=0.1,de;q=0.9, fr", ["fr", "de", "en"]), ("en;Q=0.5, de ; q=0.55", ["de", "en"]),
            ("zh-Hans_CN", ["zh-hans-cn"]), ("en;q=0, de", ["de"]), ("*", []), ("*;q=0.1, de", ["de"]), ("en;q=0", []),
            ("en;q=1.000,de;q=0.999", ["en", "de"]), ("a b, de", ["de"]), ("de;q=2, en", ["en"]),
            ("de;level=1, en", ["en"]),
            ("de;q=0.1234,en", ["en"]), ("de;q=.5,en", ["en"]), ("de;q=1.5,en", ["en"]), (",,en,", ["en"]),
            ("de;q=1.,en", ["de", "en"]),
        ] as [(String, [String])])
    func `The most wanted language comes first, and what is of no form is passed over`(text: String, ranges: [String]) {
        #expect(LanguageRanges(text)?.ranges == ranges)
    }

    @Test(arguments: ["", " ", ",", "ä", "q=1", "en US", "1", "en;q=x", ";", "-", "toolongtobeasubtag", "*-*"])
    func `Who names no language has said nothing`(text: String) {
        #expect(LanguageRanges(text) == nil)
    }

    @Test func anEndlessHeaderIsNotReadToItsEnd() {
        let text = String(repeating: "de-AT;q=0.5, ", count: 5000) + "en"
        #expect(LanguageRanges(text)?.ranges.count == LanguageRanges.maximumCount)
    }

    @Test(
        arguments: [
            // RFC 4647, section 3.4: "zh-Hant-CN-x-private1-private2" is cut down to "zh".
            ("zh-Hant-CN-x-private1-private2", ["zh-Hant-CN-x-private1", "zh-Hant", "zh"], "zh-Hant-CN-x-private1"),
            ("zh-Hant-CN-x-private1-private2", ["zh-Hant-CN-x", "zh-Hant-CN", "zh"], "zh-Hant-CN"),
            ("zh-Hant-CN-x-private1-private2", ["zh-Hant", "zh"], "zh-Hant"),
            ("zh-Hant-CN-x-private1-private2", ["zh"], "zh"),
            ("zh-Hant-CN-x-private1-private2", ["zh-Hans", "en"], nil),
            // Its example of a list with a default.
            ("fr-FR, zh-Hant", ["fr", "zh-Hant"], "fr"), ("fr-FR, zh-Hant", ["zh-Hant", "zh"], "zh-Hant"),
            ("fr-FR, zh-Hant", ["zh", "en"], "zh"), ("fr-FR, zh-Hant", ["ja"], nil),
            // A range fits no longer tag.
            ("de", ["de-CH", "de-AT"], nil), ("*, de-CH", ["de"], "de"),
            ("*", ["de"], nil),
            // A region of Chinese stands for its script, and a text of the script is nearer than one for all of Chinese.
            ("zh-CN", ["zh-Hans", "zh-Hant"], "zh-Hans"), ("zh-TW", ["zh", "zh-Hant"], "zh-Hant"),
            ("zh-HK", ["zh-Hans", "zh-TW"], "zh-TW"), ("zh-Hans", ["zh-CN"], "zh-CN"), ("zh-SG", ["zh-Hant"], nil),
            ("zh-Hant-CN", ["zh-Hans", "zh-Hant"], "zh-Hant"), ("zh", ["zh-Hant", "zh-Hans"], "zh-Hans"),
            ("cmn-TW", ["zh-Hant"], "zh-Hant"),
            // Codes that ISO 639 withdrew, in both directions.
            ("iw", ["he"], "he"), ("iw-IL", ["he-IL", "he"], "he-IL"), ("in-ID", ["id"], "id"), ("he", ["iw"], "iw"),
            ("ji", ["yi"], "yi"), ("nb-NO", ["no"], "no"), ("iw, de", ["de", "he"], "he"),
            ("DE-ch", ["de-CH"], "de-CH"), ("x-foo-bar", ["x-foo"], "x-foo"), ("x-foo", ["x"], nil),
        ] as [(String, [String], String?)])
    func `A text is looked up by cutting what is wanted shorter`(wanted: String, tags: [String], found: String?) throws
    {
        let text = LocalizedText("default", tags.compactMap { tag in LanguageTag(tag).map { .init($0, tag) } })
        let ranges = try #require(LanguageRanges(wanted))
        #expect(text.text(for: ranges) == found ?? "default")
        #expect(text.text(for: nil) == "default")
    }

}
