// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Testing

@Suite struct ProxyServerTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("HTTP://10.0.0.1:3128/", "10.0.0.1:3128"),
        ("https://[2001:db8::1]:3129", "[2001:db8::1]:3129 (https)"), ("socks5h://p:1", "p:1 (socks5)"),
        ("socks5://127.0.0.1", "127.0.0.1:1080 (socks5)"), ("http://my_proxy.:8080", "my_proxy.:8080"),
        ("http://relay:S3cret@p:1", "p:1"),
    ])
    func anAddressIsReadAndShownWithoutItsUser(text: String, shown: String) throws {
        #expect(try "\(ProxyServer(text, key: "egress.proxy"))" == shown)
    }

    @Test func aUserAndAPasswordAreDecodedOnce() throws {
        let server = try ProxyServer("http://r%40x:S3%3Acr%2Fet%40%23%25:q@p:1", key: "k")
        #expect(server.user == "r@x" && server.password == "S3:cr/et@#%:q")
        #expect(try ProxyServer("http://relay@p:1", key: "k").password == nil)
        var dumped = ""
        dump(server, to: &dumped)
        for text in [dumped, "\(server)", String(reflecting: server)] {
            #expect(!text.contains("S3") && !text.contains("r@x"))
        }
    }

    /// Every way in which a secret makes an address that cannot be read. libcurl repeats each of them whole.
    @Test(arguments: [
        "http://relay:S3cretW@rd@127.0.0.1:3128", "http://relay:S3cretW#rd@127.0.0.1:3128",
        "http://relay:S3cretW/rd@127.0.0.1:3128", "http://relay:S3cretW?rd@127.0.0.1:3128",
        "http://relay:S3cretW rd@127.0.0.1:3128", "socks5h://relay:S3cretW@rd@127.0.0.1:1080",
        "http://relay:S3cretW\\rd@127.0.0.1:3128", "http://relay:S3cretW%rd@127.0.0.1:3128",
        "http://relay:S3cretW%zz@127.0.0.1:3128", "http://relay:S3cretW%@127.0.0.1:3128",
        "http://relay:S3cretW%00@127.0.0.1:3128", "http://relay:S3cretW%0a@127.0.0.1:3128",
        "http://relay:S3cretW%ff@127.0.0.1:3128", "http://relay:S3cretWé@127.0.0.1:3128",
        "http://relay:S3cretW\u{200B}@127.0.0.1:3128", "http://relay:S3cretW\n@127.0.0.1:3128",
        "http://relay:S3cretW[x]@127.0.0.1:3128", "http://relay:S3cretW\"@127.0.0.1:3128",
        "http://:S3cretW@127.0.0.1:3128", "http://re%3Alay:S3cretW@127.0.0.1:3128",
        "relay:S3cretW@127.0.0.1:3128", "ftp://relay:S3cretW@127.0.0.1:21", "S3cretW://relay@h:1", "://S3cretW@h:1",
        "http://relay:S3cretW", "http://relay:S3cretW@", "http://relay:S3cretW@:3128", "http://relay:S3cretW@h",
        "http://relay:S3cretW@h:", "http://relay:S3cretW@h:0", "http://relay:S3cretW@h:65536",
        "http://relay:S3cretW@h:+80", "http://relay:S3cretW@h:80:80", "http://relay:S3cretW@h:80/S3cretW",
        "http://relay:S3cretW@h:80?x", "http://relay:S3cretW@h:80#x", "http://relay:S3cretW@::1:3128",
        "http://relay:S3cretW@[::1:3128", "http://relay:S3cretW@[::1]3128",
        "http://relay:S3cretW@[fe80::1%25eth0]:3128",
        "http://relay:S3cretW@[127.0.0.1]:80", "http://relay:S3cretW@1.2.3:80", "http://relay:S3cretW@a..b:80",
        "http://relay:S3cretW@-%41:80", "http:/relay:S3cretW@h:80", "http:relay:S3cretW@h:80", " http://h:80",
        "http://relay:\(String(repeating: "S3cretW", count: 40))@h:80", "", "http://",
    ])
    func whatCannotBeReadIsRefusedWithoutBeingRepeated(text: String) {
        do {
            let server = try ProxyServer(text, key: "egress.proxy")
            Issue.record("\(server) was taken")
        } catch {
            #expect(!"\(error)".contains("S3cret") && !"\(error)".contains("rd@") && !"\(error)".isEmpty)
        }
    }

    @Test func userAndPasswordFromElsewhereAreRefusedWithoutBeingRepeated() throws {
        let server = try ProxyServer("http://p:1", key: "k")
        for (user, password) in [
            ("", "p"), ("a:b", "p"), ("a\nb", "p"), ("a", "p\r"), ("a", String(repeating: "p", count: 256)),
        ] {
            #expect(throws: ProxyServer.Fault.self) { try server.with(user: user, password: password) }
        }
        #expect(try server.with(user: "a", password: "@#/ %é").password == "@#/ %é")
    }

    @Test func theSameWayIsTheSameWhicheverKeyNamesIt() throws {
        let (one, other) = (try ProxyServer("http://p:1", key: "a"), try ProxyServer("http://p:1", key: "b"))
        #expect(one == other && Set([one, other]).count == 1)
        #expect(try one != ProxyServer("http://u@p:1", key: "a"))
    }

    // MARK: Exceptions

    @Test(arguments: [
        ("example.com", "example.com", 443, true), ("example.com", "EXAMPLE.com.", 443, true),
        ("example.com", "a.b.example.com", 443, true), ("example.com", "badexample.com", 443, false),
        (".example.com", "example.com", 443, false), (".example.com", "a.example.com", 443, true),
        ("*.example.com", "a.example.com", 443, true), ("example.com:8443", "example.com", 443, false),
        ("example.com:8443", "example.com", 8443, true), ("*", "anything", 1, true), ("*:80", "x", 443, false),
        ("10.0.0.0/8", "10.1.2.3", 443, true), ("10.0.0.0/8", "11.1.2.3", 443, false),
        ("10.0.0.0/8", "10.example.com", 443, false), ("10.0.0.0/8:443", "10.1.2.3", 443, true),
        ("10.0.0.0/8", "::ffff:10.1.2.3", 443, true), ("192.168.1.128/25", "192.168.1.127", 1, false),
        ("192.168.1.128/25", "192.168.1.200", 1, true), ("10.0.0.1", "10.0.0.1", 1, true),
        ("2001:db8::/32", "2001:db8:1::2", 443, true), ("[2001:db8::]/32", "2001:db9::", 443, false),
        ("[::1]:443", "::1", 443, true), ("[::1]:443", "::1", 80, false), ("::1", "0:0:0:0:0:0:0:1", 80, true),
        ("0.0.0.0/0", "1.2.3.4", 443, true), ("0.0.0.0/0", "example.com", 443, false),
    ])
    func anExceptionCoversWhatItSays(text: String, host: String, port: UInt16, isCovered: Bool) throws {
        let exception = try #require(ProxyException(text))
        #expect(exception.covers(host, port: port) == isCovered)
    }

    @Test(arguments: [
        "", "http://example.com", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0/8", "exa mple.com", "example.com:",
        "example.com:0", "example.com:70000", "*x", "**", "a..b", "[::1", "user@h", "1.2.3", "::1/129",
    ])
    func anythingElseIsNone(text: String) { #expect(ProxyException(text) == nil) }

    @Test func thisMachineIsReachedWithoutTheProxyOfAll() throws {
        var egress = Egress(proxy: try ProxyServer("http://p:1", key: "egress.proxy"))
        egress.exceptions = ProxyException.loopback
        for host in ["localhost", "relay.localhost", "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"] {
            #expect(egress.proxy(to: host, port: 443) == nil, "\(host)")
            #expect(egress.way(to: host, port: 443) == "directly")
        }
        #expect(egress.way(to: "https://example.com/a?b") == "by the proxy p:1")
        #expect(egress.way(to: "https://localhost.example.com") == "by the proxy p:1")
        #expect(egress.way(to: "http://[::1]:9/") == "directly")
    }
}
