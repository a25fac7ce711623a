// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import RelayStore
import TestStores

/// Where a simulated relay keeps its store: a file in memory where the system has that, behind a file system that fails when told
/// to. One for each thread that simulates; it is used again for world after world.
package final class StoreFolder {
    private let folder: URL
    let faults: StoreFaults
    /// Whether SQLite keeps what it has made of the schema and the statements from one life of a relay to the next.
    private let keepsConnections: Bool
    /// A store in which nothing is yet: making one takes longer than a short history.
    private let template: Data

    var path: String { folder.appending(path: "relay.db").path }

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
    }

    /// What a campaign's record is read from. Whether a device is counted its app's row says, too.
    private static let campaignTables: [(name: String, number: StoreFaults.NumberPlace)] = [
        ("campaign", .row), ("campaign_run", .row), ("campaign_reason", .column(0)), ("campaign_wave", .column(0)),
        ("campaign_round", .column(0)),
        ("shard", .column(0)), ("delivery", .column(0)), ("app", .any), ("requirement", .any),
        ("requirement_canary", .any), ("requirement_event", .any),
    ]

    deinit {
        faults.keepConnections(false)
        faults.forgetChanges()
        try? FileManager.default.removeItem(at: folder)
    }

    /// An empty store.
    func clear() throws {
        faults.disarm()
        let log = folder.appending(path: "relay.db-wal")
        try? FileManager.default.removeItem(at: folder.appending(path: "relay.db.snapshot"))
        if faults.exchange() {
            // The same files: connections stay open to them.
            try Data().write(to: log)
        } else {
            faults.keepConnections(false)
            for file in [log, folder.appending(path: "relay.db-shm")] { try? FileManager.default.removeItem(at: file) }
        }
        try template.write(to: URL(filePath: path))
        if keepsConnections { faults.keepConnections(true) }
    }
}
