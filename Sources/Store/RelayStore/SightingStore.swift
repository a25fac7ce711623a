// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import Requirements
package import UpgradeRules

/// A device that reported its version at login.
package struct Sighting: Hashable, Sendable {
    package var app: AppKey
    package var token: String
    package var version: Version
    /// The version of its system; nil: it did not report one, and the known one stays.
    package var system: Version?
    /// The requirement that it was notified of at login, where it must upgrade.
    package var toldAtLogin: Int64?
    /// When it logged in; nil: when it is stored. A lower version than one that the device has reported since is ignored.
    package var at: Timestamp?

    package init(
        app: AppKey, token: String, version: Version, system: Version? = nil, toldAtLogin: Int64? = nil,
        at: Timestamp? = nil
    ) {
        self.app = app
        self.token = token
        self.version = version
        self.system = system
        self.toldAtLogin = toldAtLogin
        self.at = at
    }
}

extension LoginRule {
    /// - Parameters:
    ///   - version: the device's, as the store has it.
    ///   - system: the device's, as the store has it.
    package init(_ login: Sighting, version: String?, system: String?, lastReport: Timestamp, now: Timestamp) {
        var differing: DeviceFieldSet = []
        if version != login.version.text { differing.insert(.version) }
        if let text = login.system?.text, system != text { differing.insert(.osVersion) }
        self.init(at: login.at, now: now, lastReport: lastReport, differing: differing)
    }

    /// - Parameters:
    ///   - version: the device's; nil: none, or no valid one.
    ///   - system: the device's, as the store has it.
    package func verdict(of login: Sighting, version: Version?, system: String?) -> Verdict {
        verdict { field in
            if field == .version { return version.map { login.version < $0 } ?? false }
            guard let new = login.system, let old = system.flatMap({ try? Version($0) }) else { return false }
            return new < old
        }
    }
}

/// The versions that devices were seen with.
package protocol SightingStore: Sendable {
    /// Updates the versions of known devices, and notes each device that was notified at login, once, in the campaign
    /// of the requirement. Unknown tokens are left alone. A device that was notified and upgraded at the same login
    /// counts as notified first.
    ///
    /// - Returns: how many of the tokens were known.
    @discardableResult
    func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int

    /// The versions that an app's devices were last seen with, those with the most devices first, at most a thousand
    /// spellings. Devices that were removed do not count. The cost grows with the number of spellings, not with that of
    /// devices.
    func seenVersions(of app: AppKey) throws -> SeenVersions

    /// The same for every app that has devices.
    func seenVersions() throws -> [AppKey: SeenVersions]

    /// The countries of an app's devices, as far as they are known. The cost grows with the number of countries, plus a
    /// look for a device without one.
    func seenCountries(of app: AppKey) throws -> AudienceCountries
}
