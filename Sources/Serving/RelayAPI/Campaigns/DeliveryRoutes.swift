// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension API {
    func campaignDeliveries(_ id: String, _ call: inout Call) throws -> Response {
        let filter = try Self.deliveryFilter(&call.query, call.caller)
        let form = Self.form(&call)
        if form.isStream {
            call.query.wholeList()
            try call.query.finish()
            let record = try record(id, call.caller)
            let campaign = record.key
            var next: Int64? = 0
            let export = ListExport(
                form, LineFormat<Delivery>.delivery, for: call.sight, stop: stop,
                read: { [store] _, limit in
                    let page = try store.deliveryPage(of: campaign, filter, after: next ?? .max, limit: limit)
                    next = page.next
                    return (page.items, isLast: page.next == nil)
                })
            return try export.response.naming(similar(to: filter) { $0 == record.app }, for: call.sight)
        }
        let limit = call.query.limit(default: 100)
        let cursor = call.query.cursor(.deliveries)
        try call.query.finish()
        let record = try record(id, call.caller)
        let page = try store.deliveryPage(of: record.key, filter, after: cursor ?? 0, limit: limit)
        let next = page.next.map { Cursor.text(.deliveries, $0) }
        let similar = try page.items.isEmpty ? similar(to: filter) { $0 == record.app } : []
        return .json { [sight = call.sight] in
            $0.page(page.items, next: next, similar: similar, for: sight) { $0.object($1, Delivery.shape, for: sight) }
        }
    }

    /// Other, known spellings of the filter's telephone; none where it is known as written.
    package func similar(to filter: DeliveryFilter, where isMeant: (AppKey) -> Bool) throws -> [String] {
        try filter.telephone.map { try userSearch.similar(to: $0, where: isMeant) } ?? []
    }

    func deliveries(_ call: inout Call) throws -> Response {
        let filter = try Self.deliveryFilter(&call.query, call.caller)
        if (filter.telephone == nil) == (filter.token == nil) {
            call.query.refuse("telephone", "exactly one of telephone and token is needed")
        }
        let places = AppFilter(&call.query, call.caller)
        let form = Self.form(&call)
        if form.isStream {
            call.query.wholeList()
            try call.query.finish()
            let export = ListExport(
                form, LineFormat<Delivery>.delivery, for: call.sight, stop: stop, isWanted: { places.takes($0.app) },
                read: { [store] last, limit in
                    let found = try store.deliveries(filter, after: last?.position, limit: limit)
                    return (found, isLast: found.count < limit)
                })
            return try export.response.naming(similar(to: filter, where: places.takes), for: call.sight)
        }
        let limit = call.query.limit(default: 100)
        let cursor = call.query.cursor(Cursor.deliveryPosition)
        try call.query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.position, cursor: { Cursor.text($0) },
            isVisible: { places.takes($0.app) }
        ) { try store.deliveries(filter, after: $0, limit: $1) }
        let similar = try page.items.isEmpty ? similar(to: filter, where: places.takes) : []
        return .json { [sight = call.sight] in
            $0.page(page.items, next: page.next, similar: similar, for: sight) {
                $0.object($1, Delivery.shape, for: sight)
            }
        }
    }

    private static func form(_ call: inout Call) -> ListForm {
        call.query.form(call.head.headers["accept"], among: [.json, .csv, .ndjson])
    }

    /// - Throws: a 403 where the query names a user or a device and the caller may not read people's data: even a masked
    ///   answer would reveal who is registered.
    package static func deliveryFilter(_ query: inout Query, _ caller: Caller) throws -> DeliveryFilter {
        var filter = DeliveryFilter()
        filter.state = query.choice("state", of: DeliveryState.allCases, \.name)
        filter.reason = query.filledText("reason")
        filter.telephone = query.filledText("telephone")
        filter.token = query.filledText("token").map(stored)
        if filter.telephone != nil || filter.token != nil {
            try caller.need(.users, "a question about one user or one device shows whether it is registered")
        }
        return filter
    }

    /// iOS tokens are stored in lower case; an Android token is never all hex digits.
    private static func stored(_ token: String) -> String {
        token.utf8.allSatisfy(TokenForm.isHexDigit) ? token.lowercased() : token
    }
}

extension DeliveryState {
    static let schema = Schema.words(allCases.map(\.name))
}

extension Delivery {
    /// `LineFormat.delivery` has these members as its columns.
    static let shape = Shape<Delivery>(
        "Delivery", "The outcome of one push.",
        [
            .member(.campaign, .text, "The campaign's id.") { $0.campaign },
            AppKey.shape.members { $0.app },
            .personal(.token) { $0.token },
            .nullablePersonal(
                .telephone, "The telephone that the push carried; masked if the caller has not the scope users."
            ) {
                $0.telephone
            },
            .member(.state, DeliveryState.schema) { $0.state.name },
            .nullable(.reason, .text, "The push service's reason, or why it was filtered.") { $0.reason },
            .member(
                .apnsId, .text.with("format", .string("uuid")),
                "The push's id: for iOS its apns-id, for Android its data.pushId."
            ) { PushID.text(campaign: $0.campaign, device: $0.device) },
            .member(.attempts, .count) { $0.attempts },
            .nullable(.nextAttemptAt, .instant, "If it is retrying.") { $0.nextAttemptAt },
            .member(.updatedAt, .instant) { $0.updatedAt },
        ])
}
