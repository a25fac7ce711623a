// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Which deliveries of a list are wanted; what is nil does not matter.
package struct DeliveryFilter: Hashable, Sendable {
    package var state: DeliveryState?
    /// The push service's reason, or a `FilterReason`, as it is listed.
    package var reason: String?
    /// The user whom the push was for.
    package var telephone: String?
    /// The device's, in each app that has it.
    package var token: String?

    package init(
        state: DeliveryState? = nil, reason: String? = nil, telephone: String? = nil, token: String? = nil
    ) {
        self.state = state
        self.reason = reason
        self.telephone = telephone
        self.token = token
    }

    /// Whether what became of a push is what is wanted; of whose it was nothing is said here.
    package func takes(_ state: DeliveryState, _ reason: String?) -> Bool {
        (self.state ?? state) == state && (self.reason ?? reason) == reason
    }
}

extension Ledger {
    package func deliveries(
        of campaign: CampaignKey, state: DeliveryState?, telephone: String?, after: Int64, limit: Int
    ) throws -> [Delivery] {
        try deliveries(of: campaign, DeliveryFilter(state: state, telephone: telephone), after: after, limit: limit)
    }
}
