// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// One accepted connection, with TLS if there is an identity; calls block. For use by one thread.
package final class ServerSocket {
    private let socket: Int32
    private var tls: OpaquePointer?

    /// The certificate and key for TLS, shared by many connections.
    package final class Identity: @unchecked Sendable {
        // Never changed after init; OpenSSL counts a context's references atomically (SSL_CTX_up_ref(3)).
        fileprivate let context: OpaquePointer

        package init(_ identity: TestIdentity) throws {
            guard let context = SSL_CTX_new(TLS_server_method()) else { throw PeerError("TLS context") }
            self.context = context
            guard SSL_CTX_use_certificate_chain_file(context, identity.chainPath) == 1,
                SSL_CTX_use_PrivateKey_file(context, identity.keyPath, SSL_FILETYPE_PEM) == 1
            else { throw PeerError("TLS identity") }
        }

        deinit { SSL_CTX_free(context) }
    }

    /// Owns the descriptor from here on. nil if the peer breaks off the handshake.
    package init?(_ socket: Int32, _ identity: Identity?) {
        self.socket = socket
        guard let identity else { return }
        tls = SSL_new(identity.context)
        SSL_set_fd(tls, socket)
        if SSL_accept(tls) != 1 { return nil }
    }

    deinit {
        SSL_free(tls)
        close(socket)
    }

    /// 0 at the end, and after a fault.
    package func read(into buffer: inout [UInt8]) -> Int {
        guard let tls else { return max(Glibc.read(socket, &buffer, buffer.count), 0) }
        return max(Int(SSL_read(tls, &buffer, Int32(buffer.count))), 0)
    }

    /// - Parameter isLast: whether TLS is ended after it. Default yes.
    package func write(_ text: String, isLast: Bool = true) {
        let bytes = Array(text.utf8)
        if let tls {
            _ = SSL_write(tls, bytes, Int32(bytes.count))
            if isLast { _ = SSL_shutdown(tls) }
        } else {
            _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
}
