// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A server's TLS settings: its certificate, its key, and the HTTP versions that it offers. Usable from any thread: OpenSSL
/// counts the references to it.
///
/// `@unchecked Sendable`: not changed after it was made (openssl-threads(7)).
@safe
package final class ServerTLS: @unchecked Sendable {
    package enum Speech: Sendable {
        /// HTTP/1.1: many connections, most of them idle; idle ones release their buffers.
        case http1
        /// HTTP/2: few connections with much traffic on each.
        case http2
        /// The settings of `http2`, and HTTP/1.1 for clients without HTTP/2.
        case either
    }

    private let context: OpaquePointer

    /// - Parameters:
    ///   - chain: PEM, the server's own certificate first.
    ///   - privateKey: PEM.
    ///   - clientAuthorities: PEM: clients are asked for a certificate of one of these, and accepted without one too. nil: they
    ///     are not asked.
    package init(
        chain: [UInt8], privateKey: [UInt8], _ speech: Speech, clientAuthorities: [UInt8]? = nil
    ) throws(SigningError) {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw LibraryFailure.taken("TLS cannot be set up")
        }
        unsafe self.context = context
        // TLS 1.2 with forward secrecy and authenticated ciphers, and 1.3: what RFC 9325 (BCP 195), section 4.2, recommends.
        guard unsafe relay_SSL_CTX_set_min_proto_version_TLS1_2(context) == 1,
            unsafe SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
            unsafe relay_SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1,
            unsafe relay_SSL_CTX_use_certificate_chain_pem(context, chain, Int32(chain.count)) == 1
        else { throw LibraryFailure.taken("the certificate cannot be used: it has to be PEM, the server's own first") }
        guard unsafe relay_SSL_CTX_use_private_key_pem(context, privateKey, Int32(privateKey.count)) == 1 else {
            throw LibraryFailure.taken("the private key cannot be used: it has to be PEM and the certificate's own")
        }
        if let clientAuthorities {
            guard unsafe relay_SSL_CTX_ask_clients(context, clientAuthorities, Int32(clientAuthorities.count)) == 1
            else {
                throw LibraryFailure.taken("the clients' authorities cannot be used: they have to be PEM")
            }
        }
        unsafe relay_SSL_CTX_set_server_modes(context)
        switch speech {
        case .http1:
            unsafe relay_SSL_CTX_set_many_connections(context)
        case .http2, .either:
            unsafe relay_SSL_CTX_set_read_ahead(context)
            unsafe SSL_CTX_set_default_read_buffer_len(context, 65_536)
        }
        unsafe relay_SSL_CTX_speak(context, speech == .http1 ? 0 : 1, speech == .http2 ? 0 : 1)
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// nil where there is no memory.
    package func connection(on socket: Int32) -> TLSConnection? {
        guard let ssl = unsafe SSL_new(context) else { return nil }
        unsafe SSL_set_fd(ssl, socket)
        unsafe SSL_set_accept_state(ssl)
        return unsafe TLSConnection(ssl)
    }
}

/// One client's TLS, on a non-blocking socket. The first read does the handshake.
@safe
package final class TLSConnection {
    package enum Outcome {
        case bytes(Int)
        /// Try again when the socket can be read, or written.
        case wantsRead, wantsWrite
        /// The peer has closed, or TLS failed.
        case over
    }

    private let ssl: OpaquePointer

    @unsafe
    fileprivate init(_ ssl: OpaquePointer) {
        unsafe self.ssl = ssl
    }

    deinit { unsafe SSL_free(ssl) }

    package var isHandshakeDone: Bool { unsafe SSL_in_init(ssl) == 0 }

    /// Whether the client has agreed to HTTP/2 (RFC 7301); false where it offered nothing. Known once the handshake is done.
    package var speaksHTTP2: Bool { unsafe relay_SSL_speaks_http2(ssl) == 1 }

    /// The certificate that the client has shown, once the handshake is done; nil where it has shown none.
    package var client: ClientCertificate? {
        guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        return unsafe ClientCertificate(
            X509Certificate(adopting: certificate), isTrusted: SSL_get_verify_result(ssl) == Int(X509_V_OK))
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        ERR_clear_error()
        let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        ERR_clear_error()
        let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    private func outcome(_ result: Int32) -> Outcome {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        default:
            ERR_clear_error()
            return .over
        }
    }

    /// Sends close_notify; does not wait for the peer's.
    package func close() {
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }
}
