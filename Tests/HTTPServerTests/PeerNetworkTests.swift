// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPServer

@Suite struct PeerNetworkTests {
    private static func peer(_ text: String) throws -> PeerAddress { try #require(PeerAddress(text), "\(text)") }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("10.0.0.0/8", "10.255.0.9", true),
        ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.0/25", "192.0.2.127", true),
        ("192.0.2.0/25", "192.0.2.128", false), ("192.0.2.7/32", "192.0.2.7", true),
        // A socket for both families reports an IPv4 client as a mapped address.
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
        ("::ffff:192.0.2.7", "192.0.2.7", true),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::1", "::1", true),
        ("2001:db8::7/128", "2001:db8::8", false), ("2001:db8:0:0:8000::/65", "2001:db8:0:0:8000::1", true),
        ("2001:db8:0:0:8000::/65", "2001:db8::1", false), ("fc00::/7", "fd12::1", true),
        // No network of one family has addresses of the other.
        ("fc00::/7", "192.0.2.7", false),
    ])
    func `A network holds its own addresses alone`(network: String, address: String, isIn: Bool) throws {
        #expect(try PeerNetwork(network).contains(Self.peer(address)) == isIn)
        #expect(try !PeerNetwork(network).contains(.none), "the control socket")
    }

    @Test(arguments: [
        ("localhost", "is not an address"), ("", "is not an address"), ("10.0.0", "is not an address"),
        ("127.1", "is not an address"), ("010.0.0.1", "is not an address"), ("::", "is not an address"),
        ("10.0.0.1:80", "is not an address"), ("[::1]", "is not an address"), ("fe80::1%eth0", "is not an address"),
        ("10.0.0.0/", "is not a network"),
        ("10.0.0.0/33", "is not a network; after \"/\" comes a number of bits from 0 to 32"),
        ("2001:db8::/129", "bits from 0 to 128"), ("10.0.0.0/+8", "is not a network"),
        ("10.0.0.0/8/8", "is not a network"),
        ("0.0.0.0/0", "trusts far too many addresses"), ("128.0.0.0/1", "trusts far too many addresses"),
        ("::ffff:0.0.0.0/96", "trusts far too many addresses"), ("::ffff:10.0.0.0/64", "trusts far too many addresses"),
        ("2000::/3", "trusts far too many addresses"),
        ("10.0.0.5/8", "\"10.0.0.5\" for that address alone, or \"10.0.0.0/8\" for the network"),
        ("10.0.0.1\0.5", "is not an address"),
    ])
    func `A text that names no network, or too large a one, is refused with the reason`(text: String, reason: String) {
        #expect(throws: PeerNetwork.Fault.self) { try PeerNetwork(text) }
        do { _ = try PeerNetwork(text) } catch { #expect(error.description.contains(reason), "\(error)") }
    }
}
