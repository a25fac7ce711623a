// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import RelayEngine
package import RelayStore
package import RelayStorePostgres
import RelayStoreSQLite

/// The store that a test works on. Only the driver's own tests know which driver it is.
package protocol TestStore: RelayStore {
    /// Returns the rows of one query, as text.
    func inspect(_ query: String) throws -> [[String]]

    /// Runs a script: does what another program, or a fault, would have done.
    func administer(_ script: String) throws
}

extension SQLiteStore: TestStore {}
extension PostgresStore: TestStore {}

/// Opens the store at a path, and makes it if there is none.
///
/// - Parameters:
///   - release: the release's name.
///   - onEnter: called before each transaction and each look.
package func openStore(
    _ path: String, release: String = "unknown", onEnter: (@Sendable () -> Void)? = nil
) throws -> any TestStore {
    if release == "unknown" { try NewStore.copy(to: path) }
    var options = SQLiteStore.Options()
    options.onEnter = onEnter
    return try SQLiteStore(path: path, release: release, options: options)
}

/// An empty store of this release. It is made once in a process, because all steps of the schema take longer than most tests.
package enum NewStore {
    private static let file = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relay-new-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "relay.db").path
        try SQLiteStore(path: path).close()
        return try Data(contentsOf: URL(filePath: path))
    }

    /// Copies the empty store to `path`, unless there is a file already.
    package static func copy(to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let file = try file.get()
        guard FileManager.default.createFile(atPath: path, contents: file, attributes: [.posixPermissions: 0o600])
        else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
        }
    }
}
