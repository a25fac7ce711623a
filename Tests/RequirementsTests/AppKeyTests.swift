// SPDX-License-Identifier: Apache-2.0
import Requirements
import Testing
import UpgradeRules

@Suite("An app is its name's bytes")
struct AppKeyTests {
    /// U+212A KELVIN SIGN is canonically a K: to `String` both are equal, and a client that asks for the one would get past the
    /// check for the other and fill the store with an app that is not configured.
    @Test("Another spelling of a name is another app")
    func spelling() {
        let app = AppKey(app: "com.example.Kite", platform: .ios)
        let other = AppKey(app: "com.example.\u{212A}ite", platform: .ios)
        #expect(app.app == other.app && app != other)
        #expect([app: 1][other] == nil)
        #expect(AppKey(app: "e\u{301}", platform: .ios) != AppKey(app: "\u{E9}", platform: .ios))
        #expect(app == AppKey(app: "com.example.Kite", platform: .ios))
        #expect(app != AppKey(app: "com.example.Kite", platform: .android))
    }

    @Test("Apps stand in one order, by their names' bytes and then by platform")
    func order() {
        let keys = [
            AppKey(app: "a", platform: .android), AppKey(app: "a", platform: .ios), AppKey(app: "ab", platform: .ios),
            AppKey(app: "e\u{301}", platform: .ios), AppKey(app: "\u{E9}", platform: .ios),
        ]
        #expect(keys.shuffled().sorted() == keys)
        for (place, key) in keys.enumerated() {
            #expect(keys.map { $0 < key } == keys.indices.map { $0 < place })
        }
    }
}
