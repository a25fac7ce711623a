// SPDX-License-Identifier: Apache-2.0

/// The storage of components' versions.
///
/// Each platform chooses the place. An app on iOS uses `UserDefaults`:
/// ```swift
/// struct DefaultsStorage: MigrationStorage {
///     func record(of component: String) -> MigrationRecord? {
///         UserDefaults.standard.string(forKey: "migration.\(component)").flatMap(MigrationRecord.init(rawValue:))
///     }
///     func save(_ record: MigrationRecord, of component: String) {
///         UserDefaults.standard.set(record.rawValue, forKey: "migration.\(component)")
///     }
/// }
/// ```
/// A storage that has transactions runs each operation inside one, so that the operation's work and its record are kept
/// together or not at all.
public protocol MigrationStorage {
    /// The record of a component; nil when nothing is stored.
    func record(of component: String) throws -> MigrationRecord?

    /// Replaces the record of a component.
    func save(_ record: MigrationRecord, of component: String) throws

    /// Runs `body` so that all its changes are kept, or none where it throws, and no other writer comes in between.
    /// Default: just runs it.
    func atomically(_ component: String, _ body: () throws -> Void) throws
}

extension MigrationStorage {
    /// Runs `body` without a transaction.
    public func atomically(_ component: String, _ body: () throws -> Void) throws {
        try body()
    }
}

/// A storage in memory, which is lost when the process ends: for tests and previews.
public final class InMemoryMigrationStorage: MigrationStorage {
    private var records: [String: MigrationRecord]

    /// Begins with these records, by component.
    public init(_ records: [String: MigrationRecord] = [:]) {
        self.records = records
    }

    /// The record of a component; nil when nothing is stored.
    public func record(of component: String) -> MigrationRecord? {
        records[component]
    }

    /// Replaces the record of a component.
    public func save(_ record: MigrationRecord, of component: String) {
        records[component] = record
    }
}
