// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
import RelayEngine
package import RelayStore
import StoreSQL
import Threading

extension SQLiteStore {
    package func snapshot(progress: (BackupProgress) -> Bool) throws -> any StoreSnapshot {
        options.onEnter?()
        return try reporting("backing up the store") {
            let copy = Snapshot.path(beside: path)
            Snapshot.removeLeftover(of: path)
            try Self.copy(Self.reader(path: path), to: copy, options, progress)
            return try Snapshot(taking: copy)
        }
    }

    /// Copies a store that no daemon has open to a new file, for its owner alone.
    package static func backUp(file path: String, to copy: String, progress: (BackupProgress) -> Bool) throws {
        try withFile(path) { connection in try Self.copy(connection, to: copy, Options(), progress) }
    }

    /// Pages of one step: 1 MiB.
    private static let pagesAtOnce: Int32 = 256

    /// Copies one snapshot of the database; leaves nothing behind when it fails.
    ///
    /// The source stays in a read transaction from the first page to the last. Without it, a commit by any other
    /// connection makes the backup begin anew (sqlite.org/backup.html, "File and Database Connection Locking"), and
    /// beside a fan-out it would never end. No writer waits for it: in WAL mode writes go on; only the log does not
    /// begin anew until the copy ends. The pauses leave half of the disk to the fan-out.
    private static func copy(
        _ source: SQLiteConnection, to path: String, _ options: Options, _ progress: (BackupProgress) -> Bool
    ) throws {
        try StoreFile.create(path)
        do {
            let pageSize = try FreePages.pageSize(source)
            try source.transaction("BEGIN") { source in
                _ = try source.exists("SELECT count(*) FROM sqlite_schema")
                let destination = try SQLiteConnection(path: path)
                // A copy that is not whole is never used: it needs no journal, and one fsync at its end.
                try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                var start = options.ticks()
                try source.copy(into: destination, pagesAtOnce: pagesAtOnce) { left, all in
                    guard progress(BackupProgress(done: (all - left) * pageSize, total: all * pageSize)) else {
                        throw StoreError(.failed, context: "the backup was given up")
                    }
                    options.rest(min(options.ticks() - start, .milliseconds(50)))
                    start = options.ticks()
                }
            }
            try synchronise(path)
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    static func synchronise(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { _ = Glibc.close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError(
                .failed, context: "the copy \(path) cannot be written: \(SystemError.text(errno))")
        }
    }

    /// Turns SQLite's errors into `StoreError`.
    func reporting<R>(_ doing: String, _ body: () throws -> R) throws -> R {
        // The file that is opened by its name must be the store.
        if let fault = files.fault(at: path) { throw fault }
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            throw failure.storeError(doing: doing, path: path)
        }
    }
}
