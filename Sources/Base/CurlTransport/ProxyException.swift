// SPDX-License-Identifier: Apache-2.0

/// The servers that one entry of `noProxy` names: they are reached without the proxy.
///
/// The syntax is that of `NO_PROXY` in Go and in other programs: "example.com" is that name and all below it, ".example.com"
/// and "*.example.com" only those below it, "10.0.0.0/8" a network, "[2001:db8::]/32" or "2001:db8::/32" too, "*" everything;
/// each with or without a port: "example.com:8443", "[::1]:443". A name is never resolved: a network covers only servers
/// that the configuration names by address.
package struct ProxyException: Sendable, Hashable {
    private enum Hosts: Sendable, Hashable {
        case all
        /// In lower case.
        case name(String, isItself: Bool)
        case network(IPAddress, bits: Int)
    }

    private let hosts: Hosts
    /// nil: any.
    private let port: UInt16?

    private init(_ hosts: Hosts, port: UInt16?) { (self.hosts, self.port) = (hosts, port) }

    /// This machine. A proxy would take these names for its own machine.
    package static let loopback: [ProxyException] = ["localhost", "127.0.0.0/8", "::1"].compactMap {
        ProxyException($0)
    }

    /// nil where the text has none of these forms.
    package init?(_ text: String) {
        // An IPv6 address or network without brackets has no port.
        if let network = Self.network(text[...]) {
            self.init(network, port: nil)
            return
        }
        var (host, port): (Substring, UInt16?) = (text[...], nil)
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0 else {
                return nil
            }
            (host, port) = (text[..<colon], number)
        }
        if host == "*" {
            self.init(.all, port: port)
        } else if let network = Self.network(host) {
            self.init(network, port: port)
        } else {
            let below = ["*.", "."].first { host.hasPrefix($0) }
            let name = host.dropFirst(below?.count ?? 0)
            guard HostName.isName(name), !name.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else {
                return nil
            }
            self.init(.name(Self.folded(name), isItself: below == nil), port: port)
        }
    }

    /// "10.0.0.1", "10.0.0.0/8", "2001:db8::/32", "[2001:db8::]/32", "[::1]".
    private static func network(_ text: Substring) -> Hosts? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isBracketed = parts[0].hasPrefix("[") && parts[0].hasSuffix("]")
        guard let address = IPAddress(isBracketed ? parts[0].dropFirst().dropLast() : parts[0]) else { return nil }
        let most = address.bytes.count * 8
        guard parts.count == 2 else { return .network(address, bits: most) }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(parts[1]), bits <= most
        else { return nil }
        return .network(address, bits: bits)
    }

    private static func folded(_ name: some StringProtocol) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// - Parameter host: without brackets.
    package func covers(_ host: String, port: UInt16) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch hosts {
        case .all: return true
        case .network(let network, let bits): return IPAddress(host)?.shares(bits, with: network) ?? false
        case .name(let name, let isItself):
            let host = Self.folded(host)
            return isItself && host == name || host.hasSuffix(".\(name)")
        }
    }
}
