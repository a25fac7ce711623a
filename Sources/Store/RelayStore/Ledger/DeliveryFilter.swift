// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// Which deliveries of a list are wanted; a nil field does not filter.
package struct DeliveryFilter: Hashable, Sendable {
    package var state: DeliveryState?
    /// The push service's reason, or a `FilterReason`, as it is listed.
    package var reason: String?
    /// The user whom the push was for.
    package var telephone: String?
    /// The device's token, in each app that has it.
    package var token: String?

    package init(
        state: DeliveryState? = nil, reason: String? = nil, telephone: String? = nil, token: String? = nil
    ) {
        self.state = state
        self.reason = reason
        self.telephone = telephone
        self.token = token
    }

    /// Whether the outcome of a push passes the filter. The user and the device are not checked here.
    package func takes(_ state: DeliveryState, _ reason: String?) -> Bool {
        (self.state ?? state) == state && (self.reason ?? reason) == reason
    }
}

/// A part of a campaign's deliveries.
package struct DeliveryPage: Hashable, Sendable {
    package var items: [Delivery]
    /// The device behind which the list goes on; nil at its end.
    package var next: Int64?

    package init(items: [Delivery] = [], next: Int64? = nil) {
        self.items = items
        self.next = next
    }
}

extension Ledger {
    /// The deliveries behind `after`, up to `limit`, read in as many pages as that takes.
    package func deliveries(
        of campaign: CampaignKey, _ filter: DeliveryFilter, after: Int64, limit: Int
    ) throws -> [Delivery] {
        var page = DeliveryPage(next: after)
        while let start = page.next, page.items.count < limit {
            let more = try deliveryPage(of: campaign, filter, after: start, limit: limit - page.items.count)
            page = DeliveryPage(items: page.items + more.items, next: more.next)
        }
        return page.items
    }
}
