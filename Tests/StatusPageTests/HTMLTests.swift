// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@testable import StatusPage

@Suite("HTML")
struct HTMLTests {
    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onclick='x", "&lt;b&gt;",
        "</title><svg onload=x>",
        "a\u{0}b\u{1B}c", "\u{202E}abc", "javascript:alert(1)", "]]>", "<!--",
    ]

    private func text(_ html: HTML) -> String { String(decoding: html.bytes, as: UTF8.self) }

    @Test("whatever is text stays text", arguments: hostile)
    func escapes(text hostile: String) {
        var html = HTML()
        html.tag("p", [.named("title", hostile), .id(hostile), .class(hostile)], text: hostile)
        html.foreign(hostile)
        html.void("input", [.named("value", hostile)])
        let written = text(html)
        // Only what the page itself wrote is markup.
        #expect(written.filter { $0 == "<" }.count == 5 && written.filter { $0 == ">" }.count == 5)
        #expect(written.filter { $0 == "\"" }.count == 8 && !written.contains("'"))
        #expect(!written.utf8.contains { $0 < 0x20 })
    }

    @Test(
        "paths begin with a segment of this server's own, whatever is in them",
        arguments: hostile + ["..", ".", "//evil.example", "a b", "ü/?#&="])
    func paths(segment: String) {
        let path = PagePath("page", "campaigns", segment).with("app", segment)
        #expect(path.text.hasPrefix("/page/campaigns/"))
        let rest = path.text.dropFirst("/page/campaigns/".count)
        #expect(!rest.contains("/") && rest.filter { $0 == "?" }.count == 1 && !rest.hasPrefix("."))
        #expect(rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "\"") })
    }

    @Test("a part is found by its id, as it stands in the page")
    func parts() {
        var asked: [String] = []
        func page(only part: String?) -> HTML {
            asked = []
            var html = HTML(only: part)
            html.tag("main") { html in
                html.part("a", on: ["campaign"]) { html in
                    asked.append("a")
                    html.text("one")
                }
                html.part("b", "section", on: ["version", "readiness"]) { html in
                    asked.append("b")
                    html.text("two")
                }
            }
            return html
        }
        let expected = "<section id=\"b\" data-live=\"version readiness\">two</section>"
        #expect(page(only: "b").part.map { String(decoding: $0, as: UTF8.self) } == expected)
        #expect(asked == ["b"], "what another part shows is not asked for")
        #expect(page(only: "c").part == nil && asked.isEmpty)
        #expect(text(page(only: nil)).contains(expected) && asked == ["a", "b"])
    }

    @Test("numbers and shares are written as people read them")
    func numbers() {
        #expect(PageLanguage.number(0) == "0" && PageLanguage.number(999) == "999")
        #expect(PageLanguage.number(1000) == "1,000" && PageLanguage.number(12_345_678) == "12,345,678")
        #expect(PageLanguage.number(-1234) == "-1,234")
    }
}
