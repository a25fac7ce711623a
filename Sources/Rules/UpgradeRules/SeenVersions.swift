// SPDX-License-Identifier: Apache-2.0

/// A version that devices were seen with, as they spell it.
public struct SeenVersion: Hashable, Sendable {
    /// As the devices send it: "1.01" and "1.1" count as two versions.
    public var version: Version
    /// The number of these devices.
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
    /// The number of devices whose version is unknown.
    public var unknown: Int64
    /// The known OS versions of devices, each spelling once; on Android API levels.
    public var systems: [Version] = []

    /// Empty unless given.
    public init(versions: [SeenVersion] = [], unknown: Int64 = 0) {
        self.versions = versions
        self.unknown = unknown
    }

    /// Whether no device is known.
    public var isEmpty: Bool { versions.isEmpty && unknown == 0 }
}
