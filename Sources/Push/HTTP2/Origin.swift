// SPDX-License-Identifier: Apache-2.0

/// The server that a pool of connections leads to. Always HTTPS: HTTP/2 is negotiated by ALPN (RFC 9113, 3.2).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name or an IP address, without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }

    /// The value of `:authority`: the port is left out where it is 443 (RFC 9110, 4.2.2).
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    package var description: String { "https://\(authority)" }
}
