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

    /// A page of a list.
    ///
    /// - Parameters:
    ///   - rows: up to one more than `limit`, which tells that there is a next page.
    ///   - cursor: of the next page, by the last row of this one.
    static func page<Row>(
        _ rows: [Row], limit: Int, cursor: (Row) -> String, _ content: (inout JSONWriter, Row) -> Void
    ) -> Response {
        let items = rows.prefix(limit)
        let next = rows.count > limit ? items.last.map(cursor) : nil
        return .json { $0.page(items, next: next, content) }
    }

    static func replay(_ answer: StoredAnswer) -> Response {
        var response = Response.json(answer.status, answer.body)
        response.isReplay = true
        return response
    }
}
