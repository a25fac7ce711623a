// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

@Suite("How a message says a moment") struct MomentWordsTests {
    /// 2026-11-28T11:00:00Z
    private static let moment = Timestamp(seconds: 1_795_863_600)
    private static let shanghai = LocalZone(name: "Asia/Shanghai") { _ in 8 * 3600 }

    private static func text(_ pairs: [(String, String)], _ usual: String) throws -> LocalizedText {
        LocalizedText(usual, try pairs.map { .init(try #require(LanguageTag($0.0)), $0.1) })
    }

    @Test(
        "In the language's own form, by the app's clocks",
        arguments: [
            ("en", "28 November 2026, 19:00"), ("en-US", "28 November 2026, 19:00"), ("zh-Hans", "2026年11月28日 19:00"),
            ("zh-TW", "2026年11月28日 19:00"), ("ja", "2026年11月28日 19:00"), ("ko", "2026년 11월 28일 19:00"),
            ("de", "28. November 2026, 19:00"), ("fr", "28 novembre 2026 à 19:00"),
            ("es", "28 de noviembre de 2026, 19:00"),
            ("pt-BR", "28 de novembro de 2026, 19:00"), ("it", "28 novembre 2026, 19:00"),
            ("ru", "28 ноября 2026 г., 19:00"),
            ("nl", "28 november 2026, 19:00"), ("fi", "2026-11-28 19:00"),
        ])
    func languages(language: String, date: String) throws {
        let message = try Self.text([(language, "<{requiredFrom}>")], "usual")
        let worded = MomentWords(zone: Self.shanghai).worded(message, from: Self.moment)
        #expect(worded.translations.map(\.text) == ["<\(date)>"] && worded.text == "usual")
    }

    @Test("Without a zone it is UTC, and says so")
    func utc() throws {
        let message = try Self.text([("en", "From {requiredFrom} on")], "From {requiredFrom} on")
        #expect(MomentWords().worded(message, from: Self.moment).text == "From 28 November 2026, 11:00 UTC on")
        #expect(MomentWords().worded(message, from: nil) == message)
    }

    @Test(
        "A text without a named language goes by its script",
        arguments: [
            ("{requiredFrom} 起必须更新", "2026年11月28日 19:00 起必须更新"), ("{requiredFrom}までに", "2026年11月28日 19:00までに"),
            ("{requiredFrom}부터", "2026년 11월 28일 19:00부터"),
            ("Update before {requiredFrom}!", "Update before 2026-11-28 19:00!"),
        ])
    func scripts(text: String, worded: String) {
        #expect(MomentWords(zone: Self.shanghai).worded(LocalizedText(text), from: Self.moment).text == worded)
    }
}
