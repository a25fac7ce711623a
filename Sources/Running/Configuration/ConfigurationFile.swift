// SPDX-License-Identifier: Apache-2.0
import Signing
import WireFormat

/// The configuration as a JSON5 file (json5.org).
package struct ConfigurationFile: Sendable {
    package let path: String
    /// More bytes than any configuration has.
    static let largest = 4 << 20

    /// `--config`, else `UPGRADE_RELAY_CONFIG`, else the default.
    package static func located(option: String?, environment: [String: String]) -> ConfigurationFile {
        let variable = environment[RelayConfiguration.pathVariable].flatMap { $0.isEmpty ? nil : $0 }
        return ConfigurationFile(path: option ?? variable ?? RelayConfiguration.defaultPath)
    }

    /// - Throws: `ConfigurationError` with every fault at once.
    package func load() throws(ConfigurationError) -> RelayConfiguration {
        let bytes: [UInt8]
        do throws(FileProbe.Failure) {
            bytes = try FileProbe.read(path, limit: Self.largest)
        } catch {
            throw ConfigurationError(path: path, faults: [FieldFault("", "the file \(error)")])
        }
        return try Self.parse(bytes, path: path)
    }

    package static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> RelayConfiguration {
        let (tree, duplicates): (JSONValue, [FieldFault])
        do throws(FieldFault) {
            (tree, duplicates) = try JSON5Reader.read(bytes)
        } catch {
            throw ConfigurationError(path: path, faults: [error])
        }
        var (configuration, faults) = RelayConfiguration.read(tree)
        configuration.digest = Self.digest(tree)
        guard duplicates.isEmpty, faults.isEmpty else {
            throw ConfigurationError(path: path, faults: duplicates + faults)
        }
        return configuration
    }

    /// A digest of the parts that relays of one store must have in common; the rest, such as addresses, may differ.
    private static func digest(_ tree: JSONValue) -> String {
        let common = ["apps", "enforce", "notify", "webhooks"].map { tree.find([$0])?.inOrder ?? .null }
        return Hex.encode(Array(SHA256.digest(Array("\(common)".utf8)).prefix(6)))
    }
}

extension JSONValue {
    /// The value with the members of each object ordered by name.
    fileprivate var inOrder: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { JSONMember(name: $0.name, value: $0.value.inOrder) }.sorted { $0.name < $1.name })
        case .array(let values): .array(values.map(\.inOrder))
        default: self
        }
    }
}
