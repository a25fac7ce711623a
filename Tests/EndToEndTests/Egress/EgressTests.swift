// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import TestPeers
import Testing
import WireFormat

/// Dials everything that a relay dials, through each kind of proxy. The proxies are real ones of Debian's, which alone can resolve
/// the names; a private authority has signed the servers' certificates. The tests go through `Destination.allCases`: a new
/// destination does not compile without a name and a stand-in here.
@Suite(.timeLimit(.minutes(60)), .serialized, .ownThread) struct EgressTests {
    private func expectAll(
        _ stand: EgressStand, by proxy: RealProxy, saying way: String, environment: [String: String] = [:]
    ) throws {
        let (result, json) = try stand.check(environment: environment)
        #expect(json["valid"]?.bool == true, "\(result)")
        let findings = json["online"]?.array ?? []
        // One finding for each part of the configuration; the tokens of FCM and Google Play belong to their parts.
        #expect(findings.count == 7)
        for finding in findings {
            #expect(finding["result"]?.string == "good", "\(finding)")
            #expect(finding["way"]?.string == way, "\(finding)")
        }
        for destination in Destination.allCases {
            for server in stand.servers(destination) {
                #expect(proxy.targets.contains(server), "\(destination) was not reached by the proxy: \(proxy.log)")
            }
        }
    }

    @Test func everythingGoesByOneProxyThatResolvesTheNames() throws {
        let stand = try EgressStand()
        let squid = try RealProxy.squid(names: EgressStand.hosts)
        try stand.configure(
            egress:
                #"{ proxy: "http://127.0.0.1:\#(squid.port)", trustedCertificates: "\#(stand.identity.authorityPath)" }"#
        )
        try expectAll(
            stand, by: squid,
            saying: "by the proxy 127.0.0.1:\(squid.port), trusting \(stand.identity.authorityPath) beside the system's"
        )
    }

    @Test func eachAddressMayHaveItsOwn() throws {
        let stand = try EgressStand()
        let squid = try RealProxy.squid(names: EgressStand.hosts)
        let nobody = try Loopback.ReservedPort()
        try stand.configure(
            egress: #"{ proxy: "http://127.0.0.1:\#(nobody.port)", noProxy: ["*"] }"#,
            own: #"proxy: "http://127.0.0.1:\#(squid.port)", trustedCertificates: "\#(stand.identity.authorityPath)","#)
        try expectAll(
            stand, by: squid, saying: "by the proxy 127.0.0.1:\(squid.port), trusting \(stand.identity.authorityPath)")
    }

    @Test func aProxyThatIsReachedByTLSIsGoneThrough() throws {
        let stand = try EgressStand()
        let front = try TestIdentity()
        let squid = try RealProxy.squid(names: EgressStand.hosts, identity: front)
        // Both authorities in one file, as a company has them.
        let both = try [front.authorityPath, stand.identity.authorityPath].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try stand.write("both.pem", Array(both.joined(separator: "\n").utf8))
        try stand.configure(
            egress: #"{ proxy: "https://localhost:\#(squid.port)", trustedCertificates: "\#(stand.path("both.pem"))" }"#
        )
        try expectAll(
            stand, by: squid,
            saying:
                "by the proxy localhost:\(squid.port) (https), trusting \(stand.path("both.pem")) beside the system's")
    }

    private static let user = "relay"
    private static let password = "S3cretW0rd"

    @Test(arguments: [
        "{ url: URL, user: \"relay\", password: { environment: \"PROXY_SECRET\" } }", "{ environment: \"PROXY_URL\" }",
    ])
    func aProxyThatWantsAUserGetsTheOneThatIsKeptElsewhere(proxy: String) throws {
        let stand = try EgressStand()
        let squid = try RealProxy.squid(names: EgressStand.hosts)
        let tiny = try RealProxy.tinyproxy(user: Self.user, password: Self.password, before: squid)
        let authority = stand.identity.authorityPath
        let url = "http://127.0.0.1:\(tiny.port)"
        try stand.configure(
            egress:
                #"{ proxy: \#(proxy.replacing("URL,", with: "\"\(url)\",")), trustedCertificates: "\#(authority)" }"#)
        try expectAll(
            stand, by: squid, saying: "by the proxy 127.0.0.1:\(tiny.port), trusting \(authority) beside the system's",
            environment: [
                "PROXY_SECRET": Self.password,
                "PROXY_URL": "http://\(Self.user):\(Self.password)@127.0.0.1:\(tiny.port)",
            ])
    }

    @Test func aWrongPasswordIsSaidToBeOneAndIsNotRepeated() throws {
        let stand = try EgressStand()
        let squid = try RealProxy.squid(names: EgressStand.hosts)
        let tiny = try RealProxy.tinyproxy(user: Self.user, password: Self.password, before: squid)
        try stand.configure(
            egress:
                #"{ proxy: { url: "http://127.0.0.1:\#(tiny.port)", user: "relay", password: { environment: "PROXY_SECRET" } } }"#
        )
        let (result, json) = try stand.check(environment: ["PROXY_SECRET": "another-word"])
        #expect(result.status == 1)
        let findings = json["online"]?.array ?? []
        #expect(findings.count == 7)
        for finding in findings {
            #expect(finding["result"]?.string == "failed")
            let answer = (finding["answer"]?.string ?? "") + " " + (finding["remedy"]?.string ?? "")
            #expect(answer.contains("does not take the user and the password of egress.proxy"), "\(answer)")
        }
        #expect(!(result.output + result.errors).contains("another-word"))
        #expect(squid.targets.isEmpty)
    }

    @Test(arguments: [true, false])
    func aSOCKSProxyResolvesTheNamesToo(wantsUser: Bool) throws {
        let stand = try EgressStand()
        let socks = try RealProxy.microsocks(
            names: EgressStand.hosts, user: wantsUser ? (Self.user, Self.password) : nil)
        let authority = stand.identity.authorityPath
        let url = "\(wantsUser ? "socks5h" : "socks5")://127.0.0.1:\(socks.port)"
        let proxy =
            wantsUser ? #"{ url: "\#(url)", user: "relay", password: { environment: "PROXY_SECRET" } }"# : #""\#(url)""#
        try stand.configure(egress: #"{ proxy: \#(proxy), trustedCertificates: "\#(authority)" }"#)
        try expectAll(
            stand, by: socks,
            saying: "by the proxy 127.0.0.1:\(socks.port) (socks5), trusting \(authority) beside the system's",
            environment: ["PROXY_SECRET": Self.password])
    }

    @Test(arguments: [nil, "another-word"])
    func aSOCKSProxyThatRefusesTheUserIsSaidTo(password: String?) throws {
        let stand = try EgressStand()
        let socks = try RealProxy.microsocks(names: EgressStand.hosts, user: (Self.user, Self.password))
        let url = "socks5h://127.0.0.1:\(socks.port)"
        let named = #"{ url: "\#(url)", user: "relay", password: { environment: "PROXY_SECRET" } }"#
        try stand.configure(egress: "{ proxy: \(password == nil ? "\"\(url)\"" : named) }")
        let (result, json) = try stand.check(environment: ["PROXY_SECRET": password ?? ""])
        #expect(result.status == 1)
        let findings = json["online"]?.array ?? []
        #expect(findings.count == 7)
        for finding in findings {
            #expect(finding["result"]?.string == "failed")
            let answer = (finding["answer"]?.string ?? "") + " " + (finding["remedy"]?.string ?? "")
            let reason =
                password == nil ? "it wants a user and a password" : "it does not take the user and the password"
            #expect(answer.contains(reason), "\(answer)")
        }
        #expect(!(result.output + result.errors).contains("another-word"))
        #expect(socks.targets.isEmpty)
    }

    /// Only `egress` changes in the file: each part takes its way out from that object, not from its own.
    @Test func aReloadOfTheWayOutAloneHoldsForEverythingFromThenOn() throws {
        let stand = try EgressStand()
        // Not squid: it logs a connection when it ends, and the relay keeps some open.
        let first = try RealProxy.microsocks(names: EgressStand.hosts)
        let second = try RealProxy.microsocks(names: EgressStand.hosts)
        func configure(_ url: String) throws {
            try stand.configure(
                egress: #"{ proxy: "\#(url)", trustedCertificates: "\#(stand.identity.authorityPath)" }"#)
        }
        try configure("socks5h://127.0.0.1:\(first.port)")
        let relay = try RelayProcess(configuration: stand.path("config.json5"))
        defer { relay.kill() }
        func ask(_ method: String, _ path: String, _ body: String) throws -> Int {
            var request = HTTPRequest(method, "http://relay/v1/apps/\(Workbench.app)/\(path)")
            request.body = Array(body.utf8)
            return try HTTPClient(unixSocket: stand.path("control.sock")).send(request).status
        }
        func pushesAndEvents(_ version: String) throws {
            for (platform, token) in [("ios", String(repeating: "ab", count: 32)), ("android", "not-hex-\(version)")] {
                let url = platform == "ios" ? "https://apps.apple.com/app/id1" : "https://play.google.com/store/apps"
                let bump = #"{"required":"\#(version)","downloadUrl":"\#(url)"}"#
                #expect(try ask("PUT", "\(platform)/version", bump) == 202)
                #expect(try ask("POST", "\(platform)/test-push", #"{"token":"\#(token)"}"#) == 200)
            }
        }
        func everythingGoes(by proxy: RealProxy, but others: [Destination] = []) throws {
            let servers = Set(Destination.allCases.filter { !others.contains($0) }.flatMap(stand.servers))
            let deadline = ContinuousClock.now + .seconds(60) * Patience.factor
            while !servers.isSubset(of: proxy.targets) {
                try #require(
                    ContinuousClock.now < deadline,
                    "not by the proxy: \(servers.subtracting(proxy.targets).sorted())\n\(relay.log)")
                relay.waitForNextLine(atMost: .milliseconds(100))
            }
        }
        try pushesAndEvents("2.2.0")
        try everythingGoes(by: first)
        #expect(second.targets.isEmpty)
        try configure("socks5h://127.0.0.1:\(second.port)")
        relay.send(SIGHUP)
        _ = try #require(relay.waitForLine("reloaded", within: .seconds(60)), "\(relay.log)")
        try pushesAndEvents("2.3.0")
        // A valid access token is not requested again.
        try everythingGoes(by: second, but: [.googleTokens])
    }

    @Test func whatTheEnvironmentNamesIsNotUsedAndIsNamed() throws {
        let stand = try EgressStand()
        let squid = try RealProxy.squid(names: EgressStand.hosts)
        try stand.configure(
            egress:
                #"{ proxy: "http://127.0.0.1:\#(squid.port)", trustedCertificates: "\#(stand.identity.authorityPath)" }"#
        )
        let nobody = try Loopback.ReservedPort()
        let environment = [
            "HTTPS_PROXY": "http://secret:word@127.0.0.1:\(nobody.port)", "no_proxy": "*", "SSL_CERT_FILE": "/dev/null",
        ]
        let (result, json) = try stand.check(environment: environment)
        #expect(result.status == 0)
        let warnings = (json["warnings"]?.array ?? []).map {
            "\($0["field"]?.string ?? ""): \($0["reason"]?.string ?? "")"
        }
        for (name, key) in [
            ("HTTPS_PROXY", "proxy"), ("no_proxy", "noProxy"), ("SSL_CERT_FILE", "trustedCertificates"),
        ] {
            #expect(
                warnings.contains { $0.hasPrefix("egress.\(key): the environment's \(name) is set") }, "\(warnings)")
        }
        #expect(!result.output.contains("secret"))
        #expect(Set(EgressStand.hosts).isSubset(of: squid.targets.map { String($0.prefix { $0 != ":" }) }))
    }
}
