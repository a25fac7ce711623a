// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import TestPeers
import Testing

/// The ways to a server, and those that are refused for good reasons.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneReachTests {
    private static let tls11 = 0x0302
    private static let tls12 = 0x0303

    /// Sends one request to a peer, and returns the pool's condition and the number of requests.
    private func condition(
        _ manner: PeerManner = PeerManner(), identity: TestIdentity? = nil, host: String = "localhost",
        configure: (inout PoolConfiguration) -> Void = { _ in }
    ) throws -> (condition: PoolCondition?, requests: Int) {
        let bench = try Workbench(
            identity: identity, manner: manner, host: host, configure: configure, script: { _ in [.answer(200)] })
        defer { bench.finish() }
        bench.send(1)
        #expect(bench.collector.state.wait { !$0.conditions.isEmpty })
        guard bench.collector.state.now.conditions.first == .connected else {
            return (bench.collector.state.now.conditions.first, bench.peer.state.now.requests.count)
        }
        #expect(try bench.collector.batches()[0].count(of: 200) == 1)
        return (.connected, bench.peer.state.now.requests.count)
    }

    private func expectRefusal(
        _ words: [String], _ manner: PeerManner = PeerManner(), identity: TestIdentity? = nil,
        host: String = "localhost", configure: (inout PoolConfiguration) -> Void = { _ in }
    ) throws {
        let (condition, requests) = try condition(manner, identity: identity, host: host, configure: configure)
        guard case .failing(let error, 1)? = condition else {
            Issue.record("\(String(describing: condition))")
            return
        }
        for word in words { #expect(error.contains(word), "\(error)") }
        #expect(requests == 0, "nothing is sent to a stranger")
    }

    // MARK: TLS

    @Test func tls12AloneWorks() throws {
        var manner = PeerManner()
        manner.tlsVersion = Self.tls12
        #expect(try condition(manner).condition == .connected)
    }

    @Test func tls11IsRefused() throws {
        // RFC 9113, 9.2: "Implementations of HTTP/2 MUST use TLS version 1.2 [...] or higher".
        var manner = PeerManner()
        manner.tlsVersion = Self.tls11
        try expectRefusal(["version"], manner)
    }

    @Test func aCertificateThatSignedItselfIsRefused() throws {
        let identity = try TestIdentity.selfSigned()
        try expectRefusal(["certificate"], identity: identity) { $0.dialer.egress.trustedCertificates = nil }
        let stranger = try TestIdentity()
        try expectRefusal(["certificate"], identity: identity) {
            $0.dialer.egress.trustedCertificates = stranger.authorityPath
        }
        // Trusted on purpose, it works: that is how a server of one's own is named in `trustedCertificates`.
        let trusted = try condition(identity: identity) { $0.dialer.egress.trustedCertificates = identity.chainPath }
        #expect(trusted.condition == .connected)
    }

    @Test func anAddressThatTheCertificateDoesNotNameIsRefused() throws {
        try expectRefusal(["127.0.0.1"], identity: TestIdentity(addresses: ["::1"]), host: "127.0.0.1")
    }

    // MARK: Addresses

    @Test(arguments: ["::1", "127.0.0.1"])
    func bothKindsOfAddressesWork(address: String) throws {
        var manner = PeerManner()
        manner.address = address
        let byAddress = try condition(manner, host: address).condition
        #expect(byAddress == .connected)
        // By name, whichever of the two answers. Nothing listens at the other address, not even another test's peer.
        let other = try Loopback.ReservedPort(address == "::1" ? "127.0.0.1" : "::1")
        manner.port = other.port
        let byName = try condition(manner).condition
        #expect(byName == .connected)
    }

    @Test func aNameThatDoesNotResolveSaysSo() throws {
        // RFC 6761, 6.4: "Name resolution APIs and libraries SHOULD recognize "invalid" names as special".
        try expectRefusal(["push.relay.invalid", "check the name and the resolver"], host: "push.relay.invalid")
    }

    // MARK: Proxies

    private static func server(_ port: UInt16) -> ProxyServer? {
        try? ProxyServer("http://127.0.0.1:\(port)", key: "egress.proxy")
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func aProxyIsGoneThrough(address: String) throws {
        let proxy = try ConnectProxy()
        defer { proxy.stop() }
        var manner = PeerManner()
        manner.address = address
        let (condition, requests) = try condition(manner, host: address) {
            $0.dialer.egress.proxy = Self.server(proxy.port)
        }
        #expect(condition == .connected && requests == 1)
        let lines = proxy.state.now.requests
        #expect(lines.count == 1)
        let host = address == "::1" ? "[::1]" : address
        #expect(lines.first?.hasPrefix("CONNECT \(host):") == true && lines.first?.hasSuffix("HTTP/1.1") == true)
    }

    @Test func aProxyResolvesTheName() throws {
        // Only the proxy has a resolver.
        let proxy = try ConnectProxy()
        defer { proxy.stop() }
        try expectRefusal(["502"], host: "push.relay.invalid") { $0.dialer.egress.proxy = Self.server(proxy.port) }
        #expect(proxy.state.now.requests.first?.contains("push.relay.invalid:") == true)
    }

    @Test func aProxyThatRefusesIsNamed() throws {
        let proxy = try ConnectProxy(refusal: "407 Proxy Authentication Required")
        defer { proxy.stop() }
        try expectRefusal(["407"]) { $0.dialer.egress.proxy = Self.server(proxy.port) }
    }

    @Test func aProxyThatIsNotThereIsNamed() throws {
        let nobody = try Loopback.ReservedPort()
        try expectRefusal(["127.0.0.1", "\(nobody.port)"]) { $0.dialer.egress.proxy = Self.server(nobody.port) }
    }
}
