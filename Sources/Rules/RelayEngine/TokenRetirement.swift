// SPDX-License-Identifier: Apache-2.0

/// A token that the push service declared dead at a moment (a 410). It is retired only if it was not registered again
/// later than that (PROTOCOLS 1.5).
package struct TokenRetirement: Hashable, Sendable {
    package var device: Int64
    /// The 410's own timestamp.
    package var deadSince: Timestamp
    /// When the token that was pushed to had been registered. One that was registered again since then is kept, whatever the
    /// push service's clock shows.
    package var registeredAt: Timestamp

    package init(device: Int64, deadSince: Timestamp, registeredAt: Timestamp) {
        self.device = device
        self.deadSince = deadSince
        self.registeredAt = registeredAt
    }
}
