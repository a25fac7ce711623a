// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The one owner of the server's `SSL_CTX`: TLS 1.2 or later, and no protocol but `h2`.
@safe
final class TLSContext {
    let pointer: OpaquePointer

    init(chain: [UInt8], key: [UInt8]) throws {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw SimulatorError("TLS cannot be set up: out of memory")
        }
        unsafe pointer = context
        guard unsafe relay_SSL_CTX_set_min_proto_version_TLS1_2(context) == 1,
            unsafe relay_SSL_CTX_use_certificate_chain_pem(context, chain, Int32(chain.count)) == 1
        else { throw SimulatorError("the certificate cannot be used: it has to be PEM, the leaf first") }
        guard unsafe relay_SSL_CTX_use_private_key_pem(context, key, Int32(key.count)) == 1 else {
            ERR_clear_error()
            throw SimulatorError("the private key cannot be used: it has to be PEM and the certificate's own")
        }
        unsafe relay_SSL_CTX_set_server_modes(context)
        unsafe relay_SSL_CTX_set_read_ahead(context)
        unsafe SSL_CTX_set_default_read_buffer_len(context, 65_536)
        unsafe SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenLength, offered, offeredLength, _ in
                unsafe TLSContext.choose(chosen, chosenLength, offered, Int(offeredLength))
            }, nil)
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    /// RFC 7301 section 3.2: if the server supports none of the offered protocols it "SHALL respond with a fatal
    /// no_application_protocol alert". A client that offers nothing is let in, as pushy is by APNs, and has to open with
    /// the HTTP/2 preface.
    private static func choose(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenLength: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ count: Int
    ) -> Int32 {
        guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        var at = 0
        while at < count {
            let length = unsafe Int(offered[at])
            guard at + 1 + length <= count else { break }
            if length == 2, unsafe offered[at + 1] == UInt8(ascii: "h"), unsafe offered[at + 2] == UInt8(ascii: "2") {
                unsafe chosen?.pointee = offered + at + 1
                unsafe chosenLength?.pointee = 2
                return SSL_TLSEXT_ERR_OK
            }
            at += 1 + length
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}

/// One client's TLS, on a non-blocking socket.
@safe
struct TLSStream: ~Copyable {
    enum Outcome {
        case bytes(Int)
        /// Try again when the socket can be read, or written.
        case wantsRead, wantsWrite
        /// The peer has closed, or TLS failed.
        case over
    }

    private let ssl: OpaquePointer

    /// Nil if there is no memory.
    init?(context: TLSContext, socket: Int32) {
        guard let ssl = unsafe SSL_new(context.pointer) else { return nil }
        unsafe self.ssl = ssl
        unsafe SSL_set_fd(ssl, socket)
        unsafe SSL_set_accept_state(ssl)
    }

    deinit { unsafe SSL_free(ssl) }

    var isHandshakeDone: Bool { unsafe SSL_in_init(ssl) == 0 }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        ERR_clear_error()
        let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        ERR_clear_error()
        let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(bytes.count))
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
    func close() {
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }
}
