// SPDX-License-Identifier: Apache-2.0
import CCurl

/// Ordinary HTTP by libcurl: for the commands' requests to their daemon, outgoing webhooks, and lookups.
///
/// `send` and `pieces` block and may be called from any thread that may wait. A bad status is an answer, and so is a
/// redirect: only a failure below HTTP throws `TransportError`.
///
/// ```swift
/// let client = HTTPClient(unixSocket: "/run/upgrade-relay/control.sock")
/// let status = try client.send(HTTPRequest("GET", "http://relay/v1/status"))
/// ```
package struct HTTPClient: Sendable {
    /// The kind of server that it dials.
    package let destination: Destination
    /// The way there.
    package let egress: Egress
    /// The path of a local socket instead of TCP; nil: TCP to the URL's host.
    package let unixSocket: String?
    package var userAgent = "upgrade-relay"

    package init(to destination: Destination, egress: Egress) {
        (self.destination, self.egress, unixSocket) = (destination, egress, nil)
    }

    /// A client of a relay on this machine, by its socket.
    package init(unixSocket: String) {
        (destination, egress, self.unixSocket) = (.relay, .direct, unixSocket)
    }

    /// Sends the request and waits for the whole answer.
    /// - Parameter isCancelled: once it returns true, the request ends within about a second, with `.cancelled`.
    /// - Throws: `TransportError`.
    package func send(
        _ request: HTTPRequest, isCancelled: @escaping () -> Bool = { false }
    ) throws -> HTTPResponse {
        try perform(request, isCancelled: isCancelled)
    }

    /// Sends the request and hands over the answer as it comes, in pieces of any size. Only a 2xx answer comes in pieces;
    /// the body of any other is in the response.
    /// - Parameter piece: returns whether to go on; false ends the request, which then returns normally. Called on the
    ///   calling thread. An error that it throws ends the request and is rethrown.
    package func pieces(_ request: HTTPRequest, _ piece: @escaping ([UInt8]) throws -> Bool) throws -> HTTPResponse {
        try perform(request, piece: piece)
    }

    private func perform(
        _ request: HTTPRequest, piece: (([UInt8]) throws -> Bool)? = nil, isCancelled: @escaping () -> Bool = { false }
    ) throws -> HTTPResponse {
        let (handle, transfer) = try prepare(request, piece: piece, isCancelled: isCancelled)
        let result: CURLcode
        if let body = request.body {
            result = unsafe try handle.withBody(body) { address in
                let set = unsafe relay_curl_set_post_fields(handle.pointer, address)
                return unsafe set == CURLE_OK ? curl_easy_perform(handle.pointer) : set
            }
        } else {
            result = unsafe curl_easy_perform(handle.pointer)
        }
        if let thrown = transfer.thrown { throw thrown }
        return try Self.response(to: request, by: handle, transfer, result)
    }

    /// A handle with all options of the request but its body.
    func prepare(
        _ request: HTTPRequest, piece: (([UInt8]) throws -> Bool)? = nil, isCancelled: @escaping () -> Bool = { false }
    ) throws(TransportError) -> (EasyHandle, Transfer) {
        let handle = try EasyHandle(context: Self.context(request))
        let transfer = Transfer(request: request, piece: piece, isCancelled: isCancelled)
        handle.kept = transfer
        try configure(handle, request, transfer)
        return (handle, transfer)
    }

    /// The answer to a request that libcurl has ended with `result`.
    static func response(
        to request: HTTPRequest, by handle: EasyHandle, _ transfer: Transfer, _ result: CURLcode
    ) throws(TransportError) -> HTTPResponse {
        if transfer.isTooLarge { throw tooLarge(request) }
        guard result == CURLE_OK || transfer.isEnough else { throw handle.error(result) }
        var status = 0
        _ = unsafe relay_curl_get_response_code(handle.pointer, &status)
        return HTTPResponse(status: status, headers: transfer.headers, body: transfer.body)
    }

    private func configure(
        _ handle: EasyHandle, _ request: HTTPRequest, _ transfer: Transfer
    ) throws(TransportError) {
        let easy = unsafe handle.pointer
        try handle.configure(
            url: request.url, protocols: "http,https", target: Target(url: request.url), egress: egress,
            connectTimeout: request.connectTimeout, timeout: request.timeout)
        if let unixSocket {
            handle.isSocket = true
            try handle.require(unsafe relay_curl_set_unix_socket_path(easy, unixSocket), "the socket's path")
        }
        if let timeout = request.timeout {
            try handle.require(unsafe relay_curl_set_timeout_ms(easy, EasyHandle.milliseconds(timeout)), "TIMEOUT")
        }
        try handle.require(unsafe relay_curl_set_user_agent(easy, userAgent), "USERAGENT")
        if request.method == "HEAD" {
            try handle.require(unsafe relay_curl_set_nobody(easy, 1), "NOBODY")
        } else {
            try handle.require(unsafe relay_curl_set_custom_request(easy, request.method), "the method")
        }
        try setHeaders(handle, request, transfer)
        // SAFETY: the handle keeps the transfer until after it is cleaned up.
        let data = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        try handle.require(unsafe relay_curl_set_write_data(easy, data), "WRITEDATA")
        try handle.require(unsafe relay_curl_set_write_function(easy, takeBody), "WRITEFUNCTION")
        try handle.require(unsafe relay_curl_set_header_data(easy, data), "HEADERDATA")
        try handle.require(unsafe relay_curl_set_header_function(easy, takeHeader), "HEADERFUNCTION")
        try handle.require(unsafe relay_curl_set_progress_data(easy, data), "XFERINFODATA")
        try handle.require(unsafe relay_curl_set_progress_function(easy, showProgress), "XFERINFOFUNCTION")
        try handle.require(unsafe relay_curl_set_no_progress(easy, 0), "NOPROGRESS")
    }

    private func setHeaders(
        _ handle: EasyHandle, _ request: HTTPRequest, _ transfer: Transfer
    ) throws(TransportError) {
        var lines: [String] = []
        for (name, value) in request.headers {
            guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw TransportError(
                    code: .badRequest, context: handle.context,
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
        try handle.require(transfer.setHeaders(lines, on: handle), "the headers")
    }

    /// The method and the address without query and user, which may hold private data. A password may hold a slash: so
    /// everything up to the last "@" is left out.
    private static func context(_ request: HTTPRequest) -> String {
        let shown = request.url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let address = String(decoding: shown, as: UTF8.self)
        guard let at = address.lastIndex(of: "@"), let scheme = address.firstRange(of: "://") else {
            return "\(request.method) \(address)"
        }
        return "\(request.method) \(address[..<scheme.upperBound])…\(address[at...])"
    }

    private static func tooLarge(_ request: HTTPRequest) -> TransportError {
        TransportError(
            code: .tooLarge, context: context(request),
            reason: "the answer exceeds \(request.maximumResponse) bytes")
    }
}
