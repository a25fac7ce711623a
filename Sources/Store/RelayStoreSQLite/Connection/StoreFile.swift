// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayStore
import Threading

/// The database's file, before SQLite sees it.
enum StoreFile {
    /// Creates the file for its owner alone, unless it exists; SQLite gives its -wal and -shm files the same mode.
    ///
    /// Telephones are in it, so the process's umask must not decide. An existing file is not even opened: closing it
    /// again would drop the POSIX locks of every other connection of this process (sqlite.org/howtocorrupt.html, 2.2).
    static func create(_ path: String) throws(StoreError) {
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            _ = Glibc.close(descriptor)
            return
        }
        let code = errno
        guard code != EEXIST else { return }
        let context = "the store \(path) cannot be created: \(SystemError.text(code))"
        let directory = directory(of: path)
        let (kind, hint): (StoreError.Code, String?) =
            switch code {
            case ENOENT, ENOTDIR: (.failed, "Create the directory \(directory) first")
            case EACCES, EPERM:
                (.failed, "The user that the relay runs as must be able to write to the directory \(directory)")
            case EROFS:
                (
                    .readOnly,
                    "The file system of \(directory) is read-only; under systemd, set StateDirectory= or ReadWritePaths="
                )
            case ENOSPC, EDQUOT: (.full, "Free space on the file system of \(directory)")
            default: (.failed, nil)
            }
        throw StoreError(kind, context: context, hint: hint)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
