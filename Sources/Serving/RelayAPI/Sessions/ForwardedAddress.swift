// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import WireFormat

/// The client's address, as the trusted proxies before the relay report it. Pure.
///
/// Each proxy appends the address that its own connection comes from. A client can send such a header, too, and a proxy keeps
/// that part on the left. So the list is read from the right, and only as far as the members come from trusted proxies.
package enum ForwardedAddress: String, Sendable, CaseIterable {
    /// The one header that counts. A proxy leaves the other one as the client sent it.
    case forwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"

    /// The header's name in lower case.
    var header: String { rawValue.lowercased() }

    /// - Parameters:
    ///   - peer: the address of the connection.
    ///   - list: the header's value.
    ///   - isTrusted: whether an address is a trusted proxy's.
    /// - Returns: the last address that is certain: the first one from the right that is no trusted proxy's; a proxy's own
    ///   where it reports no address ("unknown", "_hidden").
    func client(of peer: PeerAddress, _ list: String?, isTrusted: (PeerAddress) -> Bool) -> PeerAddress {
        var (client, rest) = (peer, (list ?? "")[...])
        for _ in 0..<ListBound.proxyHops.limit where isTrusted(client) {
            guard let member = Self.takeLast(&rest), member.utf8.count <= ListBound.longestMember,
                let address = self.address(in: member)
            else { break }
            client = address
        }
        return client
    }

    /// The address in one member: of "192.0.2.1", "192.0.2.1:4711", "2001:db8::1", "[2001:db8::1]:4711".
    private func address(in member: Substring) -> PeerAddress? {
        guard let node = self == .forwardedFor ? member : Self.node(in: member) else { return nil }
        if node.first == "[" {
            guard let end = node.firstIndex(of: "]"), Self.isPort(node[end...].dropFirst()) else { return nil }
            return PeerAddress(node[..<end].dropFirst())
        }
        guard let colon = node.firstIndex(of: ":"), colon == node.lastIndex(of: ":") else { return PeerAddress(node) }
        return Self.isPort(node[colon...]) ? PeerAddress(node[..<colon]) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst().utf8
        return colon == ":" && (1...5).contains(digits.count) && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The value of the one parameter `for` (RFC 7239, section 4), without quotes; nil: there is none, or several.
    private static func node(in element: Substring) -> Substring? {
        var (rest, node) = (element, Substring?.none)
        while let pair = takeLast(&rest, at: ";") {
            guard let sign = pair.firstIndex(of: "="), pair[..<sign].lowercased() == "for" else { continue }
            guard node == nil else { return nil }
            var value = pair[sign...].dropFirst()
            if value.first == "\"" {
                guard value.utf8.count >= 2, value.last == "\"" else { return nil }
                value = value.dropFirst().dropLast()
            }
            node = value
        }
        return node
    }

    /// Takes the last member from a list, without white space around it. A separator within quotes is part of a member. Empty
    /// members do not count (RFC 9110, section 5.6.1).
    private static func takeLast(_ list: inout Substring, at separator: Character = ",") -> Substring? {
        let bytes = list.utf8
        let (comma, quote, backslash) = (separator.asciiValue, UInt8(ascii: "\""), UInt8(ascii: "\\"))
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var end = bytes.endIndex
        while end > bytes.startIndex, case let last = bytes[bytes.index(before: end)], isBlank(last) || last == comma {
            end = bytes.index(before: end)
        }
        guard end > bytes.startIndex else { return nil }
        var (start, isQuoted) = (end, false)
        while start > bytes.startIndex {
            let before = bytes.index(before: start)
            if bytes[before] == comma, !isQuoted { break }
            if bytes[before] == quote {
                // An odd number of backslashes before it makes it a character of the text (RFC 9110, section 5.6.4).
                let slashes = bytes[..<before].reversed().prefix { $0 == backslash }.count
                if !isQuoted || slashes.isMultiple(of: 2) { isQuoted.toggle() }
            }
            start = before
        }
        let member = list[start..<end].drop { $0 == " " || $0 == "\t" }
        list = list[..<start]
        return member
    }
}
