// SPDX-License-Identifier: Apache-2.0
import Glibc
import Terminal
import Threading

/// Keeps a second daemon off the same store, by whatever name it goes: two would send every campaign twice.
///
/// Two flock(2) locks, which go with the process however that ends:
/// - on a file beside the database, under the name that SQLite finds too when it follows symbolic links: it holds also
///   where the database is exchanged for another under that name;
/// - on the database itself: a hard link is another name for the same file. Closing a descriptor of it would drop SQLite's
///   own locks (sqlite.org/howtocorrupt.html, 2.2), so this one stays open until the store is closed.
final class StoreLock {
    private let name: LockedFile
    private let file: LockedFile

    /// How many names the database's file has. With more than one, "if one process crashes, the other process will be unable
    /// to recover the transaction in progress because it will be looking in the wrong place" (howtocorrupt.html, 2.5).
    let links: Int

    /// Creates the database's file (mode 0600, empty) where there is none.
    ///
    /// - Throws: `CommandFailure` where another daemon holds a lock or a file cannot be made.
    init(store: String) throws {
        // For reading only, so that a read-only database is reported by the store itself; not waiting for a pipe's other end.
        let file = try LockedFile(store, O_RDONLY | O_CREAT | O_NONBLOCK, of: store)
        var path = store
        if let resolved = unsafe realpath(store, nil) {
            path = unsafe String(cString: resolved)
            unsafe free(resolved)
        }
        let name = try LockedFile(path + ".lock", O_RDWR | O_CREAT, of: store)
        try name.lock(store)
        try file.lock(store)
        var status = stat()
        links = unsafe fstat(file.descriptor, &status) == 0 ? Int(status.st_nlink) : 1
        self.name = name
        self.file = file
    }
}

/// An open file with a lock that only one process can have.
private final class LockedFile {
    let descriptor: Int32

    init(_ path: String, _ flags: Int32, of store: String) throws {
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
            throw CommandFailure(
                .failed, "the store \(store) cannot be opened\(place): \(SystemError.text(code))",
                hint: hint)
        }
    }

    func lock(_ store: String) throws {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(
                .failed, "another daemon works on \(store)",
                hint: "one store has one daemon; stop the other, or give this one a store of its own")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
