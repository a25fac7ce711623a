// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

@testable import RelayAPI
@testable import StatusPage

@Suite("Lists, paths and moments of the page") struct ListTests {
    @Test(
        arguments: [
            (0, nil, 1, 0, 0), (20, nil, 1, 1, 20), (21, 2, 2, 21, 1), (45, 3, 3, 41, 5), (45, 9, 3, 41, 5),
            (45, -1, 1, 1, 20),
        ] as [(Int, Int?, Int, Int, Int)])
    func slices(count: Int, page: Int?, number: Int, first: Int, shown: Int) {
        let slice = ListSlice(Array(0..<count), page: page)
        #expect(slice.number == number && slice.first == first && slice.items.count == shown && slice.total == count)
        #expect(slice.items.first.map { $0 + 1 } ?? 0 == first)
    }

    @Test func `A view is one of this server's`() {
        for text in ["/", "/page/audit", "/page/audit?app=a%20b&state=x", "/page/apps/com.example.app/ios/raise"] {
            #expect(PagePath(view: text)?.text == text)
        }
        for text in [
            "", "//x", "/page", "/page/enter/x", "/page/session/end", "/page/zone?zone=UTC", "/page/../x", "/v1/apps",
            "https://x/page/audit", "/page/a\\b", "/page/a\"b", "/page/a b", "/page/\u{e9}", "/page/a#b",
            "/page/\(String(repeating: "a", count: 2048))",
        ] {
            #expect(PagePath(view: text) == nil, "\(text.prefix(40))")
        }
        #expect(PagePath(view: "/page/audit?app=x")?.with("zone", "y").text == "/page/audit?app=x&zone=y")
    }

    @Test func `A moment that is typed without a zone is one of the page's zone`() throws {
        func body(_ form: String) throws -> String {
            let key = AppKey(app: "com.example.app", platform: .ios)
            let raise = RaiseForm(fields: try FormFields(Array(form.utf8)), key: key)
            return String(decoding: raise.body(of: key), as: UTF8.self)
        }
        let typed = "requiredFrom=2026-12-01+09%3A00"
        #expect(try body("\(typed)&zone=Asia%2FShanghai").contains("\"2026-12-01T01:00:00.000Z\""))
        #expect(try body("\(typed)&zone=UTC").contains("\"2026-12-01T09:00:00.000Z\""))
        #expect(try body("\(typed)+Europe%2FBerlin&zone=UTC").contains("\"2026-12-01T08:00:00.000Z\""))
        #expect(try body("requiredFrom=2026-12-01T09%3A00&zone=UTC").contains("\"2026-12-01T09:00:00.000Z\""))
        #expect(try body("\(typed)&zone=Nowhere").contains("\"2026-12-01 09:00\""), "for the API to refuse")
        #expect(try body("requiredFrom=tomorrow&zone=UTC").contains("\"tomorrow\""))
    }

    @Test func `A sentence has its moments in the zone, and its commands as code`() throws {
        var html = HTML()
        html.zone = try #require(PageZone(named: "Asia/Shanghai"))
        html.sentence("next at 2026-01-31T09:05:07.250Z; run `upgrade-relay nodes` <b>")
        #expect(
            String(decoding: html.bytes, as: UTF8.self)
                == "next at <time datetime=\"2026-01-31T09:05:07.250Z\">2026-01-31 17:05:07 Asia/Shanghai</time>; run "
                + "<code>upgrade-relay nodes</code> &lt;b&gt;")
    }
}
