// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import Registry
import RelayEngine
import RelayStore
import Requirements
import Testing

@testable import StatusPage

@Suite("The page's languages")
struct LanguageTests {
    @Test(
        "the first that the browser asks for and the page has",
        arguments: [
            (nil, nil), ("", nil), ("fr", nil), ("en", .english), ("zh-CN,zh;q=0.9,en;q=0.8", .chinese),
            ("fr, zh;q=0.2, en;q=0.5", .english), ("zh-TW", .chinese), ("en;q=0, zh", .chinese), ("*", nil),
        ] as [(String?, PageLanguage?)])
    func wanted(header: String?, language: PageLanguage?) {
        #expect(PageLanguage.wanted(header) == language)
    }

    /// gettext(3) has tools that collect its keys; here a test does.
    private static func keys() throws -> Set<String> {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Serving/StatusPage")
        var keys: Set<String> = []
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for found in text.matches(of: /say\(\s*"([^"]*)"/) { keys.insert(String(found.1)) }
        }
        keys.formUnion(Wait.Kind.allCases.compactMap { $0.remedy?.description })
        keys.formUnion(DeviceField.allCases.compactMap { $0.noun?.description })
        for field in RequirementField.allCases { keys.formUnion([field.label.description, field.hint.description]) }
        // The sentences that the page has in common with the API and the commands.
        let effects = root.appending(path: "../../Rules/Requirements/Campaigns/CampaignEffect.swift").standardized
        let sentences = try String(contentsOf: effects, encoding: .utf8).matches(of: /Sentence\(\s*"([^"]*)"/)
        #expect(sentences.count > 10)
        let summaries = root.appending(path: "../RelayAPI/Devices/UserSummary+Words.swift").standardized
        let parts = try String(contentsOf: summaries, encoding: .utf8).matches(of: /Part\(\s*"([^"]*)"/)
        #expect(parts.count > 20)
        let lines = root.appending(path: "../RelayAPI/Versions/AppSummary+Words.swift").standardized
        let steps = try String(contentsOf: lines, encoding: .utf8).matches(of: /Part\(\s*"([^"]*)"/)
        #expect(steps.count > 20)
        return keys.union((sentences + parts + steps).map { String($0.1) })
    }

    @Test("every text of the page has its Chinese, with as many values")
    func translated() throws {
        let keys = try Self.keys()
        #expect(keys.count > 200)
        for key in keys {
            let text = PageLanguage.chineseText(key)
            #expect(text != nil, "Words+Chinese.swift lacks: \(key)")
            #expect(text?.filter { $0 == "%" }.count == key.filter { $0 == "%" }.count, "\(key)")
        }
    }

    @Test("values stand where the text has them")
    func values() {
        #expect(PageLanguage.english.say("% of %", ["1", "3"]) == "1 of 3")
        #expect(PageLanguage.chinese.say("% of %", ["1", "3"]) == "1 / 3")
        #expect(PageLanguage.english.say("% of %", ["%", "3"]) == "% of 3", "a value is no pattern")
        #expect(PageLanguage.english.count(1, "device", "devices") == "1 device")
        #expect(PageLanguage.english.count(1200, "device", "devices") == "1,200 devices")
    }
}
