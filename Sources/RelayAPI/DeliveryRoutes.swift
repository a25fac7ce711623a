// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import WireFormat

extension API {
    func campaignDeliveries(_ id: String, _ query: inout Query, _ caller: Caller) throws -> Response {
        let limit = query.limit(default: 100)
        let cursor = query.cursor(.deliveries)
        var state: DeliveryState?
        if let name = query.text("state") {
            state = DeliveryState(name: name)
            if state == nil {
                let names = DeliveryState.allCases.map(\.name).joined(separator: ", ")
                query.refuse("state", "one of \(names) is needed; it was \(JSONValue.string(name).sight)")
            }
        }
        let telephone = query.text("telephone")
        if telephone == "" { query.refuse("telephone", "must not be empty") }
        try query.finish()
        let campaign = try record(id, caller).key
        let page = try Page(
            limit: limit, after: cursor, position: \.device, cursor: { Cursor.text(.deliveries, $0) },
            isVisible: { _ in true }
        ) { try store.deliveries(of: campaign, state: state, telephone: telephone, after: $0 ?? 0, limit: $1) }
        return .json { $0.page(page.items, next: page.next) { $0.delivery($1) } }
    }

    func deliveries(_ query: inout Query, _ caller: Caller) throws -> Response {
        let limit = query.limit(default: 100)
        let cursor = query.deliveryCursor()
        let telephone = query.text("telephone")
        let token = query.text("token")
        if telephone == "" { query.refuse("telephone", "must not be empty") }
        if token == "" { query.refuse("token", "must not be empty") }
        if (telephone == nil) == (token == nil) {
            query.refuse("telephone", "exactly one of telephone and token is needed")
        }
        try query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.position, cursor: { Cursor.text($0) },
            isVisible: { caller.maySee($0.app) }
        ) { try store.deliveries(telephone: telephone, token: token.map(Self.stored), after: $0, limit: $1) }
        return .json { $0.page(page.items, next: page.next) { $0.delivery($1) } }
    }

    /// iOS tokens are stored in lower case; an Android token is never all hex digits.
    private static func stored(_ token: String) -> String {
        token.utf8.allSatisfy(DeviceFields.isHexDigit) ? token.lowercased() : token
    }
}
