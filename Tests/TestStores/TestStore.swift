// SPDX-License-Identifier: Apache-2.0
import Foundation
package import RelayEngine
package import RelayStore
import RelayStoreSQLite

/// The store that a test works on. Only the driver's own tests know which driver it is.
package protocol TestStore: RelayStore {
    /// What one query answers, as text.
    func inspect(_ query: String) throws -> [[String]]

    /// Runs a script: what another program, or a fault, would have done.
    func administer(_ script: String) throws
}

extension SQLiteStore: TestStore {}

/// Opens the store at a path, and makes it where there is none.
///
/// - Parameter release: what the release calls itself.
package func openStore(_ path: String, release: String = "unknown") throws -> any TestStore {
    if release == "unknown" { try NewStore.copy(to: path) }
    return try SQLiteStore(path: path, release: release)
}

/// An empty store of this release: made once in a process, for to bring one through all steps of the schema takes longer than most
/// tests.
package enum NewStore {
    private static let file = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relay-new-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "relay.db").path
        try SQLiteStore(path: path).close()
        return try Data(contentsOf: URL(filePath: path))
    }

    /// Where there is nothing yet.
    package static func copy(to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let file = try file.get()
        guard FileManager.default.createFile(atPath: path, contents: file, attributes: [.posixPermissions: 0o600])
        else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
        }
    }
}

/// Opens it for a simulation, which has one thread and a clock of its own.
///
/// - Parameters:
///   - ticks: read inside transactions.
///   - onEnter: called before each transaction and each look.
package func openSimulatedStore(
    _ path: String, release: String, clock: @escaping @Sendable () -> Timestamp,
    ticks: @escaping @Sendable () -> MonotonicTime, random: RandomSource, onEnter: @escaping @Sendable () -> Void
) throws -> any TestStore {
    var options = SQLiteStore.Options()
    (options.readers, options.copiesLogAside, options.watchesFiles) = (0, false, false)
    (options.clock, options.ticks, options.rest) = (clock, ticks, { _ in })
    (options.random, options.onEnter) = (random, onEnter)
    return try SQLiteStore(path: path, release: release, options: options)
}
