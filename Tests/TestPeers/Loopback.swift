// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// TCP on the loopback addresses.
package enum Loopback {
    /// A listening socket and its port.
    /// - Parameters:
    ///   - address: "127.0.0.1" or "::1".
    ///   - port: 0 for the system's choice.
    package static func listen(_ address: String = "127.0.0.1", port: UInt16 = 0) throws -> (Int32, UInt16) {
        try opened(address, port) { socket, found in
            reuse(socket)
            return bind(socket, found.ai_addr, found.ai_addrlen) == 0 && Glibc.listen(socket, 64) == 0
        }
    }

    /// The next connection of a listening socket; negative once the socket was shut down.
    ///
    /// A program that another test starts at the same time must not inherit it: closing the connection here would not end it as
    /// long as that program runs.
    package static func accept(_ listener: Int32) -> Int32 {
        relay_accept(listener, nil, nil)
    }

    /// A port on which nothing listens, and which the system gives to no other socket, for as long as this lives.
    ///
    /// The port of a server that was stopped is free for the next socket of any other test. This one is bound without listening, so
    /// that connecting to it is refused (connect(2)). `listen(port:)` can still take it: SO_REUSEADDR allows that beside a socket
    /// which does not listen (socket(7)), and only if the port is asked for by its number.
    package final class ReservedPort: Sendable {
        package let port: UInt16
        private let socket: Int32

        package init(_ address: String = "127.0.0.1") throws {
            (socket, port) = try opened(address, 0) { socket, found in
                reuse(socket)
                return bind(socket, found.ai_addr, found.ai_addrlen) == 0
            }
        }

        deinit { close(socket) }
    }

    private static func reuse(_ socket: Int32) {
        var one: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// A connected socket.
    package static func connect(_ address: String, port: UInt16) throws -> Int32 {
        try opened(address, port) { Glibc.connect($0, $1.ai_addr, $1.ai_addrlen) == 0 }.0
    }

    private static func opened(
        _ address: String, _ port: UInt16, _ isReady: (Int32, addrinfo) -> Bool
    ) throws -> (Int32, UInt16) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let found = list?.pointee else {
            throw PeerError("\(address) cannot be resolved")
        }
        defer { freeaddrinfo(list) }
        let socket = socket(found.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0, isReady(socket, found) else {
            let code = errno
            if socket >= 0 { close(socket) }
            throw PeerError("\(address) port \(port): error \(code)")
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
        }
        // sin_port and sin6_port are in the same place (RFC 3493, 3.3).
        return (socket, withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) })
    }
}
