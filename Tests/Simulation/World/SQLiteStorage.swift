// SPDX-License-Identifier: Apache-2.0
package import FaultInjection
import Foundation
package import RelayEngine
import RelayStore
package import TestStores

/// A file in memory where the system has that, behind a file system that fails on demand.
package final class SQLiteStorage: SimulatedStorage {
    private let folder: URL
    private let faults: StoreFaults
    /// Whether SQLite keeps its compiled schema and statements from one life of a relay to the next.
    private let keepsConnections: Bool
    /// An empty store: making one takes longer than a short history.
    private let template: Data

    private var copies: SQLiteCopies?

    private var path: String { folder.appending(path: "relay.db").path }

    package init(keepsConnections: Bool = true) throws {
        self.keepsConnections = keepsConnections
        let memory = URL(filePath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        folder = base.appending(path: "relay-simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "relay.db").path
        faults = StoreFaults(path: path, isOneProcess: true)
        try openStore(path, release: "simulation").close()
        template = try Data(contentsOf: URL(filePath: path))
        faults.noteChanges(Self.campaignTables)
        faults.countChanges(["device", "app", "version_seen"])
    }

    /// The tables that a campaign's record is read from. `app` is among them: its rows also decide whether a device is counted.
    private static let campaignTables: [(name: String, number: StoreFaults.NumberPlace)] = [
        ("campaign", .row), ("campaign_run", .row), ("campaign_reason", .column(0)), ("campaign_wave", .column(0)),
        ("campaign_round", .column(0)),
        ("shard", .column(0)), ("delivery", .column(0)), ("app", .any), ("requirement", .any),
        ("requirement_canary", .any), ("requirement_event", .any),
    ]

    deinit {
        copies = nil
        faults.keepConnections(false)
        faults.forgetChanges()
        try? FileManager.default.removeItem(at: folder)
    }

    package let name = "sqlite"
    package let makesBackups = true

    package func clear() throws {
        copies = nil
        faults.disarm()
        let log = folder.appending(path: "relay.db-wal")
        try? FileManager.default.removeItem(at: folder.appending(path: "relay.db.snapshot"))
        if faults.exchange() {
            // The same files: connections to them stay open.
            try Data().write(to: log)
        } else {
            faults.keepConnections(false)
            for file in [log, folder.appending(path: "relay.db-shm")] { try? FileManager.default.removeItem(at: file) }
        }
        try template.write(to: URL(filePath: path))
        if keepsConnections { faults.keepConnections(true) }
    }
    package func open(_ setting: SimulatedSetting) throws -> any TestStore {
        try openSimulatedStore(path, release: "simulation", setting)
    }

    package func otherProgram() throws -> any OtherProgram { try SQLiteProgram(path: path) }

    package func copy(to number: Int) throws { try storeCopies().copy(to: number) }

    package func putBack(from number: Int) throws { try storeCopies().putBack(from: number) }

    /// In memory for as long as this history lasts.
    private func storeCopies() throws -> SQLiteCopies {
        let those = try copies ?? SQLiteCopies(path: path)
        copies = those
        return those
    }

    package func set(time: Timestamp?) { StoreFaults.setTime(milliseconds: time?.milliseconds ?? 0) }

    package func arm(_ kind: StoreFaults.Kind, first: Int) { faults.arm(kind, first: first) }
    package func disarm() { faults.disarm() }
    package var failures: Int { faults.failures }
    package var writes: Int { faults.writes }
    package func changes() -> [Int64]? { faults.changes() }
    package var registryChanges: Int64? { faults.countedChanges }

    /// Every column of the store that may hold a text.
    private var textColumns: [(table: String, column: String)] = []

    package func places(of text: String, _ store: any TestStore) throws -> String {
        if textColumns.isEmpty {
            textColumns = try store.inspect(
                """
                SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
                WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND c.type NOT LIKE 'INT%' ORDER BY 1, 2
                """
            ).map { ($0[0], $0[1]) }
        }
        return textColumns.map { table, column in
            """
            SELECT '\(table).\(column)' WHERE EXISTS (SELECT 1 FROM "\(table)" WHERE instr(CAST("\(column)" AS BLOB), CAST('\(text)' AS BLOB)) > 0)
            """
        }.joined(separator: " UNION ALL ")
    }

    package func plain(_ text: String) -> String { text.replacing(path, with: "the store") }
}
