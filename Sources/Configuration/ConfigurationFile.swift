// SPDX-License-Identifier: Apache-2.0
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
        let (configuration, faults) = RelayConfiguration.read(tree)
        guard duplicates.isEmpty, faults.isEmpty else {
            throw ConfigurationError(path: path, faults: duplicates + faults)
        }
        return configuration
    }
}
