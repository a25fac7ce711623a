// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Terminal

/// The configuration as a JSON5 file (json5.org), read with Foundation's decoder.
package struct ConfigurationFile: Sendable {
    package let path: String

    /// How commands name it.
    package static let option = OptionSpec.value(
        "config", "FILE", "the configuration",
        default: "$\(RelayConfiguration.pathVariable), else \(RelayConfiguration.defaultPath)")

    /// `--config`, else `UPGRADE_RELAY_CONFIG`, else the default.
    package static func located(option: String?, environment: [String: String]) -> ConfigurationFile {
        let variable = environment[RelayConfiguration.pathVariable].flatMap { $0.isEmpty ? nil : $0 }
        return ConfigurationFile(path: option ?? variable ?? RelayConfiguration.defaultPath)
    }

    /// - Throws: `ConfigurationError` with every fault at once.
    package func load() throws(ConfigurationError) -> RelayConfiguration {
        switch FileProbe.read(path, limit: 4 << 20) {
        case .failure(let failure):
            let hint = failure.hint.map { "; \($0)" } ?? ""
            throw ConfigurationError(path: path, faults: [ConfigurationFault("", "the file \(failure.problem)\(hint)")])
        case .success(let bytes):
            return try Self.parse(bytes, path: path)
        }
    }

    package static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> RelayConfiguration {
        let duplicates: [ConfigurationFault]
        do throws(ConfigurationFault) {
            duplicates = try scan(bytes)
        } catch {
            throw ConfigurationError(path: path, faults: [error])
        }
        let tree: JSONTree
        do {
            tree = try json5(bytes)
        } catch {
            throw ConfigurationError(path: path, faults: [ConfigurationFault("", "not JSON5: \(Self.reason(error))")])
        }
        let (configuration, faults) = RelayConfiguration.read(tree)
        let all = duplicates + faults
        guard all.isEmpty else { throw ConfigurationError(path: path, faults: all) }
        return configuration
    }

    /// Finds what Foundation's reader must not be given: it does not say where a fault is, and it ends the process at a
    /// number such as 0X0X and at a key without quotes that is not Unicode.
    ///
    /// - Returns: the keys that stand twice, which it takes without a word.
    package static func scan(_ bytes: [UInt8]) throws(ConfigurationFault) -> [ConfigurationFault] {
        // json5.org: a text is Unicode.
        if let line = lineWithoutUTF8(bytes) {
            throw ConfigurationFault("", "not JSON5: line \(line) holds bytes that are not UTF-8")
        }
        var scan = JSON5Scan(bytes)
        do throws(JSON5Scan.Fault) {
            try scan.run()
        } catch {
            throw ConfigurationFault("", "not JSON5: \(error)")
        }
        return scan.duplicates.map { ConfigurationFault("", $0.description) }
    }

    /// The first line, from 1, that is not UTF-8.
    private static func lineWithoutUTF8(_ bytes: [UInt8]) -> Int? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
    }

    package static func json5(_ bytes: [UInt8]) throws -> JSONTree {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        return try decoder.decode(JSONTree.self, from: Data(bytes))
    }

    /// Foundation's own words, which may hold keys of the file.
    package static func reason(_ error: any Error) -> String {
        let context: DecodingError.Context
        switch error {
        case DecodingError.dataCorrupted(let found), DecodingError.typeMismatch(_, let found),
            DecodingError.valueNotFound(_, let found), DecodingError.keyNotFound(_, let found):
            context = found
        default: return DisplayWidth.sanitised("\(error)")
        }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        let words = context.debugDescription
        return DisplayWidth.sanitised(place.isEmpty ? words : "\(place): \(words)")
    }
}
