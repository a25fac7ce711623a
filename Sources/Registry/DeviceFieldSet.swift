// SPDX-License-Identifier: Apache-2.0

/// Fields of a device that an observation may name and a store keeps, beside its token and its times.
package struct DeviceFieldSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let telephone = DeviceFieldSet(rawValue: 1)
    /// The version of the app.
    package static let version = DeviceFieldSet(rawValue: 2)
    package static let environment = DeviceFieldSet(rawValue: 4)
    /// The version of the device's system.
    package static let system = DeviceFieldSet(rawValue: 8)
    package static let country = DeviceFieldSet(rawValue: 16)

    /// Fields that the device itself reports, so that its word may be newer than records.
    static let reported: DeviceFieldSet = [.version, .system, .country]
}
