// SPDX-License-Identifier: Apache-2.0
import CFaultyVFS
import Glibc

/// Scripted faults in the files of one store, as SQLite sees a disk that fills up, breaks, or is remounted read-only.
///
/// Must be made before the store is opened. May be used from any thread.
package final class StoreFaults: Sendable {
    /// A kind of fault as SQLite meets it.
    package enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
        /// SQLITE_FULL: the disk is full.
        case full
        /// SQLITE_IOERR_WRITE with EROFS: the kernel has made the file system read-only.
        case readOnly
        /// SQLITE_IOERR_WRITE with EIO.
        case write
        /// SQLITE_IOERR_FSYNC with EIO.
        case sync
        /// SQLITE_IOERR_READ with EIO.
        case read
        /// SQLITE_IOERR_SHMMAP with ENOMEM.
        case map
        /// SQLITE_CANTOPEN with EMFILE.
        case open
        /// SQLITE_BUSY: another connection has the write lock.
        case busy

        package var description: String { rawValue }
    }

    private let path: String
    private let watch: Int32

    /// - Parameters:
    ///   - path: the store's file; -wal and -shm beside it are watched too.
    ///   - isOneProcess: whether no other process opens the store: SQLite then needs no lock of the operating system.
    package init(path: String, isOneProcess: Bool = false) {
        self.path = path
        watch = unsafe faulty_vfs_watch(path, isOneProcess ? 1 : 0)
        precondition(watch >= 0, "too many stores with faults in one process")
    }

    deinit { faulty_vfs_unwatch(watch) }

    /// Makes `count` of the calls that `kind` can befall fail, from the `first` on (1 is the next).
    package func arm(_ kind: Kind, first: Int, count: Int = .max) {
        // Result codes of sqlite3.h, which this target does not show to Swift.
        let (operations, code, error): (Int, Int32, Int32) =
            switch kind {
            case .full: (FAULTY_WRITE, 13, ENOSPC)
            case .readOnly: (FAULTY_WRITE | FAULTY_TRUNCATE, 778, EROFS)
            case .write: (FAULTY_WRITE, 778, EIO)
            case .sync: (FAULTY_SYNC, 1034, EIO)
            case .read: (FAULTY_READ, 266, EIO)
            case .map: (FAULTY_MAP, 5386, ENOMEM)
            case .open: (FAULTY_OPEN, 14, EMFILE)
            case .busy: (FAULTY_LOCK, 5, 0)
            }
        faulty_vfs_arm(watch, Int32(operations), first, count, code, error)
    }

    package func disarm() { faulty_vfs_disarm(watch) }

    /// How many calls have failed since `arm`.
    package var failures: Int { faulty_vfs_failures(watch) }

    /// The number of calls that the armed kind could have befallen since `arm`.
    package var calls: Int { faulty_vfs_calls(watch) }

    /// The number of writes to the store's files, failed ones included. The store is unchanged while it stays the same.
    package var writes: Int { faulty_vfs_writes(watch) }

    /// Whether connections that are closed stay open in secret, with their statements, for the next caller that opens the
    /// store: to it they seem new. False closes the kept ones.
    package func keepConnections(_ areKept: Bool) { unsafe faulty_vfs_keep(path, areKept ? 1 : 0) }

    /// Makes kept connections read the files anew, before their bytes are replaced by those of another store with the same
    /// schema.
    ///
    /// - Returns: false if there is none, or one is in use.
    package func exchange() -> Bool { unsafe faulty_vfs_exchange(path) != 0 }

    /// The place of the number by which `changes` reports a row.
    package enum NumberPlace: Sendable {
        /// The row's own id.
        case row
        /// A column, counted from 0.
        case column(Int)
        /// None: a change may concern every number.
        case any
    }

    /// Makes kept connections note every write to these tables. Must be called before the first connection is made.
    package func noteChanges(_ tables: [(name: String, number: NumberPlace)]) {
        for table in tables {
            let column =
                switch table.number {
                case .row: Int(FAULTY_ROW_ITSELF)
                case .column(let column): column
                case .any: Int(FAULTY_ANY_ROW)
                }
            unsafe faulty_vfs_note_changes(path, table.name, Int32(column))
        }
    }

    /// Makes kept connections count the writes to these tables, too. Must be called before the first connection is made.
    package func countChanges(_ tables: [String]) {
        for table in tables {
            precondition(unsafe faulty_vfs_count_changes(path, table) != 0, "too many tables are noted")
        }
    }

    /// The number of row writes to the counted tables, committed or not. The tables are unchanged while it stays the same. nil
    /// if it is not known.
    package var countedChanges: Int64? {
        let count = unsafe faulty_vfs_counted_changes(path)
        return count < 0 ? nil : count
    }

    /// Must be called after the last connection is closed.
    package func forgetChanges() { unsafe faulty_vfs_forget_changes(path) }

    /// The numbers of the rows written since the last call; nil if any row may have been.
    package func changes() -> [Int64]? {
        var numbers = [Int64](repeating: 0, count: 32)
        let count = unsafe numbers.withUnsafeMutableBufferPointer { numbers in
            unsafe numbers.baseAddress.map { unsafe faulty_vfs_changes(path, $0, Int32(numbers.count)) } ?? -1
        }
        return count < 0 ? nil : Array(numbers.prefix(Int(count)))
    }

    /// Sets SQLite's own `now` on this thread, in milliseconds since 1970; 0: the system's time. Must be called after the first
    /// `StoreFaults` was made.
    package static func setTime(milliseconds: Int64) { faulty_vfs_set_time(milliseconds) }
}
