// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import WireFormat

extension API {
    func campaignDeliveries(_ id: String, _ query: inout Query) throws -> Response {
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
        let campaign = try record(id).key
        let items = try store.deliveries(
            of: campaign, state: state, telephone: telephone, after: cursor ?? 0, limit: limit + 1)
        return .page(items, limit: limit, cursor: { Cursor.text(.deliveries, $0.device) }) { $0.delivery($1) }
    }

    func deliveries(_ query: inout Query) throws -> Response {
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
        let items = try store.deliveries(
            telephone: telephone, token: token.map(Self.stored), after: cursor, limit: limit + 1)
        return .page(items, limit: limit, cursor: { Cursor.text($0.position) }) { $0.delivery($1) }
    }

    /// iOS tokens are stored in lower case; an Android token is never all hex digits.
    private static func stored(_ token: String) -> String {
        token.utf8.allSatisfy(DeviceFields.isHexDigit) ? token.lowercased() : token
    }
}
