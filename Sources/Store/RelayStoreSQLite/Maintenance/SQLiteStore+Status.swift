// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
import RelayEngine
package import RelayStore
import StoreSQL

extension SQLiteStore {
    package func status() throws -> StoreStatus {
        try read("reading the store's status") { connection in try Self.status(connection, path: path) }
    }

    /// The status of a file that no daemon has open: reads only, and leaves the file as it is.
    ///
    /// - Throws: `StoreError`: `.tooNew`, or `.failed` where there is no store at `path` or it cannot be read.
    package static func status(ofFile path: String) throws -> StoreStatus {
        try withFile(path) { connection in try status(connection, path: path) }
    }

    /// Lends a connection to a file for reading only.
    static func withFile<R>(_ path: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        guard let size = fileSize(path) else {
            throw StoreError(
                .failed, context: "there is no store at \(path), or it is not yours to read",
                hint: "\"upgrade-relay serve\" makes it; reading it needs the daemon's user, or sudo")
        }
        guard size > 0 else {
            throw StoreError(.failed, context: "the store \(path) is empty: nothing has opened it yet")
        }
        do {
            // With a log beside it, a daemon runs or was killed: the log's pages count, and SQLite must look for them.
            let connection = try SQLiteConnection(readOnly: path, isImmutable: (fileSize(path + "-wal") ?? 0) == 0)
            connection.keepLogOnClose()
            try Migration.check(connection, path: path)
            return try body(connection)
        } catch let failure as SQLiteFailure {
            throw failure.storeError(doing: "reading the store \(path)", path: path)
        }
    }

    private static func status(_ connection: SQLiteConnection, path: String) throws -> StoreStatus {
        let version = try Migration.version(of: connection)
        var applied: [Int: Timestamp] = [:]
        if version > 0 {
            for (version, time) in try connection.all(
                "SELECT version, applied_at FROM migration", row: { (Int($0.integer()), $0.time()) })
            {
                applied[version] = time
            }
        }
        let releases = try ReleaseTable.releases(on: connection)
        return StoreStatus(
            path: path, size: (fileSize(path) ?? 0) + (fileSize(path + "-wal") ?? 0), schemaVersion: version,
            newestSchemaVersion: Migration.newest,
            chain: Migration.chain.map {
                StoreStep(version: $0.toVersion, name: $0.name, appliedAt: applied[$0.toVersion])
            },
            firstInstalled: releases.first, current: releases.last)
    }

    /// Bytes; nil when there is no such file. By name: a descriptor must not be opened (see `StoreFile.create`).
    static func fileSize(_ path: String) -> Int64? {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return nil }
        return Int64(information.st_size)
    }
}
