// SPDX-License-Identifier: Apache-2.0
import CCurl

/// Many requests at a time by libcurl's multi interface: over HTTP/2 where the server offers it, else over HTTP/1.1. Connections
/// are kept for later requests to the same server by the same way.
///
/// The caller limits how many requests run at a time: a request that waits inside libcurl for a connection uses up its
/// time-out there.
///
/// Belongs to one thread, which begins requests, lets libcurl work with `turn`, and sleeps with `wait`.
///
/// ```swift
/// let requests = try ParallelRequests()
/// try requests.begin(HTTPRequest("POST", url), number: 7, by: client)
/// while requests.count > 0 {
///     requests.wait(.seconds(1))
///     for end in requests.turn() { print(end.number, end.result) }
/// }
/// ```
@safe
package final class ParallelRequests {
    /// A request that has ended.
    package struct End: Sendable {
        /// The caller's number.
        package let number: Int
        package let result: Result<HTTPResponse, TransportError>
        /// Whether a part of it may have been sent. If not, the server has not seen it.
        package let mayHaveLeft: Bool
        package let isHTTP2: Bool
        /// How many connections were made for it.
        package let newConnections: Int
    }

    private struct Running {
        let number: Int
        let request: HTTPRequest
        let handle: EasyHandle
        let transfer: Transfer
    }

    private let multi: UnsafeMutableRawPointer
    /// By place; places are reused.
    private var running: [Running?] = []
    private var free: [Int] = []

    /// How many requests are under way.
    package var count: Int { running.count - free.count }

    /// - Throws: `TransportError` where libcurl has no memory for it.
    package init() throws(TransportError) {
        guard EasyHandle.isReady, let multi = unsafe curl_multi_init() else {
            throw TransportError(code: .cannotConnect, context: "libcurl", reason: "libcurl cannot be initialised")
        }
        unsafe self.multi = multi
    }

    deinit {
        // "curl_multi_cleanup: […] when all easy handles have been removed".
        for case let running? in running { _ = unsafe curl_multi_remove_handle(multi, running.handle.pointer) }
        running = []
        _ = unsafe curl_multi_cleanup(multi)
    }

    /// Begins a request; `turn` returns its end.
    ///
    /// - Parameter number: the caller's own, by which `End` identifies the request.
    /// - Throws: `TransportError` where the request cannot be sent as it was given.
    package func begin(_ request: HTTPRequest, number: Int, by client: HTTPClient) throws(TransportError) {
        let (handle, transfer) = try client.prepare(request)
        if let body = request.body {
            let set = unsafe try handle.withBody(body) { unsafe relay_curl_set_copied_post_fields(handle.pointer, $0) }
            try handle.require(set, "the body")
        }
        try handle.require(unsafe relay_curl_set_pipe_wait(handle.pointer, 1), "PIPEWAIT")
        let place = free.last ?? running.endIndex
        let mark = unsafe UnsafeMutableRawPointer(bitPattern: place + 1)
        try handle.require(unsafe relay_curl_set_mark(handle.pointer, mark), "PRIVATE")
        guard unsafe curl_multi_add_handle(multi, handle.pointer) == CURLM_OK else {
            throw TransportError(code: .cannotConnect, context: handle.context, reason: "libcurl takes no request")
        }
        // A place is taken only by a request that libcurl has.
        if free.popLast() == nil { running.append(nil) }
        running[place] = Running(number: number, request: request, handle: handle, transfer: transfer)
    }

    /// Lets libcurl do what can be done now.
    ///
    /// - Returns: the requests that have ended.
    package func turn() -> [End] {
        var still: Int32 = 0
        _ = unsafe curl_multi_perform(multi, &still)
        var ends: [End] = []
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            let result = unsafe message.pointee.data.result
            var mark: UnsafeMutablePointer<CChar>?
            _ = unsafe relay_curl_get_mark(easy, &mark)
            let place = Int(bitPattern: mark) - 1
            // "The data the returned pointer points to will not survive calling curl_multi_remove_handle."
            _ = unsafe curl_multi_remove_handle(multi, easy)
            guard running.indices.contains(place), let running = running[place] else { continue }
            ends.append(Self.end(of: running, result))
            self.running[place] = nil
            free.append(place)
        }
        return ends
    }

    private static func end(of running: Running, _ result: CURLcode) -> End {
        let handle = running.handle
        var (version, connections) = (0, 0)
        _ = unsafe relay_curl_get_http_version(handle.pointer, &version)
        _ = unsafe relay_curl_get_new_connections(handle.pointer, &connections)
        return End(
            number: running.number,
            result: Result { () throws(TransportError) in
                try HTTPClient.response(to: running.request, by: handle, running.transfer, result)
            },
            mayHaveLeft: handle.wasConnected, isHTTP2: version == Int(CURL_HTTP_VERSION_2_0),
            newConnections: connections)
    }

    /// Sleeps until libcurl has something to do, `descriptor` becomes readable, or the time is over.
    ///
    /// - Parameter descriptor: default none.
    package func wait(_ longest: Duration, orReadable descriptor: Int32 = -1) {
        let milliseconds = Int32(clamping: max(0, Int64((longest + .nanoseconds(999_999)) / .milliseconds(1))))
        var other = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        _ = unsafe curl_multi_poll(multi, &other, descriptor < 0 ? 0 : 1, milliseconds, nil)
    }
}
