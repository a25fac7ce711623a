// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import RelayStoreSQLite

/// Where a simulated relay keeps its store: a file in memory where the system has that, behind a file system that fails when told
/// to. One for each thread that simulates; it is used again for world after world.
package final class StoreFolder {
    private let folder: URL
    let faults: StoreFaults
    /// A store in which nothing is yet: making one takes longer than a short history.
    private let template: Data

    var path: String { folder.appending(path: "relay.db").path }

    package init() throws {
        let memory = URL(filePath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        folder = base.appending(path: "relay-simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "relay.db").path
        faults = StoreFaults(path: path, isOneProcess: true)
        try SQLiteStore(path: path, release: "simulation").close()
        template = try Data(contentsOf: URL(filePath: path))
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// An empty store.
    func clear() throws {
        faults.disarm()
        for name in ["relay.db-wal", "relay.db-shm", "relay.db.snapshot"] {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        try template.write(to: URL(filePath: path))
    }
}
