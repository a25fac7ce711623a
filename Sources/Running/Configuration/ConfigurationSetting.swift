// SPDX-License-Identifier: Apache-2.0
import VersionSources
package import WireFormat

/// A key of the configuration with the value in use. Secrets are not among them: only the places where they are kept.
package struct ConfigurationSetting: Sendable, Hashable {
    /// The key as faults name it: `apps["com.example.app"].ios.push.ttl`.
    package let path: String
    /// The value, of an address without its user and its query.
    package let value: JSONValue
    /// Whether no file sets it.
    package let isDefault: Bool
    /// The file that sets it; nil: none.
    package var file: String?
}

/// A configuration as it was read.
package struct EffectiveConfiguration: Sendable {
    package let configuration: RelayConfiguration
    /// The paths of the files of `config.d` that are part of it.
    package var files: [String] = []
    /// The keys that are set or have a default, in the order of reading.
    package let settings: [ConfigurationSetting]
}

/// The part of a value that may be printed.
enum ShownPart {
    /// All but the user and the query of each address in it.
    case allButSecrets
    /// The scheme and the host of an address: its path may be a secret, too.
    case origin
    /// Nothing: the value may have a password in it, in a form that is not read here.
    case nothing

    func part(of value: JSONValue) -> JSONValue {
        switch self {
        case .allButSecrets: value.withoutSecrets
        case .origin: value.string.map { .string(ShownAddress.origin($0) + "/…") } ?? value
        case .nothing: .string("…")
        }
    }
}

extension JSONValue {
    fileprivate var withoutSecrets: JSONValue {
        switch self {
        case .string(let text): .string(Self.shown(text))
        case .array(let values): .array(values.map(\.withoutSecrets))
        case .object(let members):
            .object(members.map { JSONMember(name: $0.name, value: $0.value.withoutSecrets) })
        default: self
        }
    }
}
