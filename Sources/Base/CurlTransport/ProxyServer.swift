// SPDX-License-Identifier: Apache-2.0

/// A proxy to CONNECT through. The proxy resolves the names of servers; they are never resolved here.
///
/// Its address is read strictly, and libcurl gets it in parts: libcurl's error for a bad address contains the password.
package struct ProxyServer: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package enum Scheme: String, Sendable {
        case http, https
        /// SOCKS 5 (RFC 1928). `socks5` and `socks5h` are the same: the proxy resolves.
        case socks5
    }

    package let scheme: Scheme
    /// A DNS name or an IP address, without brackets.
    package let host: String
    package let port: UInt16
    /// nil: none is sent.
    package private(set) var user: String?
    /// A secret.
    package private(set) var password: String?
    /// The configuration's key for it, for faults: "egress.proxy".
    package var key: String

    /// Without user and password.
    package var description: String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)" + (scheme == .http ? "" : " (\(scheme.rawValue))")
    }
    package var customMirror: Mirror { Mirror(self, children: [("address", description)]) }

    /// The address for libcurl, without user and password.
    var address: String {
        let name = host.contains(":") ? "[\(host)]" : host
        // "socks5h": "Proxy resolves URL hostname" (CURLOPT_PROXY(3)).
        return "\(scheme == .socks5 ? "socks5h" : scheme.rawValue)://\(name):\(port)"
    }

    /// Ignores `key`: the same proxy may stand under several keys.
    package static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port && left.user == right.user
            && left.password == right.password
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(address)
        hasher.combine(user)
        hasher.combine(password)
    }

    /// - Throws: the fault, which quotes neither of them.
    package func with(user: String, password: String) throws(Fault) -> Self {
        try Self.check(user: user)
        try Self.check(password: password)
        var server = self
        (server.user, server.password) = (user, password)
        return server
    }
}

extension ProxyServer {
    /// A fault in an address. It never quotes the address: any part of that may be a part of the password.
    package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String

        private init(_ description: String) { self.description = description }

        static let scheme = Fault(
            "does not begin with http://, https:// or socks5h://; an address such as \"http://proxy.example:3128\"")
        static let characters = Fault(
            "has a blank, a line break or a letter that is none of ASCII; write it as its bytes' %XX, and a host in its "
                + "xn-- form")
        static let tail = Fault(
            "has something behind its port, which ends the address; in a user and a password \"/\", \"?\", \"#\" and \"@\" "
                + "are written %2F, %3F, %23 and %40")
        static let severalAt = Fault("has more than one \"@\"; in a user and a password it is written %40")
        static let userInfo = Fault(
            "has a user or a password with a character that has to be written as %XX, such as %25 for \"%\"")
        static let user = Fault(
            "has an empty user, or one with a colon, a control character or more than 255 bytes")
        static let password = Fault("has a password with a control character, or of more than 255 bytes")
        static let host = Fault(
            "names no host; a DNS name, an IPv4 address, or an IPv6 address in brackets: \"http://[2001:db8::1]:3128\"")
        static let port = Fault("names no port from 1 to 65535; an address such as \"http://proxy.example:3128\"")
    }

    /// "http://proxy.example:3128", "https://user:pass%40word@[2001:db8::1]:3129/", "socks5h://10.0.0.1:1080".
    ///
    /// - Parameter key: the configuration's key for it.
    /// - Throws: the fault, which quotes no part of the address.
    package init(_ text: String, key: String) throws(Fault) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .characters }
        guard let mark = text.firstRange(of: "://"), let scheme = Self.scheme(text[..<mark.lowerBound].lowercased())
        else { throw .scheme }
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
        guard rest[end...].isEmpty || rest[end...] == "/" else { throw .tail }
        let parts = rest[..<end].split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .severalAt }
        (self.scheme, self.key) = (scheme, key)
        (host, port) = try Self.server(parts[parts.count - 1], usual: scheme == .socks5 ? 1080 : nil)
        guard parts.count == 2 else { return }
        let words = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let user = try Self.decoded(words[0])
        try Self.check(user: user)
        self.user = user
        guard words.count == 2 else { return }
        let password = try Self.decoded(words[1])
        try Self.check(password: password)
        self.password = password
    }

    private static func scheme(_ text: String) -> Scheme? {
        text == "socks5h" ? .socks5 : Scheme(rawValue: text)
    }

    /// - Parameter usual: the port where none is named; nil: one must be named.
    private static func server(_ text: Substring, usual: UInt16?) throws(Fault) -> (host: String, port: UInt16) {
        var (host, port): (Substring, Substring?)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .host }
            host = text[text.index(after: text.startIndex)..<end]
            let after = text[text.index(after: end)...]
            guard host.contains(":"), IPAddress(host) != nil else { throw .host }
            guard after.isEmpty || after.hasPrefix(":") else { throw .port }
            port = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw .host }
            (host, port) = (parts[0], parts.count == 2 ? parts[1] : nil)
            // A host of digits and dots alone must be an address: some resolvers take even "1" for one.
            let isNumeric = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isNumeric ? IPAddress(host) != nil : HostName.isName(host) else { throw .host }
        }
        guard let port else {
            guard let usual else { throw .port }
            return (String(host), usual)
        }
        guard (1...5).contains(port.utf8.count), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(port), number > 0
        else { throw .port }
        return (String(host), number)
    }

    /// Decodes unreserved characters, sub-delims and %XX (RFC 3986, 3.2.1). A password may have colons after the first one.
    private static func decoded(_ text: Substring) throws(Fault) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit)
                else { throw .userInfo }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                bytes.append(byte)
            default:
                guard "-._~!$&'()*+,;=:".utf8.contains(byte) else { throw .userInfo }
                bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .userInfo }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// "A user-id containing a colon character is invalid" (RFC 7617, 2); RFC 1929 has one byte for a length.
    private static func check(user: String) throws(Fault) {
        guard (1...255).contains(user.utf8.count), !user.utf8.contains(UInt8(ascii: ":")), !hasControl(user) else {
            throw .user
        }
    }

    private static func check(password: String) throws(Fault) {
        guard password.utf8.count <= 255, !hasControl(password) else { throw .password }
    }

    private static func hasControl(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}
