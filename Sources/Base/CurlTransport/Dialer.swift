// SPDX-License-Identifier: Apache-2.0
import CCurl
import COpenSSL

/// Opens TLS connections that have agreed on HTTP/2, and leaves the HTTP/2 to the caller.
///
/// libcurl provides name resolution, Happy Eyeballs, proxies, verification and time-outs; it does nothing after the handshake
/// (`CURLOPT_CONNECT_ONLY`). `dial` blocks for up to `connectTimeout`: call it on a thread that may wait.
package struct Dialer: Sendable, Equatable {
    /// A DNS name or an IP address, without brackets.
    package var host: String
    package var port: UInt16
    package let destination: Destination
    /// The way there.
    package var egress: Egress
    /// The certificate for a server that asks for one; nil: none.
    package var clientIdentity: ClientIdentity?
    /// Name resolution, TCP, proxy and TLS together. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)

    package init(to destination: Destination, host: String, port: UInt16, egress: Egress) {
        self.destination = destination
        self.host = host
        self.port = port
        self.egress = egress
    }

    /// - Throws: `.cannotConnect`, `.notTrusted`, `.notHTTP2` or `.badRequest`.
    package func dial() throws(TransportError) -> DialedConnection {
        let name = host.contains(":") ? "[\(host)]" : host
        let url = "https://\(name):\(port)"
        let handle = try EasyHandle(context: url)
        let isByTLSProxy = egress.proxy(to: host, port: port)?.scheme == .https
        let agreement = Agreement(skipping: isByTLSProxy ? 1 : 0)
        try configure(handle, url: url, agreement: agreement)
        let result = unsafe curl_easy_perform(handle.pointer)
        guard result == CURLE_OK else { throw handle.error(result) }
        guard agreement.protocolName == "h2" else {
            let found = agreement.protocolName.map { "\"\($0)\"" } ?? "no protocol"
            throw TransportError(
                code: .notHTTP2, context: url, reason: "offered \"h2\" by ALPN, but the server chose \(found)",
                hint: "the server, or a proxy that opens TLS on the way, must speak HTTP/2")
        }
        var socket: curl_socket_t = -1
        guard unsafe relay_curl_get_active_socket(handle.pointer, &socket) == CURLE_OK, socket >= 0 else {
            throw TransportError(code: .cannotConnect, context: url, reason: "libcurl has no socket after connecting")
        }
        return DialedConnection(handle: handle, socket: socket)
    }

    private func configure(_ handle: EasyHandle, url: String, agreement: Agreement) throws(TransportError) {
        let easy = unsafe handle.pointer
        try handle.configure(
            url: url, protocols: "https", target: Target(host: host, port: port), egress: egress,
            connectTimeout: connectTimeout, timeout: nil)
        try handle.require(unsafe relay_curl_set_connect_only(easy, 1), "CONNECT_ONLY")
        // With libcurl's own ALPN left on, libcurl switches the connection to its HTTP/2 code and curl_easy_send fails.
        try handle.require(unsafe relay_curl_set_http_version(easy, Int(CURL_HTTP_VERSION_1_1)), "HTTP_VERSION")
        try handle.require(unsafe relay_curl_set_ssl_enable_alpn(easy, 0), "SSL_ENABLE_ALPN")
        try handle.require(unsafe relay_curl_set_tcp_nodelay(easy, 1), "TCP_NODELAY")
        try handle.require(unsafe relay_curl_set_tcp_keepalive(easy, 1), "TCP_KEEPALIVE")
        try handle.require(unsafe relay_curl_set_dns_cache_timeout(easy, 0), "DNS_CACHE_TIMEOUT")
        if let clientIdentity {
            try handle.require(
                unsafe Self.pass(clientIdentity.chain) { unsafe relay_curl_set_ssl_cert_blob(easy, $0) }, "SSLCERT_BLOB"
            )
            try handle.require(
                unsafe Self.pass(clientIdentity.privateKey) { unsafe relay_curl_set_ssl_key_blob(easy, $0) },
                "SSLKEY_BLOB")
        }
        // SAFETY: the handle keeps the agreement until after it is cleaned up.
        handle.kept = agreement
        let data = unsafe Unmanaged.passUnretained(agreement).toOpaque()
        try handle.require(unsafe relay_curl_set_ssl_ctx_data(easy, data), "SSL_CTX_DATA")
        try handle.require(unsafe relay_curl_set_ssl_ctx_function(easy, prepareContext), "SSL_CTX_FUNCTION")
    }

    /// Hands libcurl a copy of a PEM text; PEM is its default format (CURLOPT_SSLCERTTYPE(3)).
    private static func pass(
        _ text: [UInt8], to option: (UnsafeMutablePointer<curl_blob>) -> CURLcode
    ) -> CURLcode {
        var text = text
        return unsafe text.withUnsafeMutableBytes { bytes in
            var blob = unsafe curl_blob(
                data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            return unsafe option(&blob)
        }
    }
}

/// The protocol that TLS agreed on, noted by OpenSSL's callback at the end of the handshake.
final class Agreement {
    /// The ALPN choice; nil where the server chose none.
    var protocolName: String?
    /// How many SSL_CTX come before the server's: an https proxy has its own, and its handshake is first.
    private var skipped: Int

    init(skipping count: Int) { skipped = count }

    /// Whether the next SSL_CTX is the server's.
    func isServersTurn() -> Bool {
        guard skipped > 0 else { return true }
        skipped -= 1
        return false
    }
}

/// Called by libcurl with the SSL_CTX before the handshake.
private func prepareContext(
    _: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ data: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let context = unsafe context, let data = unsafe data else { return CURLE_SSL_CONNECT_ERROR }
    let sslContext = OpaquePointer(context)
    // SAFETY: the handle keeps the agreement until after it is cleaned up.
    // A proxy is not offered "h2": the connection to it speaks HTTP/1.1.
    guard unsafe Unmanaged<Agreement>.fromOpaque(data).takeUnretainedValue().isServersTurn() else { return CURLE_OK }
    let protocols: [UInt8] = [2, 0x68, 0x32]  // "h2" with its length (RFC 7301, 3.1)
    // "return 0 on success, and non-0 on failure" (SSL_CTX_set_alpn_protos(3)): its neighbours return 1 on success.
    guard unsafe SSL_CTX_set_alpn_protos(sslContext, protocols, UInt32(protocols.count)) == 0 else {
        return CURLE_SSL_CONNECT_ERROR
    }
    // Index 0 is the application's (SSL_CTX_set_app_data); libcurl keeps its own data on the SSL, not on the SSL_CTX.
    guard unsafe SSL_CTX_set_ex_data(sslContext, 0, data) == 1 else { return CURLE_SSL_CONNECT_ERROR }
    // One read for a whole record (and what follows) instead of one for its header and one for its rest. Safe because
    // we read until CURLE_AGAIN: no decrypted bytes stay in OpenSSL, where epoll does not see them.
    _ = unsafe SSL_CTX_ctrl(sslContext, SSL_CTRL_SET_READ_AHEAD, 1, nil)
    // libcurl sets SSL_MODE_RELEASE_BUFFERS, which frees and allocates 16 KiB for each record. Few connections: keep them.
    _ = unsafe SSL_CTX_ctrl(sslContext, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    unsafe SSL_CTX_set_info_callback(sslContext, noteAgreement)
    return CURLE_OK
}

/// Called by OpenSSL as the handshake goes on; also after it, for each session ticket.
private func noteAgreement(_ ssl: OpaquePointer?, _ event: Int32, _: Int32) {
    guard event & SSL_CB_HANDSHAKE_DONE != 0, let ssl = unsafe ssl else { return }
    guard let data = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0) else { return }
    // SAFETY: set by prepareContext to an Agreement that outlives the handle, and with it this SSL.
    let agreement = unsafe Unmanaged<Agreement>.fromOpaque(data).takeUnretainedValue()
    var bytes: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
    agreement.protocolName = unsafe bytes.map {
        unsafe String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
    }
}
