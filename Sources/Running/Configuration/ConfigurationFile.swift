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

    /// Reads the file and those of `config.d` beside it.
    ///
    /// - Throws: `ConfigurationError` with every fault at once.
    package func load() throws(ConfigurationError) -> RelayConfiguration { try loadWhole().configuration }

    /// The same, with the files that were read and the keys in use.
    package func loadWhole() throws(ConfigurationError) -> EffectiveConfiguration {
        var files = [path]
        var parts = ConfigurationParts(of: path)
        do throws(FieldFault) {
            files += try ConfigurationParts.files(beside: path)
        } catch {
            throw ConfigurationError(path: path, faults: [error])
        }
        for file in files {
            do throws(FileProbe.Failure) {
                parts.take(try FileProbe.read(file, limit: Self.largest), from: file)
            } catch {
                let name = file == path ? "the file" : file
                throw ConfigurationError(path: path, faults: [FieldFault("", "\(name) \(error)")])
            }
        }
        var whole = try Self.whole(parts, path: path)
        whole.files = Array(files.dropFirst())
        return whole
    }

    /// Reads the text of one file.
    package static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> RelayConfiguration {
        var parts = ConfigurationParts(of: path)
        parts.take(bytes, from: path)
        return try whole(parts, path: path).configuration
    }

    private static func whole(
        _ parts: ConfigurationParts, path: String
    ) throws(ConfigurationError) -> EffectiveConfiguration {
        var (configuration, faults, settings) = RelayConfiguration.read(parts.tree)
        // The keys of a file that cannot be read would only seem to be missing.
        if parts.hasUnreadFile { faults = [] }
        guard parts.faults.isEmpty, faults.isEmpty else {
            throw ConfigurationError(path: path, faults: parts.faults + faults.map(parts.located))
        }
        configuration.digest = digest(parts.tree)
        for index in settings.indices where !settings[index].isDefault {
            settings[index].file = parts.origin(of: settings[index].path) ?? path
        }
        return EffectiveConfiguration(configuration: configuration, settings: settings)
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
