// SPDX-License-Identifier: Apache-2.0
import Signing
package import WireFormat

/// App Store Connect's webhook notifications (developer.apple.com, "Configuring and receiving webhook notifications";
/// PROTOCOLS 3.3).
package enum AppStoreConnectEvent {
    /// The owner subscribes by one spelling, and the event may come in the other.
    private static let types = [
        "appStoreVersionAppVersionStateUpdated", "APP_STORE_VERSION_APP_VERSION_STATE_UPDATED",
    ]
    /// The present name, and the older API field's.
    private static let live = ["READY_FOR_DISTRIBUTION", "READY_FOR_SALE"]

    /// The event's id, which a redelivery keeps, and its news.
    package static func read(_ bytes: [UInt8]) throws(BodyError) -> (id: String, news: ReleaseVerdict) {
        let body = try EventBody(bytes)
        let id = try body.text("data", "id")
        guard !id.isEmpty, id.utf8.count <= WebhookVerifier.maximumID else {
            throw .fields([
                FieldFault("data.id", "1 to \(WebhookVerifier.maximumID) characters are needed")
            ])
        }
        return (id, try news(body))
    }

    private static func news(_ body: EventBody) throws(BodyError) -> ReleaseVerdict {
        let type = try body.text("data", "type")
        // The test button's ping has been seen in both shapes.
        if type == "webhookPingCreated" || body.find("data", "attributes", "ping") == .bool(true) { return .ping }
        guard types.contains(type) else {
            return .ignored("the event is \(JSONValue.string(type).sight); only \"\(types[0])\" announces a version")
        }
        if let other = AnswerField.appleInstance.fault(
            body.find("data", "relationships", "instance", "data", "type"), wanted: ["appStoreVersions"])
        {
            return .ignored(other)
        }
        let state = try body.text("data", "attributes", "newValue")
        guard live.contains(state) else {
            return .ignored("the version's state is \(JSONValue.string(state).sight); only \"\(live[0])\" means out")
        }
        return .askTheStore
    }
}
