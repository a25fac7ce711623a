// SPDX-License-Identifier: Apache-2.0

/// Fields of a device that an observation may name and a store keeps, beside its token and its times.
///
/// Inlinable, for stores compare the fields of each row of an import.
package struct DeviceFieldSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var telephone: DeviceFieldSet { DeviceFieldSet(rawValue: 1) }
    /// The version of the app.
    @inlinable package static var version: DeviceFieldSet { DeviceFieldSet(rawValue: 2) }
    @inlinable package static var environment: DeviceFieldSet { DeviceFieldSet(rawValue: 4) }
    /// The version of the device's system.
    @inlinable package static var system: DeviceFieldSet { DeviceFieldSet(rawValue: 8) }
    @inlinable package static var country: DeviceFieldSet { DeviceFieldSet(rawValue: 16) }
    /// Fields that the device itself reports, so that its word may be newer than records.
    @inlinable package static var reported: DeviceFieldSet { DeviceFieldSet(rawValue: 2 | 8 | 16) }
}
