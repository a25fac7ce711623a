// SPDX-License-Identifier: Apache-2.0
import CCurl
import Threading

/// Ordinary HTTP by libcurl: the command line to its daemon, webhooks out, lookups.
///
/// `send` and `lines` block and may be called from any thread that may wait; `response` is the same for Swift concurrency, on
/// a thread of its own. A bad status is an answer: only what fails below HTTP throws `TransportError`.
///
/// ```swift
/// let client = HTTPClient(unixSocket: "/run/upgrade-relay/control.sock")
/// let status = try client.send(HTTPRequest("GET", "http://relay/v1/status"))
/// ```
package struct HTTPClient: Sendable {
    /// A local socket instead of TCP; nil: by the URL's host.
    package var unixSocket: String?
    /// A PEM file of certificates to trust instead of the system's; nil: the system's.
    package var trustedCertificates: String?
    /// An HTTP or SOCKS proxy; nil: none. The environment is never consulted.
    package var proxy: String?
    package var userAgent = "upgrade-relay"

    package init(unixSocket: String? = nil, trustedCertificates: String? = nil, proxy: String? = nil) {
        self.unixSocket = unixSocket
        self.trustedCertificates = trustedCertificates
        self.proxy = proxy
    }

    /// Sends the request and waits for the whole answer.
    /// - Throws: `TransportError`, or what the body's closure threw.
    package func send(_ request: HTTPRequest) throws -> HTTPResponse {
        try perform(request, line: nil, isCancelled: { false })
    }

    /// `send` that ends within about a second, with `.cancelled`, once `isCancelled` says so.
    package func send(_ request: HTTPRequest, isCancelled: @escaping () -> Bool) throws -> HTTPResponse {
        try perform(request, line: nil, isCancelled: isCancelled)
    }

    /// Sends the request and hands over the answer line by line, without their ends (LF or CRLF), as they come: NDJSON,
    /// server-sent events. Only a 2xx answer is taken apart; the body of any other is in the response.
    /// - Parameter line: returns whether to go on; false ends the request, which then returns normally. Called on the
    ///   calling thread. What it throws ends the request and is thrown on.
    package func lines(_ request: HTTPRequest, _ line: @escaping ([UInt8]) throws -> Bool) throws -> HTTPResponse {
        try perform(request, line: line, isCancelled: { false })
    }

    /// The same for an answer that is taken as it comes, in pieces of any size.
    package func pieces(_ request: HTTPRequest, _ piece: @escaping ([UInt8]) throws -> Bool) throws -> HTTPResponse {
        try perform(request, line: nil, piece: piece, isCancelled: { false })
    }

    /// `send` for Swift concurrency. Cancelling the task ends the request within about a second, with `.cancelled`.
    package func response(to request: HTTPRequest) async throws -> HTTPResponse {
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do {
                    try NativeThread(name: "http") {
                        continuation.resume(
                            with: Result { try perform(request, line: nil, isCancelled: { cancellation.isSet }) })
                    }.detach()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            cancellation.set()
        }
    }

    private func perform(
        _ request: HTTPRequest, line: (([UInt8]) throws -> Bool)?, piece: (([UInt8]) throws -> Bool)? = nil,
        isCancelled: @escaping () -> Bool
    ) throws -> HTTPResponse {
        let context = "\(request.method) \(Self.withoutQuery(request.url))"
        let handle = try EasyHandle(context: context)
        let transfer = Transfer(request: request, line: line, piece: piece, isCancelled: isCancelled)
        handle.kept = transfer
        try configure(handle, request, transfer, context)
        let result: CURLcode
        if case .bytes(let bytes) = request.body {
            let size = curl_off_t(bytes.count)
            try handle.require(unsafe relay_curl_set_post_field_size(handle.pointer, size), "the size", context)
            result = unsafe bytes.withUnsafeBytes { body in
                // An empty body is a body: libcurl wants some address for it.
                unsafe withUnsafeBytes(of: UInt8(0)) { nothing in
                    guard let address = unsafe body.baseAddress ?? nothing.baseAddress else {
                        return CURLE_OUT_OF_MEMORY
                    }
                    let set = unsafe relay_curl_set_post_fields(handle.pointer, address)
                    return unsafe set == CURLE_OK ? curl_easy_perform(handle.pointer) : set
                }
            }
        } else {
            result = unsafe curl_easy_perform(handle.pointer)
        }
        if let thrown = transfer.thrown { throw thrown }
        if transfer.isTooLarge {
            throw TransportError(
                code: .tooLarge, context: context, reason: "the answer exceeds \(request.maximumResponse) bytes")
        }
        guard result == CURLE_OK || transfer.isEnough else { throw handle.error(result, context: context) }
        if !transfer.isEnough { try transfer.finish() }
        var status = 0
        _ = unsafe relay_curl_get_response_code(handle.pointer, &status)
        return HTTPResponse(status: status, headers: transfer.headers, body: transfer.body)
    }

    private func configure(
        _ handle: EasyHandle, _ request: HTTPRequest, _ transfer: Transfer, _ context: String
    ) throws(TransportError) {
        let easy = unsafe handle.pointer
        try handle.require(unsafe relay_curl_set_url(easy, request.url), "the address", context)
        try handle.require(unsafe relay_curl_set_protocols(easy, "http,https"), "the protocols", context)
        try handle.require(unsafe relay_curl_set_redirect_protocols(easy, "https"), "the protocols", context)
        if request.maximumRedirects > 0 {
            try handle.require(unsafe relay_curl_set_follow_location(easy, 1), "redirects", context)
            try handle.require(
                unsafe relay_curl_set_max_redirects(easy, request.maximumRedirects), "redirects", context)
        }
        if let unixSocket {
            try handle.require(unsafe relay_curl_set_unix_socket_path(easy, unixSocket), "the socket's path", context)
        }
        try handle.require(unsafe relay_curl_set_proxy(easy, proxy ?? ""), "the proxy", context)
        try handle.require(unsafe relay_curl_set_noproxy(easy, ""), "NOPROXY", context)
        try handle.require(unsafe relay_curl_set_ssl_verify_peer(easy, 1), "SSL_VERIFYPEER", context)
        try handle.require(unsafe relay_curl_set_ssl_verify_host(easy, 2), "SSL_VERIFYHOST", context)
        try handle.require(unsafe relay_curl_set_ssl_version(easy, Int(CURL_SSLVERSION_TLSv1_2)), "SSLVERSION", context)
        if let trustedCertificates {
            try handle.require(unsafe relay_curl_set_ca_info(easy, trustedCertificates), "CAINFO", context)
            try handle.require(unsafe relay_curl_set_ca_path(easy, nil), "CAPATH", context)
        }
        if let timeout = request.timeout {
            let milliseconds = max(1, Int(timeout / .milliseconds(1)))
            try handle.require(unsafe relay_curl_set_timeout_ms(easy, milliseconds), "TIMEOUT", context)
        }
        let milliseconds = max(1, Int(request.connectTimeout / .milliseconds(1)))
        try handle.require(unsafe relay_curl_set_connect_timeout_ms(easy, milliseconds), "CONNECTTIMEOUT", context)
        try handle.require(unsafe relay_curl_set_nosignal(easy, 1), "NOSIGNAL", context)
        // A name server that does not answer holds getaddrinfo(3) for longer than our time-outs, and libcurl would wait for its
        // resolver thread before it gives up. That is detached instead and frees what it has when it ends: for a program that
        // goes on nothing is lost, whatever CURLOPT_QUICK_EXIT(3) fears for one that does not.
        try handle.require(unsafe relay_curl_set_quick_exit(easy, 1), "QUICK_EXIT", context)
        try handle.require(unsafe relay_curl_set_user_agent(easy, userAgent), "USERAGENT", context)
        try setBody(handle, request, context)
        try setHeaders(handle, request, transfer, context)
        // SAFETY: the handle keeps the transfer until after it is cleaned up.
        let data = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        try handle.require(unsafe relay_curl_set_write_data(easy, data), "WRITEDATA", context)
        try handle.require(unsafe relay_curl_set_write_function(easy, takeBody), "WRITEFUNCTION", context)
        try handle.require(unsafe relay_curl_set_header_data(easy, data), "HEADERDATA", context)
        try handle.require(unsafe relay_curl_set_header_function(easy, takeHeader), "HEADERFUNCTION", context)
        try handle.require(unsafe relay_curl_set_read_data(easy, data), "READDATA", context)
        try handle.require(unsafe relay_curl_set_read_function(easy, giveBody), "READFUNCTION", context)
        try handle.require(unsafe relay_curl_set_progress_data(easy, data), "XFERINFODATA", context)
        try handle.require(unsafe relay_curl_set_progress_function(easy, showProgress), "XFERINFOFUNCTION", context)
        try handle.require(unsafe relay_curl_set_no_progress(easy, 0), "NOPROGRESS", context)
    }

    private func setBody(_ handle: EasyHandle, _ request: HTTPRequest, _ context: String) throws(TransportError) {
        let easy = unsafe handle.pointer
        if case .stream(let length, _) = request.body {
            try handle.require(unsafe relay_curl_set_upload(easy, 1), "UPLOAD", context)
            try handle.require(unsafe relay_curl_set_upload_size(easy, curl_off_t(length ?? -1)), "the size", context)
        }
        if request.method == "HEAD" {
            try handle.require(unsafe relay_curl_set_nobody(easy, 1), "NOBODY", context)
        } else {
            try handle.require(unsafe relay_curl_set_custom_request(easy, request.method), "the method", context)
        }
    }

    private func setHeaders(
        _ handle: EasyHandle, _ request: HTTPRequest, _ transfer: Transfer, _ context: String
    ) throws(TransportError) {
        var lines: [String] = []
        for (name, value) in request.headers {
            guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw TransportError(
                    code: .badRequest, context: context,
                    reason: "header \"\(name.prefix(40).filter { !$0.isNewline })\" has a line break or no name")
            }
            // "name;" is libcurl's way to write a header without a value.
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // Without a value after the colon libcurl leaves its own header out: no form content-type for our JSON, and no
        // waiting for "100 Continue".
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        lines.append("Expect:")
        try handle.require(transfer.setHeaders(lines, on: handle), "the headers", context)
    }

    /// A query may carry what is nobody's business in a log.
    private static func withoutQuery(_ url: String) -> String {
        String(url.prefix { $0 != "?" })
    }
}
