// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import WireFormat

/// Dead tokens for clients that keep a table of their own, in the order in which the relay learned of them.
extension API {
    /// - Parameter since: a time, or `since` of an earlier answer.
    func deadDevices(since: String, _ call: inout Call) throws -> Response {
        let (app, sight) = (call.app, call.sight)
        var query = call.query
        let form = query.form(call.head.headers["accept"], among: [.json, .ndjson])
        let start = Self.place(since)
        if start == nil {
            query.refuse(
                Field.since.rawValue,
                "a time as in RFC 3339 is needed, such as \"2026-01-31T18:00:00Z\", or \"since\" of an answer before; got \(JSONValue.string(since).sight)"
            )
        }
        if query.flag("dead") != true {
            query.refuse("dead", "true is needed beside since: only dead tokens are listed by when they were learnt of")
        }
        if form.isStream {
            query.wholeList()
            try query.finish()
            try require(app)
            let export = ListExport(
                form, LineFormat<DeadDevice>.dead, for: sight, stop: stop,
                read: { [store] last, limit in
                    let found = try store.deadDevices(
                        of: app, after: last?.place ?? start ?? DeadPlace(order: 0), limit: limit)
                    return (found, isLast: found.count < limit)
                })
            return export.response
        }
        let limit = query.limit(default: 100)
        let cursor = query.cursor { Cursor.position($0, .dead).map(DeadPlace.init(order:)) }
        try query.finish()
        try require(app)
        let first = cursor ?? start ?? DeadPlace(order: 0)
        // One item beyond the limit shows whether there is a next page.
        let found = try store.deadDevices(of: app, after: first, limit: limit + 1)
        let items = found.prefix(limit)
        let last = Cursor.text(items.last?.place ?? first)
        return .json { writer in
            writer.object { writer in
                writer.array(.items, items) { $0.object($1, DeadDevice.shape, for: sight) }
                writer.member(.next, found.count > limit ? last : nil)
                writer.member(.since, last)
            }
        }
    }

    private static func place(_ text: String) -> DeadPlace? {
        if let moment = Timestamp(internetTime: text) { return DeadPlace(before: moment) }
        return Cursor.position(text, .dead).map(DeadPlace.init(order:))
    }
}

extension LineFormat<DeadDevice> {
    static var dead: LineFormat {
        LineFormat(columns: []) {
            $0.object($1, DeadDevice.shape, for: $2)
        } cells: { _, _ in
            []
        }
    }
}
