// SPDX-License-Identifier: Apache-2.0
import Requirements
import Testing
import WireFormat

@Suite("Download URLs as phones read them") struct DownloadURLTests {
    private static let schemes = ["itms-apps", "itms-services", "market", "x"]

    @Test(
        "What is pushed is visible ASCII, as RFC 3986 writes it",
        arguments: [
            (
                "https://apps.apple.com/cn/app/微信/id414478124",
                "https://apps.apple.com/cn/app/%E5%BE%AE%E4%BF%A1/id414478124"
            ),
            ("https://example.com/a?q=é#ü", "https://example.com/a?q=%C3%A9#%C3%BC"),
            ("https://example.com/%E5%BE%AE", "https://example.com/%E5%BE%AE"),
            ("https://example.com/a%20b?x=1&y=(2)#z", "https://example.com/a%20b?x=1&y=(2)#z"),
            ("https://example.com:8443/", "https://example.com:8443/"),
            ("https://[2001:db8::1]:443/a", "https://[2001:db8::1]:443/a"),
            ("https://example.com./a", "https://example.com./a"), ("HTTPS://Example.COM/A", "HTTPS://Example.COM/A"),
            ("itms-apps://apps.apple.com/cn/app/微信/id1", "itms-apps://apps.apple.com/cn/app/%E5%BE%AE%E4%BF%A1/id1"),
            (
                "itms-services://?action=download-manifest&url=https://example.com/m.plist",
                "itms-services://?action=download-manifest&url=https://example.com/m.plist"
            ),
            ("market://details?id=com.example.app", "market://details?id=com.example.app"), ("x:\u{338}", "x:%CC%B8"),
        ])
    func sent(text: String, sent: String) throws {
        #expect(try DownloadURL.judged(text, schemes: Self.schemes).get() == sent)
        #expect(DownloadURL.sent(text) == sent && DownloadURL.sent(sent) == sent, "said twice it is the same")
        #expect(sent.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }

    @Test(
        "What has no one reading is refused with what to send",
        arguments: [
            ("https://例子.cn/app", "send \"xn--fsqu00a.cn\""),
            ("https://bücher.example:8443/", "send \"xn--bcher-kva.example\""),
            ("https://例子。中国/", "xn--fsqu00a.xn--fiqs8s"), ("market://例/a", "must be in ASCII"),
            ("https://example.com/a\"b", "send %22"), ("https://example.com/a|b", "send %7C"),
            ("https://example.com/<b>", "send %3C"), ("https://example.com/a\\b", "send %5C"),
            ("https://example.com/{id}", "send %7B"), ("https://example.com/a[1]", "send %5B"),
            ("https://example.com/a^b`c", "send %5E"), ("https://example.com/%zz", "send %25"),
            ("https://example.com/100%", "send %25"), ("https://example.com/%2", "send %25"),
            ("https://example.com/a#b#c", "send %23"), ("https://example.com:99999/", "1 to 65535"),
            ("https://example.com:0/", "1 to 65535"), ("https://example.com:/", "1 to 65535"),
            ("https://example.com:+80/", "1 to 65535"), ("https://example.com:8a/", "1 to 65535"),
            ("https://exa|mple.com/", "which no host has"), ("https://a..b/", "no name of the DNS"),
            ("https://exam%70le.com/", "no name of the DNS"), ("https://[::g]/", "no IPv6 address"),
            ("https://a]b/", "bracket"), ("https://example.com/a\u{200B}b", "U+200B"),
            ("https://example.com/\u{202E}b", "U+202E"),
            ("https://example.com/\u{1B}[31m", "U+001B"), ("https://example.com/\u{FEFF}", "U+FEFF"),
            ("https://example.com/\u{AD}", "U+00AD"), ("https://example.com/\u{2060}", "U+2060"),
            ("https://example.com/\u{3164}", "U+3164"), ("https://example.com/a\u{A0}b", "without spaces"),
            ("https://example.com/a\u{3000}b", "without spaces"), ("https://example.com/a\u{2028}b", "U+2028"),
            ("javascript:alert(1)", "scheme must be"), ("https:///a", "names no host"), ("https:a", "names no host"),
            ("https://:443/", "names no host"),
        ])
    func refused(text: String, words: String) {
        let fault = DownloadURL.fault(in: text, schemes: Self.schemes)
        #expect(fault?.contains(words) == true, "\(text): \(fault ?? "taken")")
        #expect(DownloadURL.fault(in: text, schemes: nil) != nil, "nobody needs a configuration for that")
    }

    @Test("What is to be sent in the place of another script's host is taken")
    func advice() throws {
        let fault = try #require(DownloadURL.fault(in: "https://例子.cn/app"))
        let name = try #require(fault.firstMatch(of: /send "([^"]+)"/)?.output.1)
        #expect(DownloadURL.fault(in: "https://\(name)/app") == nil)
    }

    @Test("The length is that of what is sent")
    func length() {
        let start = "https://example.com/"
        func url(_ part: String, _ count: Int) -> String { start + String(repeating: part, count: count) }
        #expect(DownloadURL.fault(in: url("a", 2048 - start.count)) == nil)
        #expect(DownloadURL.fault(in: url("a", 2049 - start.count)) != nil)
        #expect(DownloadURL.fault(in: url("ü", 338)) == nil && DownloadURL.fault(in: url("ü", 339)) != nil)
    }

    @Test(
        "Names of the DNS in other scripts (RFC 3492, section 7.1, and registries)",
        arguments: [
            ("bücher", "xn--bcher-kva"), ("例子", "xn--fsqu00a"), ("测试", "xn--0zwm56d"), ("пример", "xn--e1afmkfd"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"), ("münchen", "xn--mnchen-3ya"), ("plain", "plain"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
        ])
    func punycode(text: String, written: String) {
        #expect(Punycode.label(text) == written)
    }
}
