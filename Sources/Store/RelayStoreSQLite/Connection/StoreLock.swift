// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayStore
import Threading

/// Keeps a second daemon off the same store, under any name of it: two would send every campaign twice.
///
/// Two flock(2) locks, which end with the process however that ends:
/// - on a file beside the database, under the name that SQLite also finds when it follows symbolic links: this lock
///   holds even if another file is put in the database's place;
/// - on the database itself: a hard link is another name for the same file. Closing a descriptor of it would drop SQLite's
///   own locks (sqlite.org/howtocorrupt.html, 2.2), so this one stays open until the store is closed.
///
/// The file beside it also records the database that it was made for. A write-ahead log belongs to one database, but SQLite
/// finds it by its name alone: left behind by a daemon that was killed, it would be replayed into any database that has that
/// name now, such as a backup (howtocorrupt.html, 1.4, "Mispairing database files and hot journals").
package final class StoreLock {
    private let name: LockedFile
    private let file: LockedFile

    /// How many names the database's file has. With more than one, "if one process crashes, the other process will be unable
    /// to recover the transaction in progress because it will be looking in the wrong place" (howtocorrupt.html, 2.5).
    package let links: Int
    /// Whether the process that last had the store open closed it, so that no log was left to be replayed.
    package let wasClosedWell: Bool

    /// Creates the database's file (mode 0600, empty) where there is none.
    ///
    /// - Parameter isReplaced: whether another database is about to take its place, so that the log's database does not
    ///   matter. Default no.
    /// - Throws: `StoreError`: `.busy` where another daemon holds a lock; `.failed` where a file cannot be made, or the log
    ///   belongs to another database.
    package init(store: String, isReplaced: Bool = false) throws(StoreError) {
        // For reading only, so that the store itself reports a read-only database; O_NONBLOCK, so as not to wait for a
        // pipe's other end.
        let file = try LockedFile(store, O_RDONLY | O_CREAT | O_NONBLOCK, of: store)
        let path = Self.resolved(store)
        let name = try LockedFile(Self.name(beside: path), O_RDWR | O_CREAT, of: store)
        try name.lock(store)
        try file.lock(store)
        var status = stat()
        links = unsafe fstat(file.descriptor, &status) == 0 ? Int(status.st_nlink) : 1
        var log = stat()
        wasClosedWell = unsafe stat(path + "-wal", &log) != 0 || log.st_size == 0
        // Only the inode: some file systems have another device number after each mount.
        let inode = String(status.st_ino)
        if !wasClosedWell, !isReplaced, let known = name.text(), known != inode {
            throw StoreError(
                .failed,
                context:
                    "\(path) is not the file that the write-ahead log \(path)-wal belongs to: it took that one's place",
                hint:
                    "To restore a backup, put the old file back and use \"upgrade-relay store restore\". Where the directory was "
                    + "copied as a whole, remove \(Self.name(beside: path))")
        }
        if !isReplaced { name.write(inode) }
        self.name = name
        self.file = file
    }

    /// Whether a file is a store in use: a daemon holds its lock, or a lock or a log lies beside it.
    package static func isStore(_ path: String) -> Bool {
        let path = resolved(path)
        if ["-wal", ".lock"].contains(where: { unsafe access(path + $0, F_OK) == 0 }) { return true }
        // A daemon may hold the lock under another name of the file, a hard link.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// The path of a database's lock file.
    package static func name(beside store: String) -> String { store + ".lock" }

    /// The name that SQLite uses.
    package static func resolved(_ store: String) -> String {
        guard let resolved = unsafe realpath(store, nil) else { return store }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

/// An open file with a lock that only one process can have.
private final class LockedFile {
    let descriptor: Int32

    init(_ path: String, _ flags: Int32, of store: String) throws(StoreError) {
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let hint =
                switch code {
                case EROFS: "the file system is read-only; under systemd, set StateDirectory= or ReadWritePaths="
                case ENOSPC, EDQUOT: "free space on its file system"
                default: "does the directory exist, and may user id \(geteuid()) write to it?"
                }
            let place = path == store ? "" : ": \(path) beside it"
            throw StoreError(
                .failed, context: "the store \(store) cannot be opened\(place): \(SystemError.text(code))", hint: hint)
        }
    }

    func lock(_ store: String) throws(StoreError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(
                .busy, context: "another daemon works on \(store)",
                hint: "one store has one daemon; stop the other, or give this one a store of its own")
        }
    }

    /// The content; nil where the file is empty.
    func text() -> String? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Replaces the content. Where the disk is full the file stays empty, and its database is unknown.
    func write(_ text: String) {
        var text = text
        guard self.text() != text, ftruncate(descriptor, 0) == 0 else { return }
        _ = text.withUTF8 { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
