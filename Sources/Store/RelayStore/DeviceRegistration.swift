// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import Requirements
package import UpgradeRules
package import WireFormat

/// A device as a client of the registry gives it.
package struct DeviceRegistration: Hashable, Sendable {
    package var app: AppKey
    /// The push token. Those of APNs are stored in lower case: hex digits mean the same in both.
    package var token: String
    /// The logged-in user's telephone, literally as the app holds it; nil without a login.
    package var telephone: String?
    /// The app's version as last seen; nil when unknown.
    package var version: Version?
    package var environment: Channel.Environment
    /// The version of the phone's system, on Android its API level; nil when unknown.
    package var osVersion: Version?
    /// The country of its user's store: two upper-case letters (ISO 3166-1 alpha-2); nil when unknown.
    package var country: String?

    package init(
        app: AppKey, token: String, telephone: String?, version: Version?,
        environment: Channel.Environment = .production,
        osVersion: Version? = nil, country: String? = nil
    ) {
        self.app = app
        self.token = token
        self.telephone = telephone
        self.version = version
        self.environment = environment
        self.osVersion = osVersion
        self.country = country
    }

    /// The channel of its pushes. The form of the token determines the provider.
    package var channel: Channel {
        Channel(ProviderName.of(token: token, on: app.platform), environment, on: app.platform)
    }

    /// Where its user is, as far as that is known.
    package var audience: AudienceCountries {
        AudienceCountries(known: Set([country].compactMap(\.self)), hasUnknown: country == nil)
    }

    /// A device that is registered as a whole: a field that is left out gets the value of a new device.
    package init(_ app: AppKey, _ device: DeviceChange) {
        self.init(
            app: app, token: device.token, telephone: device.telephone.value, version: device.version.value,
            environment: device.environment.value ?? .production, osVersion: device.osVersion.value,
            country: device.country.value)
    }
}

/// A partial change of a device, by an import or a PATCH. A field that it does not name stays as it is.
package struct DeviceChange: Hashable, Sendable {
    /// Those of APNs are stored in lower case.
    package var token: String
    package var telephone: FieldChange<String>
    package var version: FieldChange<Version>
    /// `.set(nil)` makes it `production` again.
    package var environment: FieldChange<Channel.Environment>
    package var osVersion: FieldChange<Version>
    package var country: FieldChange<String>
    /// When the app registered the token; nil: not named. A time later than the stored one replaces it, and revives a
    /// token that had died before that time.
    package var registeredAt: Timestamp?
    /// When the push service declared the token dead; nil: not named, which revives no token. Counts only if the token
    /// was not registered later.
    package var deadSince: Timestamp?
    /// When the device was seen with this version; nil: not named. A version that was seen before the device last
    /// reported one is ignored.
    package var seenAt: Timestamp?

    package init(
        token: String, telephone: FieldChange<String> = .keep, version: FieldChange<Version> = .keep,
        environment: FieldChange<Channel.Environment> = .keep, osVersion: FieldChange<Version> = .keep,
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

    /// A change that sets every field of a device.
    package init(_ device: DeviceRegistration) {
        self.init(
            token: device.token, telephone: .set(device.telephone), version: .set(device.version),
            environment: .set(device.environment), osVersion: .set(device.osVersion),
            country: .set(device.country))
    }
}

// MARK: By field, for those that walk the table

extension Schema {
    package static let environment = words(Channel.Environment.allCases.map(\.name))
}

extension DeviceField {
    /// The schema of its values in answers, for a field that has a column.
    package var schema: Schema {
        switch self {
        case .version, .osVersion: .version.orNull
        case .environment: .environment
        case .country: Schema.text.matching("^[A-Z]{2}$").orNull
        default: .text.orNull
        }
    }

    /// Its member in a client's body; only the token's is required.
    package var property: Schema.Property {
        let sent: Schema =
            switch self {
            case .token: .token
            case .telephone: .telephone.orNull
            case .version, .osVersion: .version.orNull
            case .environment: Schema.environment.orNull
            case .country: Schema.text.matching("^[A-Za-z]{2}$").orNull
            case .platform: Schema.words(Platform.self).orNull
            case .registeredAt, .deadSince, .seenAt: .anyInstant.orNull
            case .app: .text.orNull
            }
        return Schema.Property(name, sent.described(sentNote), isRequired: self == .token)
    }

    /// Its description in answers.
    package var note: String? {
        switch self {
        case .environment: "The push service's environment that the token belongs to."
        case .osVersion:
            "The version of the phone's system, such as \"17.1\"; on Android its API level, such as \"34\". null: not known."
        case .country:
            "The country of the user's store: two letters (ISO 3166-1 alpha-2), kept in upper case. null: not known."
        default: nil
        }
    }

    /// Its description in clients' bodies.
    private var sentNote: String? {
        switch self {
        case .telephone: "The logged-in user's, literally; null: no user is logged in."
        case .registeredAt:
            "When the app registered the token. If it is later than the stored time, it replaces that, and revives a token that had died before. A future time counts as now. If null or left out, a known device's stays, and a new one's is now."
        case .deadSince:
            "When the push service declared the token dead, as in the export. It counts if the token was not registered later. If null or left out, it revives no token."
        case .seenAt:
            "When the device was seen with this version. A future time counts as now. The later one of this and the device's own report wins."
        default: note
        }
    }
}

extension DeviceRegistration {
    /// The value of a field as text; nil for the times, which belong to a `DeviceRecord`.
    package subscript(field: DeviceField) -> String? {
        switch field {
        case .app: app.app
        case .platform: app.platform.rawValue
        case .token: token
        case .telephone: telephone
        case .version: version?.text
        case .environment: environment.name
        case .osVersion: osVersion?.text
        case .country: country
        case .registeredAt, .deadSince, .seenAt: nil
        }
    }

    /// Sets a field from the text that a store keeps. Ignores the key fields, the environment and the times.
    package mutating func take(_ text: String?, as field: DeviceField) {
        switch field {
        case .telephone: telephone = text
        case .version: version = text.flatMap { try? Version($0) }
        case .osVersion: osVersion = text.flatMap { try? Version($0) }
        case .country: country = text
        case .app, .platform, .token, .environment, .registeredAt, .deadSince, .seenAt: break
        }
    }
}

extension DeviceChange {
    /// The change of a field as text; `.keep` for the key fields, the environment and the times.
    package subscript(text field: DeviceField) -> FieldChange<String> {
        get {
            switch field {
            case .telephone: telephone
            case .version: version.map(\.text)
            case .osVersion: osVersion.map(\.text)
            case .country: country
            case .app, .platform, .token, .environment, .registeredAt, .deadSince, .seenAt: .keep
            }
        }
        set {
            switch field {
            case .telephone: telephone = newValue
            case .version: version = newValue.map { try? Version($0) }
            case .osVersion: osVersion = newValue.map { try? Version($0) }
            case .country: country = newValue
            case .app, .platform, .token, .environment, .registeredAt, .deadSince, .seenAt: break
            }
        }
    }
}
