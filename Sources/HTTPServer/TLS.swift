// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Signing
import Synchronization

/// What TLS is spoken with: a certificate, its key, and how. OpenSSL counts who uses it, from any thread.
///
/// `@unchecked Sendable`: not changed after it was made (openssl-threads(7)).
@safe
final class ServerTLS: @unchecked Sendable {
    private let context: OpaquePointer

    init(_ identity: ServerIdentity) throws(ServerStartError) {
        let fault = ServerStartError(.badCertificate, "listen.tls: OpenSSL does not take the certificate or its key")
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw fault }
        unsafe self.context = context
        defer { ERR_clear_error() }
        // TLS 1.2 with forward secrecy and authenticated ciphers, and 1.3: what RFC 9325 (BCP 195), section 4.2, recommends.
        guard unsafe relay_SSL_CTX_set_min_proto_version_TLS1_2(context) == 1,
            unsafe SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
            unsafe relay_SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1,
            unsafe relay_SSL_CTX_use_certificate_chain_pem(context, identity.chain, Int32(identity.chain.count)) == 1,
            unsafe relay_SSL_CTX_use_private_key_pem(
                context, identity.privateKey, Int32(identity.privateKey.count)) == 1
        else { throw fault }
        unsafe relay_SSL_CTX_set_server_modes(context)
        unsafe relay_SSL_CTX_set_many_connections(context)
        unsafe relay_SSL_CTX_speak_http1(context)
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// nil where there is no memory.
    func connection(on socket: Int32) -> TLSConnection? {
        guard let ssl = unsafe SSL_new(context) else { return nil }
        unsafe SSL_set_fd(ssl, socket)
        unsafe SSL_set_accept_state(ssl)
        return unsafe TLSConnection(ssl)
    }
}

/// The certificate of this moment: each handshake takes the one that is in use when it begins.
final class CurrentTLS: Sendable {
    private let current: Mutex<(tls: ServerTLS, identity: ServerIdentity)>

    init(_ identity: ServerIdentity) throws(ServerStartError) {
        current = Mutex((try ServerTLS(identity), identity))
    }

    var tls: ServerTLS { current.withLock { $0.tls } }

    /// - Returns: false where it is the one in use already.
    func exchange(for identity: ServerIdentity) throws(ServerStartError) -> Bool {
        if current.withLock({ $0.identity == identity }) { return false }
        let tls = try ServerTLS(identity)
        current.withLock { $0 = (tls, identity) }
        return true
    }
}

/// One client's TLS, on a non-blocking socket. The handshake is done by the first reading.
@safe
final class TLSConnection {
    private let ssl: OpaquePointer

    @unsafe
    fileprivate init(_ ssl: OpaquePointer) {
        unsafe self.ssl = ssl
    }

    deinit { unsafe SSL_free(ssl) }

    @unsafe
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    @unsafe
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    private func outcome(_ result: Int32) -> Transfer {
        let reason = unsafe SSL_get_error(ssl, result)
        ERR_clear_error()
        return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? .wait : .over
    }

    /// Sends close_notify; does not wait for the peer's.
    func close() {
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }
}

/// What came of a reading or a writing.
enum Transfer {
    case bytes(Int)
    /// Not yet.
    case wait
    /// The client has gone.
    case over
}
