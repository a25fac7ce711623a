// SPDX-License-Identifier: Apache-2.0

/// A version that devices were seen with, as they spell it.
public struct SeenVersion: Hashable, Sendable {
    /// As the devices send it: "1.01" and "1.1" are two.
    public var version: Version
    /// How many of them.
    public var devices: Int64

    /// A version and its devices.
    public init(version: Version, devices: Int64) {
        self.version = version
        self.devices = devices
    }
}

/// The versions that the devices of one app on one platform were last seen with.
public struct SeenVersions: Hashable, Sendable {
    /// In no particular order, each spelling once.
    public var versions: [SeenVersion]
    /// Devices whose version nobody knows.
    public var unknown: Int64
    /// The systems that are known of devices, each spelling once; on Android API levels.
    public var systems: [Version] = []

    /// Nothing was seen unless it is given.
    public init(versions: [SeenVersion] = [], unknown: Int64 = 0) {
        self.versions = versions
        self.unknown = unknown
    }

    /// Whether nothing is known of any device.
    public var isEmpty: Bool { versions.isEmpty && unknown == 0 }
}
