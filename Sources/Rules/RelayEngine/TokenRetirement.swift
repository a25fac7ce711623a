// SPDX-License-Identifier: Apache-2.0

/// A token that the push service called dead, with the time of its death. It is retired only if it was not registered again
/// after that time (PROTOCOLS 1.5).
package struct TokenRetirement: Hashable, Sendable {
    package var device: Int64
    /// The timestamp in the 410 of APNs; for a service that sends none, the time of its answer.
    package var deadSince: Timestamp
    /// When the token was registered, as read for the push. A token that was registered again since then is kept, whatever the
    /// push service's clock shows.
    package var registeredAt: Timestamp

    package init(device: Int64, deadSince: Timestamp, registeredAt: Timestamp) {
        self.device = device
        self.deadSince = deadSince
        self.registeredAt = registeredAt
    }
}
