// SPDX-License-Identifier: Apache-2.0
import CCurl

/// One libcurl easy handle with its error buffer; cleaned up exactly once.
///
/// Not Sendable: used by one thread at a time, which its owners see to.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// What is tried, and on what, for errors.
    let context: String
    private let errorText: UnsafeMutablePointer<CChar>
    /// What callbacks of this handle point to without owning it: released after the handle is cleaned up.
    var kept: AnyObject?

    /// `curl_global_init` runs once for the process. Thread-safe since 7.84 (Debian's build has that feature bit).
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

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

    /// What both kinds of transfer want of libcurl.
    ///
    /// - Parameters:
    ///   - protocols: of the address, as libcurl lists them.
    ///   - trustedCertificates: a PEM file instead of the system's certificates; nil: the system's.
    ///   - proxy: nil: none. The environment is never consulted.
    func configure(
        url: String, protocols: String, trustedCertificates: String?, proxy: String?, connectTimeout: Duration
    ) throws(TransportError) {
        try require(unsafe relay_curl_set_url(pointer, url), "the address")
        try require(unsafe relay_curl_set_protocols(pointer, protocols), "the protocols")
        try require(unsafe relay_curl_set_proxy(pointer, proxy ?? ""), "the proxy")
        try require(unsafe relay_curl_set_noproxy(pointer, ""), "NOPROXY")
        try require(unsafe relay_curl_set_ssl_verify_peer(pointer, 1), "SSL_VERIFYPEER")
        try require(unsafe relay_curl_set_ssl_verify_host(pointer, 2), "SSL_VERIFYHOST")
        // RFC 9113, 9.2: TLS 1.2 or higher.
        try require(unsafe relay_curl_set_ssl_version(pointer, Int(CURL_SSLVERSION_TLSv1_2)), "SSLVERSION")
        if let trustedCertificates {
            try require(unsafe relay_curl_set_ca_info(pointer, trustedCertificates), "CAINFO")
            try require(unsafe relay_curl_set_ca_path(pointer, nil), "CAPATH")
        }
        let milliseconds = Self.milliseconds(connectTimeout)
        try require(unsafe relay_curl_set_connect_timeout_ms(pointer, milliseconds), "CONNECTTIMEOUT")
        try require(unsafe relay_curl_set_nosignal(pointer, 1), "NOSIGNAL")
        // A name server that does not answer holds getaddrinfo(3) for longer than our time-outs, and libcurl would wait for its
        // resolver thread before it gives up. That is detached instead and frees what it has when it ends: for a program that
        // goes on nothing is lost, whatever CURLOPT_QUICK_EXIT(3) fears for one that does not.
        try require(unsafe relay_curl_set_quick_exit(pointer, 1), "QUICK_EXIT")
    }

    /// A time-out as libcurl wants it, where 0 would mean its own default.
    static func milliseconds(_ timeout: Duration) -> Int { max(1, Int(timeout / .milliseconds(1))) }

    /// Every option that was refused is a mistake in our build of libcurl, and is said so.
    func require(_ result: CURLcode, _ option: String) throws(TransportError) {
        guard result == CURLE_OK else {
            throw TransportError(
                code: .badRequest, context: context,
                reason: "libcurl refuses \(option): \(Self.text(of: result))")
        }
    }

    /// What libcurl says about `result`, with the details of this transfer where it gave any.
    func reason(_ result: CURLcode) -> String {
        let detail = unsafe String(cString: errorText)
        return detail.isEmpty ? Self.text(of: result) : detail
    }

    static func text(of result: CURLcode) -> String {
        unsafe curl_easy_strerror(result).map { unsafe String(cString: $0) } ?? "error \(result.rawValue)"
    }

    /// The error for a `curl_easy_perform` that failed.
    func error(_ result: CURLcode) -> TransportError {
        var clear: curl_off_t = 0
        _ = unsafe relay_curl_get_pretransfer_time(pointer, &clear)
        // The proxy's refusal of CONNECT comes as a receive error before the way is clear.
        let isConnected = clear != 0
        let (code, hint): (TransportError.Code, String) =
            switch result {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
                (.cannotConnect, "check the name and the resolver")
            case CURLE_COULDNT_CONNECT: (.cannotConnect, "is it running, and reachable from here?")
            case CURLE_PROXY, CURLE_REMOTE_ACCESS_DENIED: (.cannotConnect, "check the proxy")
            case CURLE_OPERATION_TIMEDOUT: (isConnected ? .timedOut : .cannotConnect, "")
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR:
                (.notTrusted, "check the host name, the clock, and the trusted certificates")
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: (.badRequest, "")
            case CURLE_ABORTED_BY_CALLBACK: (.cancelled, "")
            default: (isConnected ? .broken : .cannotConnect, "")
            }
        return TransportError(
            code: code, context: context, reason: code == .cancelled ? "cancelled" : reason(result), hint: hint)
    }
}
