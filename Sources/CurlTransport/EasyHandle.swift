// SPDX-License-Identifier: Apache-2.0
import CCurl

/// One libcurl easy handle with its error buffer; cleaned up exactly once.
///
/// Not Sendable: used by one thread at a time, which its owners see to.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
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
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        // SAFETY: the buffer lives as long as the handle; deinit frees it after the handle.
        _ = unsafe relay_curl_set_error_buffer(pointer, errorText)
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe errorText.deallocate()
    }

    /// Every option that was refused is a mistake in our build of libcurl, and is said so.
    func require(_ result: CURLcode, _ option: String, _ context: String) throws(TransportError) {
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
    func error(_ result: CURLcode, context: String) -> TransportError {
        var clear: curl_off_t = 0
        _ = unsafe relay_curl_get_pretransfer_time(pointer, &clear)
        let reason = self.reason(result)
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return TransportError(
                code: .cannotConnect, context: context, reason: reason, hint: "check the name and the resolver")
        case CURLE_COULDNT_CONNECT:
            return TransportError(
                code: .cannotConnect, context: context, reason: reason, hint: "is it running, and reachable from here?")
        case CURLE_PROXY, CURLE_REMOTE_ACCESS_DENIED:
            return TransportError(code: .cannotConnect, context: context, reason: reason, hint: "check the proxy")
        case CURLE_OPERATION_TIMEDOUT:
            return TransportError(code: clear == 0 ? .cannotConnect : .timedOut, context: context, reason: reason)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_ISSUER_ERROR:
            return TransportError(
                code: .notTrusted, context: context, reason: reason,
                hint: "check the host name, the clock, and the trusted certificates")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return TransportError(code: .badRequest, context: context, reason: reason)
        case CURLE_ABORTED_BY_CALLBACK:
            return TransportError(code: .cancelled, context: context, reason: "cancelled")
        default:
            // The proxy's refusal of CONNECT comes as a receive error before the way is clear.
            return TransportError(code: clear == 0 ? .cannotConnect : .broken, context: context, reason: reason)
        }
    }
}
