// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// What somebody says of one field of a device.
package enum FieldChange<Value: Hashable & Sendable>: Hashable, Sendable {
    /// Does not name it: it stays as it is.
    case keep
    /// nil: it is to be forgotten.
    case set(Value?)

    /// What a new device has of it.
    package var value: Value? {
        switch self {
        case .keep: nil
        case .set(let value): value
        }
    }
}

/// What an import or a PATCH says of a device: less than the whole. What it does not name stays as it is.
package struct DeviceChange: Hashable, Sendable {
    /// iOS tokens are stored in lower case.
    package var token: String
    package var telephone: FieldChange<String>
    package var version: FieldChange<Version>
    /// Forgotten, it is `production` again.
    package var environment: FieldChange<PushEnvironment>
    package var osVersion: FieldChange<Version>
    package var country: FieldChange<String>
    /// When the app registered the token; nil: not told. A later one than the store's replaces it, and revives a token that
    /// had died before.
    package var registeredAt: Timestamp?
    /// When the push service declared the token dead; nil: not told, which revives nobody. Counts where the token was not
    /// registered later.
    package var deadSince: Timestamp?
    /// When somebody saw the device with this version; nil: not told. A version that was seen before the device told another one is
    /// left out.
    package var seenAt: Timestamp?

    package init(
        token: String, telephone: FieldChange<String> = .keep, version: FieldChange<Version> = .keep,
        environment: FieldChange<PushEnvironment> = .keep, osVersion: FieldChange<Version> = .keep,
        country: FieldChange<String> = .keep,
        registeredAt: Timestamp? = nil, deadSince: Timestamp? = nil,
        seenAt: Timestamp? = nil
    ) {
        self.token = token
        self.telephone = telephone
        self.version = version
        self.environment = environment
        self.osVersion = osVersion
        self.country = country
        self.registeredAt = registeredAt
        self.deadSince = deadSince
        self.seenAt = seenAt
    }

    /// The whole of a device.
    package init(_ device: DeviceRegistration) {
        self.init(
            token: device.token, telephone: .set(device.telephone), version: .set(device.version),
            environment: .set(device.environment), osVersion: .set(device.osVersion),
            country: .set(device.country))
    }
}
