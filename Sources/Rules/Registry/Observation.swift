// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The source of an observation of a device.
package enum RegistrationSource: Sendable {
    /// The app itself, by `PUT` or `PATCH`: its device is registered now, and alive.
    case registration
    /// Records of earlier registrations: an import.
    case records
}

/// An observation of a device, without the texts of its fields: a store compares those itself, and reports which differ.
package struct Observation: Hashable, Sendable {
    /// Fields that the observation leaves out. A known device keeps them.
    package var leftOut: DeviceFieldSet
    /// The time of the registration; nil: not named.
    package var registeredAt: Timestamp?
    /// The time at which the push service declared the token dead; nil: not named.
    package var deadSince: Timestamp?
    /// The time at which the device was seen with this version; nil: not named.
    package var seenAt: Timestamp?

    package init(
        leftOut: DeviceFieldSet, registeredAt: Timestamp? = nil, deadSince: Timestamp? = nil, seenAt: Timestamp? = nil
    ) {
        self.leftOut = leftOut
        self.registeredAt = registeredAt
        self.deadSince = deadSince
        self.seenAt = seenAt
    }
}
