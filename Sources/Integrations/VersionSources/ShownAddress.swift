// SPDX-License-Identifier: Apache-2.0

/// The parts of an address that may be shown, to everybody at `/readyz` and in a log. The user part holds a password,
/// and a query may be signed.
///
/// Addresses are examined by bytes: "?" with a combining accent is one `Character`.
package enum ShownAddress {
    /// The address, also a relative one, with "…" for its user and for its query. A password may hold characters that
    /// it should not, such as a slash, so everything up to the last `@` counts as the user.
    package static func withoutSecrets(_ address: String) -> String {
        let query = address.utf8.firstIndex(where: beginsQuery) ?? address.endIndex
        let start = address[..<query].firstRange(of: "//")?.upperBound ?? address.startIndex
        let mark = query == address.endIndex ? "" : "\(address.unicodeScalars[query])…"
        guard let at = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return address[..<query] + mark }
        // An `@` after the question mark may belong to a password or to the query.
        return at < query ? "\(address[..<start])…\(address[at..<query])\(mark)" : "\(address[..<start])…"
    }

    /// The scheme and the host with its port: a path may be a secret too, such as that of a chat service's webhook.
    package static func origin(_ address: String) -> String {
        let start = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        let authority = authority(address[start...])
        let user = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.index(after: $0) }
        return "\(address[..<start])\(authority[(user ?? authority.startIndex)...])"
    }

    /// Whether the scheme is followed by a host, with a port of digits or none, and no user. An `@` in the path is not a
    /// user's.
    package static func namesHostAlone(_ address: String) -> Bool {
        guard let scheme = address.firstRange(of: "://") else { return false }
        // libcurl takes "https:///host" too.
        let authority = authority(address[scheme.upperBound...].drop { $0 == "/" })
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        var port = authority[host.endIndex...]
        if port.first == "]" { port = port.dropFirst() }
        let isPort = port.first == ":" && port.count > 1 && port.dropFirst().utf8.allSatisfy { (48...57).contains($0) }
        return !host.isEmpty && !authority.utf8.contains(UInt8(ascii: "@")) && (port.isEmpty || isPort)
    }

    /// Up to the path, the query or the fragment (RFC 3986, section 3.2).
    private static func authority(_ rest: Substring) -> Substring {
        rest[..<(rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || beginsQuery($0) } ?? rest.endIndex)]
    }

    private static func beginsQuery(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
}
