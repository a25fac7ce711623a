// SPDX-License-Identifier: Apache-2.0

/// The stored state of one component.
///
/// Its raw value is a short text for storages that keep texts: "3 1", or "3 1 unfinished".
public struct MigrationRecord: Hashable, Sendable, RawRepresentable {
    /// The version that the stored data has.
    public var version: Int
    /// The target version of the component's first run on this device.
    public var firstInstalledVersion: Int
    /// Whether the last run ended before its last operation.
    public var isUnfinished: Bool

    /// Makes a record; by default a finished one.
    public init(version: Int, firstInstalledVersion: Int, isUnfinished: Bool = false) {
        self.version = version
        self.firstInstalledVersion = firstInstalledVersion
        self.isUnfinished = isUnfinished
    }

    /// Reads a `rawValue`; nil for any other text, which then counts as nothing stored.
    public init?(rawValue: String) {
        let words = rawValue.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2 || (words.count == 3 && words[2] == "unfinished"),
            let version = Int(words[0]), let first = Int(words[1]), version >= 0, first >= 0
        else { return nil }
        self.init(version: version, firstInstalledVersion: first, isUnfinished: words.count == 3)
    }

    /// The record as a text.
    public var rawValue: String {
        "\(version) \(firstInstalledVersion)" + (isUnfinished ? " unfinished" : "")
    }
}
