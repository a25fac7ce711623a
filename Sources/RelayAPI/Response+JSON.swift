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

    static func replay(_ answer: StoredAnswer) -> Response {
        var response = Response.json(answer.status, answer.body)
        response.isReplay = true
        return response
    }
}
