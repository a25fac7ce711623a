// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayStore
import Threading
import WireFormat

/// A store's file, or a backup, that no daemon has open.
package struct SQLiteFile: ClosedStore {
    package let place: String

    package init(_ path: String) {
        place = path
    }

    /// The path of the daemon's record of how far a store was, by which an older copy in its place is noticed.
    package static func note(beside store: String) -> String { store + ".seen" }

    package var isInUse: Bool { StoreLock.isStore(place) }

    package func status() throws -> StoreStatus { try SQLiteStore.status(ofFile: place) }

    package func check(begins: (String) -> Bool) throws -> [StoreFault] {
        try SQLiteStore.check(file: place, begins: begins)
    }

    package func copy(to path: String, progress: (BackupProgress) -> Bool) throws {
        try SQLiteStore.backUp(file: place, to: path, progress: progress)
    }

    package func restore(from backup: String, progress: (BackupProgress) -> Bool) throws -> RestoredStore {
        let store = StoreLock.resolved(place)
        let isThere = (SQLiteStore.fileSize(store) ?? 0) > 0
        // Held until the end, so that no daemon starts on the store.
        let lock = try StoreLock(store: store, isReplaced: true)
        defer { withExtendedLifetime(lock) {} }
        if let first = try SQLiteFile(backup).check(begins: { _ in true }).first {
            throw StoreError(
                .failed, context: "\(backup) is damaged: \(first.check): \(first.detail)",
                hint: "nothing was changed; \"upgrade-relay store check \(backup)\" lists every fault")
        }
        let partial = "\(store).restore-\(getpid())"
        do {
            try SQLiteFile(backup).copy(to: partial, progress: progress)
            if isThere { try Self.adopt(partial, from: store) }
            let kept = isThere ? try Self.keep(store) : nil
            // The operator who restores a backup knows that it is older.
            guard unsafe unlink(Self.note(beside: store)) == 0 || errno == ENOENT else {
                throw Self.failure(Self.note(beside: store))
            }
            guard unsafe rename(partial, store) == 0 else { throw Self.failure(store) }
            // Without this the name may be lost in a power cut (fsync(2)).
            try? SQLiteStore.synchronise(StoreFile.directory(of: store))
            // The log of the former store belongs to no file of that name now. Where the process ends before this, the
            // daemon refuses the pair.
            for suffix in ["-wal", "-shm"] { _ = unsafe unlink(store + suffix) }
            return RestoredStore(place: store, size: SQLiteStore.fileSize(store) ?? 0, kept: kept)
        } catch {
            _ = unsafe unlink(partial)
            throw error
        }
    }

    /// Gives the copy the store's owner and mode: the operator may be root, and the daemon is not.
    private static func adopt(_ partial: String, from store: String) throws {
        var status = stat()
        guard unsafe stat(store, &status) == 0, unsafe chown(partial, status.st_uid, status.st_gid) == 0,
            unsafe chmod(partial, status.st_mode & 0o7777) == 0
        else { throw failure(partial) }
    }

    /// Gives the store and its log a second name each.
    private static func keep(_ store: String) throws -> String {
        let time = WallClock.now().internetTime.prefix { $0 != "." && $0 != "Z" }.filter { !":-".contains($0) }
        var (kept, number) = ("\(store).before-\(time)Z", 1)
        while unsafe link(store, kept) != 0 {
            guard errno == EEXIST else { throw failure(kept) }
            number += 1
            kept = "\(store).before-\(time)Z-\(number)"
        }
        // A store without a log was closed well.
        if unsafe link(store + "-wal", kept + "-wal") != 0, errno != ENOENT { throw failure(kept + "-wal") }
        return kept
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(.failed, context: "\(path) cannot be written: \(SystemError.text(errno))")
    }
}
