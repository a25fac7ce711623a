// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Glibc

/// The threads that serve one door's connections: a daemon of libmicrohttpd for each, because its own pool of threads wants
/// to listen by itself (`MHD_USE_NO_LISTEN_SOCKET`, microhttpd.h).
///
/// `@unchecked Sendable`: `take` is the acceptor's thread's alone, `stop` comes after that thread has ended.
@safe
final class ServingThreads: @unchecked Sendable {
    private var daemons: [OpaquePointer]

    /// - Parameters:
    ///   - limit: connections of each thread.
    ///   - context: is not retained, and must live until `stop` has returned.
    init(_ count: Int, limit: UInt32, isEncrypted: Bool, context: HTTPDaemon.Context) throws(APIStartError) {
        let owner = unsafe Unmanaged.passUnretained(context).toOpaque()
        unsafe daemons = []
        for _ in 0..<count {
            let daemon = unsafe relay_mhd_start(
                handleRequest, logTarget, completeRequest, changeConnection, owner, limit,
                isEncrypted ? retrieveCertificate : nil, Self.priorities)
            guard let daemon = unsafe daemon else {
                stop()
                throw APIStartError(.failed, "libmicrohttpd could not start its threads")
            }
            unsafe daemons.append(daemon)
        }
    }

    /// TLS 1.2 with forward secrecy and authenticated ciphers, and 1.3: what RFC 9325 (BCP 195), section 4.2, recommends.
    private static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:"
        + "+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"

    /// Gives a connection to one of the threads. Whatever comes of it, the descriptor is the library's.
    ///
    /// By chance, not in turns: 0.9.75 asks its epoll set again where it got exactly as many events as it has room for (128),
    /// with the same time-out, before it looks at any (`MHD_epoll`). 512 clients that wait for each other's answers, 256 on
    /// each of two threads, would then all wait until something else happens.
    ///
    /// - Returns: whether it is served.
    @unsafe
    func take(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        let daemon = unsafe daemons[Int.random(in: daemons.indices)]
        return unsafe MHD_add_connection(daemon, descriptor, address, length) == .YES
    }

    /// Joins the threads. There must be no connection any more.
    func stop() {
        while let daemon = unsafe daemons.popLast() { unsafe MHD_stop_daemon(daemon) }
    }
}
