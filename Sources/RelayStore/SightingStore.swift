// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import UpgradeRules

/// A device that reported its version at login.
package struct Sighting: Hashable, Sendable {
    package var app: AppKey
    package var token: String
    package var version: Version
    /// The version of its system; nil: it did not say, and what is known of it stays.
    package var system: Version?
    /// The requirement that it was told of, where it was told that it must upgrade.
    package var toldAtLogin: Int64?
    /// When it logged in; nil: as it is stored. What the device has told since counts.
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
    ///   - system: the same.
    package init(_ login: Sighting, version: String?, system: String?, lastReport: Timestamp, now: Timestamp) {
        var differing: DeviceFieldSet = []
        if version != login.version.text { differing.insert(.version) }
        if let text = login.system?.text, system != text { differing.insert(.osVersion) }
        self.init(at: login.at, now: now, lastReport: lastReport, differing: differing)
    }

    /// - Parameters:
    ///   - version: the device's; nil: it has none that is a version.
    ///   - system: the device's, as the store has it.
    package func verdict(of login: Sighting, version: Version?, system: String?) -> Verdict {
        verdict { field in
            if field == .version { return version.map { login.version < $0 } ?? false }
            guard let new = login.system, let old = system.flatMap({ try? Version($0) }) else { return false }
            return new < old
        }
    }
}

/// Versions as devices were seen with them.
package protocol SightingStore: Sendable {
    /// Refreshes the versions of known devices, and notes in the campaign of that requirement who was told at login, each device
    /// once; unknown tokens are left alone. Who was told before it was seen with another version was told first.
    ///
    /// - Returns: how many of the tokens were known.
    @discardableResult
    func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int

    /// The versions that an app's devices were last seen with, those with the most devices first, at most a thousand
    /// spellings. Devices that were removed do not count. Costs as much as there are spellings, not devices.
    func seenVersions(of app: AppKey) throws -> SeenVersions

    /// The same for every app that has devices.
    func seenVersions() throws -> [AppKey: SeenVersions]

    /// Where an app's devices are, as far as they have told. Costs as much as there are countries, and a look for one that has not told.
    func seenCountries(of app: AppKey) throws -> AudienceCountries
}
