// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An address to listen on: "127.0.0.1:8480" or "[::1]:8480", but not ":8480".
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IP address without brackets.
    package var host: String
    /// 0 lets the kernel choose.
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard Self.isAddress(String(host), family: AF_INET6) else { return nil }
        } else {
            guard Self.isAddress(String(host), family: AF_INET) else { return nil }
        }
        self.init(host: String(host), port: port)
    }

    /// Whether only this machine can reach it: 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
    package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Digits only: `UInt16("+80")` would succeed.
    package static func port(_ text: some StringProtocol) -> UInt16? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt16(text)
    }

    private static func isAddress(_ text: String, family: CInt) -> Bool {
        var storage = in6_addr()
        return unsafe inet_pton(family, text, &storage) == 1
    }
}
