// SPDX-License-Identifier: Apache-2.0
import Foundation
import SeedApps
import Testing
import UpgradeRules

@Suite struct WireTextTests {
    @Test(arguments: [
        (#""1""#, "1"),
        ("1", "1"),
        ("0", "0"),
        ("-7", "-7"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("1.5", "1.5"),
        ("true", "1"),
        ("false", "0"),
        ("13800138000", "13800138000"),
        (#""013800138000""#, "013800138000"),
        (#""+86 138""#, "+86 138"),
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        (#""""#, ""),
        (#""1.0""#, "1.0"),
        (#""\ud83d\udcde""#, "📞"),
    ])
    func readsStringsAndNumbers(json: String, text: String) throws {
        let body = Data("[\(json)]".utf8)
        #expect(try JSONDecoder().decode([WireText].self, from: body) == [WireText(text)])
        let object = try #require(try JSONSerialization.jsonObject(with: body) as? [Any])
        #expect(SeedClient.string(object.first) == text, "as the client's own conversion has it")
    }

    @Test(arguments: ["{}", "[]", "null"])
    func refusesWhatHasNoText(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([WireText].self, from: Data("[\(json)]".utf8)) }
    }

    @Test func readsNullAsMissingWhereItMayBe() throws {
        struct Page: Decodable { var userTel: WireText? }
        #expect(try JSONDecoder().decode(Page.self, from: Data(#"{"userTel":null}"#.utf8)).userTel == nil)
        #expect(try JSONDecoder().decode(Page.self, from: Data("{}".utf8)).userTel == nil)
        #expect(try JSONDecoder().decode(Page.self, from: Data(#"{"userTel":5}"#.utf8)).userTel == WireText("5"))
    }

    @Test func takesNumbersExactly() {
        #expect(WireText(UInt64.max).text == "18446744073709551615")
        #expect(WireText(Int64.min).text == "-9223372036854775808")
        #expect(WireText(13_800_138_000.0).text == "13800138000")
        #expect(WireText(0.1).text == "0.1")
    }

    @Test func isAlwaysWrittenAsAString() throws {
        #expect(String(decoding: try JSONEncoder().encode([WireText(1)]), as: UTF8.self) == #"["1"]"#)
    }

    @Test func comparesLiterally() {
        #expect(WireText("caf\u{E9}") != WireText("cafe\u{301}"))
        #expect(WireText("1") == WireText(1))
        #expect(Set([WireText("1"), WireText(1), WireText("1.0")]).count == 2)
    }
}
