// SPDX-License-Identifier: Apache-2.0

extension KnownHeader {
    static let id = KnownHeader("apns-id", own: 0)
    static let topic = KnownHeader("apns-topic", own: 1)
    static let pushType = KnownHeader("apns-push-type", own: 2)
    static let expiration = KnownHeader("apns-expiration", own: 3)
    static let priority = KnownHeader("apns-priority", own: 4)
    static let collapseID = KnownHeader("apns-collapse-id", own: 5)

    static let ofAPNs: [KnownHeader] = [.id, .topic, .pushType, .expiration, .priority, .collapseID]
}

extension RequestHeaders {
    /// The device token: the path after `/3/device/`; nil for another path.
    package var deviceToken: ArraySlice<UInt8>? {
        guard let path = self[.path], path.prefix(Self.prefix.count) == Self.prefix else { return nil }
        return path.dropFirst(Self.prefix.count)
    }

    private static let prefix = Array("/3/device/".utf8)[...]
}
