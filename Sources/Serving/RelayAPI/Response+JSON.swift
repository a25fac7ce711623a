// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import WireFormat

extension Response {
    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        Response(status: status, headers: [("Content-Type", "application/json")], body: .bytes(bytes))
    }

    static func json(_ status: Int = 200, _ content: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        content(&writer)
        return .json(status, writer.bytes)
    }

    /// Server-sent events (WHATWG HTML, section 9.2), which a proxy must not buffer.
    static func events(_ source: any ByteSource) -> Response {
        Response(
            status: 200,
            headers: [
                ("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no"),
            ],
            body: .stream(source))
    }

    static func replay(_ answer: StoredAnswer) -> Response {
        var response = Response.json(answer.status, answer.body)
        response.isReplay = true
        return response
    }
}
