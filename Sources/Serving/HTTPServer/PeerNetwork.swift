// SPDX-License-Identifier: Apache-2.0

/// One address, or a network of them: "10.0.0.5", "10.0.0.0/8", "2001:db8::7", "2001:db8::/32".
///
/// An IPv4 network also holds the mapped form of its addresses ("::ffff:10.0.0.5"): a socket for both families reports them so.
/// An IPv6 network holds no IPv4 address.
package struct PeerNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The reason why a text names no network that may be trusted; follows the text in a message.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The fewest bits of a network: 10.0.0.0/8, and fc00::/7 (RFC 4193), are the largest private ones.
    private static let fewestBits = (ipv4: 8, ipv6: 7)

    private let address: PeerAddress
    /// The length of its prefix in the IPv6 form.
    private let bits: Int

    package init(_ text: String) throws(Fault) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = PeerAddress(first) else {
            throw Fault(
                description:
                    "is not an address; an IP address such as \"127.0.0.1\", or a network such as \"10.0.0.0/8\"")
        }
        guard parts.count == 2 else {
            (self.address, bits) = (address, 128)
            return
        }
        let isShort = address.isIPv4 && !first.contains(":")
        let most = isShort ? 32 : 128
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), parts[1].utf8.count <= 3,
            let length = Int(parts[1]), length <= most
        else {
            throw Fault(description: "is not a network; after \"/\" comes a number of bits from 0 to \(most)")
        }
        let bits = isShort ? 96 + length : length
        // Behind a mapped address, fewer than 96 bits would cut its own prefix.
        let isTooWide =
            address.isIPv4 ? bits < 96 + Self.fewestBits.ipv4 : bits < Self.fewestBits.ipv6
        if isTooWide {
            throw Fault(
                description: "trusts far too many addresses; at least /8 of IPv4 or /7 of IPv6, such as \"10.0.0.0/8\"")
        }
        guard address.prefix(bits) == address else {
            throw Fault(
                description:
                    "is an address within a network; \"\(first)\" for that address alone, or "
                    + "\"\(address.prefix(bits).description)/\(parts[1])\" for the network")
        }
        (self.address, self.bits) = (address, bits)
    }

    package func contains(_ peer: PeerAddress) -> Bool {
        peer != .none && peer.isIPv4 == address.isIPv4 && peer.shares(bits, with: address)
    }

    package var description: String {
        if bits == 128 { return address.description }
        return "\(address.description)/\(address.isIPv4 ? bits - 96 : bits)"
    }
}
