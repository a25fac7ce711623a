// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// How many devices of a campaign got one outcome in one stretch of time.
package struct OutcomeCount: Hashable, Sendable {
    /// The beginning of the stretch.
    package var from: Timestamp
    package var state: DeliveryState
    package var devices: Int64

    package init(from: Timestamp, state: DeliveryState, devices: Int64) {
        (self.from, self.state, self.devices) = (from, state, devices)
    }
}
