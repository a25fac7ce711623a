// SPDX-License-Identifier: Apache-2.0
import CCurl
import Threading

/// One libcurl easy handle with its error buffer; cleaned up exactly once.
///
/// Not Sendable: its owners ensure that one thread at a time uses it.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The attempt and its target, for errors.
    let context: String
    /// libcurl's text, which is never shown: see `CurlWords`.
    private let errorText: UnsafeMutablePointer<CChar>
    private var target: Target?
    private(set) var proxy: ProxyServer?
    private var timeout: Duration?
    private var connectTimeout: Duration = .zero
    /// Whether a local socket is dialled instead of the address.
    var isSocket = false
    /// The object that callbacks of this handle point to without owning it: released after the handle is cleaned up.
    var kept: AnyObject?

    /// `curl_global_init` runs once for the process. Thread-safe since 7.84 (Debian's build has that feature bit).
    static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(context: String) throws(TransportError) {
        guard Self.isReady, let handle = unsafe curl_easy_init() else {
            throw TransportError(code: .cannotConnect, context: context, reason: "libcurl cannot be initialised")
        }
        unsafe pointer = handle
        self.context = context
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        // SAFETY: the buffer lives as long as the handle; deinit frees it after the handle.
        _ = unsafe relay_curl_set_error_buffer(pointer, errorText)
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe errorText.deallocate()
    }

    /// Sets the options that both kinds of transfer need.
    ///
    /// - Parameters:
    ///   - protocols: the allowed schemes of the address, as libcurl lists them.
    ///   - target: the server that is dialled; nil where the address cannot be read, and libcurl refuses it.
    ///   - egress: the way there. The environment is never consulted.
    ///   - timeout: from the first byte sent to the last received; only for the words of an error. nil: none.
    func configure(
        url: String, protocols: String, target: Target?, egress: Egress, connectTimeout: Duration, timeout: Duration?
    ) throws(TransportError) {
        (self.target, self.timeout, self.connectTimeout) = (target, timeout, connectTimeout)
        proxy = target.flatMap { egress.proxy(to: $0.host, port: $0.port) }
        try require(unsafe relay_curl_set_url(pointer, url), "the address")
        try require(unsafe relay_curl_set_protocols(pointer, protocols), "the protocols")
        try require(unsafe relay_curl_set_proxy(pointer, proxy?.address ?? ""), "the proxy")
        try require(unsafe relay_curl_set_noproxy(pointer, ""), "NOPROXY")
        if let proxy { try configure(proxy, egress) }
        try require(unsafe relay_curl_set_ssl_verify_peer(pointer, 1), "SSL_VERIFYPEER")
        try require(unsafe relay_curl_set_ssl_verify_host(pointer, 2), "SSL_VERIFYHOST")
        // RFC 9113, 9.2: TLS 1.2 or higher.
        try require(unsafe relay_curl_set_ssl_version(pointer, Int(CURL_SSLVERSION_TLSv1_2)), "SSLVERSION")
        if let path = egress.trustedCertificates {
            try require(unsafe relay_curl_set_ca_info(pointer, path), "CAINFO")
            try require(unsafe relay_curl_set_ca_path(pointer, nil), "CAPATH")
        } else if let path = egress.addedCertificates {
            // CAPATH stays /etc/ssl/certs, Debian's own.
            try require(unsafe relay_curl_set_ca_info(pointer, path), "CAINFO")
        }
        let milliseconds = Self.milliseconds(connectTimeout)
        try require(unsafe relay_curl_set_connect_timeout_ms(pointer, milliseconds), "CONNECTTIMEOUT")
        try require(unsafe relay_curl_set_nosignal(pointer, 1), "NOSIGNAL")
        // A name server that does not answer holds getaddrinfo(3) for longer than our time-outs, and libcurl would wait for its
        // resolver thread before it gives up. With this option it detaches the thread, which frees its memory when it ends.
        // The leak that CURLOPT_QUICK_EXIT(3) warns of does not last in a program that goes on.
        try require(unsafe relay_curl_set_quick_exit(pointer, 1), "QUICK_EXIT")
    }

    /// Everything goes through CONNECT, so that a proxy's answer is never taken for the server's.
    private func configure(_ proxy: ProxyServer, _ egress: Egress) throws(TransportError) {
        try require(unsafe relay_curl_set_http_proxy_tunnel(pointer, 1), "HTTPPROXYTUNNEL")
        try require(unsafe relay_curl_set_suppress_connect_headers(pointer, 1), "SUPPRESS_CONNECT_HEADERS")
        if let user = proxy.user {
            try require(unsafe relay_curl_set_proxy_auth(pointer, UInt(1)), "PROXYAUTH")
            try require(unsafe relay_curl_set_proxy_username(pointer, user), "the proxy's user")
            try require(unsafe relay_curl_set_proxy_password(pointer, proxy.password ?? ""), "the proxy's password")
        }
        guard proxy.scheme == .https else { return }
        try require(unsafe relay_curl_set_proxy_ssl_verify_peer(pointer, 1), "PROXY_SSL_VERIFYPEER")
        try require(unsafe relay_curl_set_proxy_ssl_verify_host(pointer, 2), "PROXY_SSL_VERIFYHOST")
        try require(unsafe relay_curl_set_proxy_ssl_version(pointer, Int(CURL_SSLVERSION_TLSv1_2)), "PROXY_SSLVERSION")
        // PROXY_CAPATH stays: the system's certificates are trusted, too.
        if let path = egress.addedCertificates ?? egress.trustedCertificates {
            try require(unsafe relay_curl_set_proxy_ca_info(pointer, path), "PROXY_CAINFO")
        }
    }

    /// A time-out for libcurl, never 0, which would mean its own default.
    static func milliseconds(_ timeout: Duration) -> Int { max(1, Int(timeout / .milliseconds(1))) }

    /// Throws for an option that libcurl refuses: that is a mistake in our build of libcurl.
    func require(_ result: CURLcode, _ option: String) throws(TransportError) {
        guard result == CURLE_OK else {
            throw TransportError(
                code: .badRequest, context: context, reason: "libcurl refuses \(option): \(CurlWords.name(result))")
        }
    }

    /// Sets the size of a body, and calls `act` with its address, which is valid during the call.
    func withBody(_ body: [UInt8], _ act: (UnsafeRawPointer) -> CURLcode) throws(TransportError) -> CURLcode {
        try require(unsafe relay_curl_set_post_field_size(pointer, curl_off_t(body.count)), "the size")
        return unsafe body.withUnsafeBytes { bytes in
            // An empty body is a body: libcurl needs some address for it.
            unsafe withUnsafeBytes(of: UInt8(0)) { nothing in
                guard let address = unsafe bytes.baseAddress ?? nothing.baseAddress else { return CURLE_OUT_OF_MEMORY }
                return unsafe act(address)
            }
        }
    }

    /// Whether the server was reached (name, TCP, proxy, TLS): from then on a part of the request may have been sent.
    var wasConnected: Bool {
        var clear: curl_off_t = 0
        _ = unsafe relay_curl_get_pretransfer_time(pointer, &clear)
        return clear != 0
    }

    /// The error for a request that failed.
    func error(_ result: CURLcode) -> TransportError {
        // A proxy's refusal of CONNECT is a receive error that comes before PRETRANSFER_TIME is set.
        error(result, isConnected: wasConnected)
    }

    /// The error for a connection that was made and broke.
    func broken(_ result: CURLcode) -> TransportError {
        let error = error(result, isConnected: true)
        return TransportError(code: .broken, context: error.context, reason: error.reason, hint: error.hint)
    }

    private func error(_ result: CURLcode, isConnected: Bool) -> TransportError {
        var words = CurlWords(result: result, target: target, proxy: proxy, systemText: SystemError.text)
        words.isSocket = isSocket
        words.isConnected = isConnected
        (words.patience, words.connectPatience) = (timeout, connectTimeout)
        unsafe words.libraryError = CurlWords.libraryError(in: errorText)
        _ = unsafe relay_curl_get_connect_code(pointer, &words.connectStatus)
        _ = unsafe relay_curl_get_verify_result(pointer, &words.verifyResult)
        _ = unsafe relay_curl_get_proxy_verify_result(pointer, &words.proxyVerifyResult)
        _ = unsafe relay_curl_get_proxy_error(pointer, &words.proxyError)
        var number = 0
        _ = unsafe relay_curl_get_os_errno(pointer, &number)
        words.systemError = Int32(truncatingIfNeeded: number)
        let (code, reason, hint) = words.verdict
        return TransportError(code: code, context: context, reason: reason, hint: hint)
    }
}
