// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The numbers of devices that one transaction changes: how many an app has, and how many run each version. They are written
/// at its end; each driver keeps them in its own place.
package protocol RegistryTallying {
    associatedtype Connection: SQLConnection

    init()

    /// An app has more registered devices; below 0: fewer.
    mutating func gained(_ devices: Int64, app: Int64)
    /// A device runs a version; nil: an unknown one.
    mutating func came(_ version: Version?, app: Int64)
    /// A device runs a version no longer; nil: an unknown one.
    mutating func left(_ version: Version?, app: Int64)
    /// More devices of a campaign were notified at login.
    mutating func told(_ devices: Int64, of campaign: Int64)
    mutating func store(_ connection: Connection) throws
}

/// Devices that come up to a campaign's requirement in one transaction: each counts once in each campaign.
package protocol UpgradeTallying {
    associatedtype Connection: SQLConnection

    /// The effort so far, in the cost of registering a device.
    var work: Int { get }

    /// A device was seen with a version.
    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ connection: Connection
    ) throws
    func store(_ connection: Connection) throws
}
