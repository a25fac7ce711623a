// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPServer
@testable import RelayAPI

/// The proxies are at 10.0.0.0/8 and 2001:db8:1::/48.
@Suite("The client's address behind trusted proxies")
struct ForwardedAddressTests {
    private static func client(
        _ kind: ForwardedAddress, _ list: String?, of peer: String = "10.0.0.1"
    ) throws -> String {
        let proxies = try [PeerNetwork("10.0.0.0/8"), PeerNetwork("2001:db8:1::/48")]
        return kind.client(of: try #require(PeerAddress(peer)), list) { peer in proxies.contains { $0.contains(peer) } }
            .description
    }

    @Test(
        "X-Forwarded-For counts from the right, across trusted proxies alone",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("192.0.2.7, 10.0.0.2", "192.0.2.7"),
            ("192.0.2.7,10.0.0.3,10.0.0.2", "192.0.2.7"),
            // A client's own members are on the left.
            ("6.6.6.6, 192.0.2.7", "192.0.2.7"), ("10.0.0.9, 6.6.6.6, 192.0.2.7, 10.0.0.2", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7"), ("[2001:db8::7]:4711", "2001:db8:0:0:0:0:0:7"),
            ("2001:db8::7", "2001:db8:0:0:0:0:0:7"), ("[2001:db8::7]", "2001:db8:0:0:0:0:0:7"),
            ("::ffff:192.0.2.7", "192.0.2.7"), (" 192.0.2.7 ,, ", "192.0.2.7"),
            // A trusted client of a trusted proxy.
            ("10.0.0.2", "10.0.0.2"),
            // All else is no address: the last proxy's own is the one that is certain.
            ("unknown", "10.0.0.1"), ("192.0.2.7, unknown", "10.0.0.1"), ("192.0.2.7, unix:", "10.0.0.1"),
            ("192.0.2.7, 10.0.0.2, _hidden", "10.0.0.1"), ("", "10.0.0.1"), (",", "10.0.0.1"),
            ("192.0.2.7:port", "10.0.0.1"), ("192.0.2.7:", "10.0.0.1"), ("[2001:db8::7", "10.0.0.1"),
            ("192.0.2.7 10.0.0.2", "10.0.0.1"), ("::", "10.0.0.1"), ("for=192.0.2.7", "10.0.0.1"),
        ])
    func forwardedFor(list: String, client: String) throws {
        #expect(try Self.client(.forwardedFor, list) == client)
        #expect(try Self.client(.forwardedFor, list, of: "198.51.100.1") == "198.51.100.1", "no proxy of ours")
    }

    @Test(
        "Forwarded likewise, with its quotes, brackets and hidden nodes",
        arguments: [
            ("for=192.0.2.7", "192.0.2.7"), ("For=\"192.0.2.7:4711\";proto=https", "192.0.2.7"),
            ("by=10.0.0.1; for=192.0.2.7 ;host=a", "192.0.2.7"),
            ("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe:0:0:0:0:17"),
            ("for=\"[2001:db8::7]\", for=10.0.0.2", "2001:db8:0:0:0:0:0:7"),
            ("for=192.0.2.7, for=\"[2001:db8:1::2]\"", "192.0.2.7"),
            ("for=6.6.6.6, for=192.0.2.7", "192.0.2.7"),
            // A host that a client chose, in quotes that the proxy set.
            ("for=192.0.2.7;host=\"x, for=6.6.6.6;a=\"", "192.0.2.7"),
            ("for=192.0.2.7;host=\"x\\\", for=6.6.6.6;a=\\\"\"", "192.0.2.7"),
            // A client's quote that never ends.
            ("\", for=192.0.2.7", "192.0.2.7"), ("for=\"6.6.6.6, for=192.0.2.7;proto=http", "192.0.2.7"),
            ("for=_hidden", "10.0.0.1"), ("for=unknown", "10.0.0.1"), ("for=6.6.6.6, for=\"_SEVKISEK\"", "10.0.0.1"),
            ("for=192.0.2.7;for=6.6.6.6", "10.0.0.1"), ("proto=https", "10.0.0.1"), ("192.0.2.7", "10.0.0.1"),
            ("for=\"192.0.2.7", "10.0.0.1"), ("for=", "10.0.0.1"), ("for=\"\"", "10.0.0.1"),
        ])
    func forwarded(list: String, client: String) throws {
        #expect(try Self.client(.forwarded, list) == client)
    }

    @Test("as many proxies as are read")
    func bound() throws {
        func list(_ proxies: Int) -> String {
            (["192.0.2.7"] + Array(repeating: "10.0.0.2", count: proxies)).joined(separator: ", ")
        }
        #expect(try Self.client(.forwardedFor, list(15)) == "192.0.2.7")
        #expect(try Self.client(.forwardedFor, list(16)) == "10.0.0.2")
        #expect(try Self.client(.forwardedFor, nil) == "10.0.0.1")
    }
}
