// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Keeps a second daemon off the same store: two would send every campaign twice.
///
/// An flock(2) on a file beside the database, so that it goes with the process however that ends. Not on the database
/// itself: closing a descriptor of it would drop SQLite's own locks (sqlite.org/howtocorrupt.html, 2.2).
final class StoreLock {
    private let descriptor: Int32

    /// - Throws: `CommandFailure` where another daemon holds the lock or the file cannot be made.
    init(store: String) throws {
        let path = store + ".lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let hint =
                switch code {
                case EROFS: "the file system is read-only; under systemd, set StateDirectory= or ReadWritePaths="
                case ENOSPC, EDQUOT: "free space on its file system"
                default: "does the directory exist, and may user id \(geteuid()) write to it?"
                }
            throw CommandFailure(
                .failed,
                "the store \(store) cannot be opened: \(path) beside it: \(unsafe String(cString: strerror(code)))",
                hint: hint)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure(
                .failed, "another daemon works on \(store)",
                hint: "one store has one daemon; stop the other, or give this one a store of its own")
        }
    }

    deinit {
        close(descriptor)
    }
}
