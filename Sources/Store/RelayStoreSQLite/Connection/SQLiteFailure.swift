// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
import RelayStore
import Threading

/// An error of SQLite, before the store adds what it was doing. Never leaves this module.
package struct SQLiteFailure: Error {
    /// The extended result code (sqlite.org/rescode.html).
    var code: Int32
    /// SQLite's message. It names tables and columns, never bound values.
    var message: String
    /// The `errno` behind an input/output failure, else 0.
    var systemError: Int32 = 0
}

extension SQLiteFailure {
    /// Reads the failure of the last call on `database`.
    @safe init(code: Int32, of database: OpaquePointer?) {
        self.code = code
        if let database = unsafe database, let text = unsafe sqlite3_errmsg(database) {
            unsafe message = String(cString: text)
            unsafe systemError = sqlite3_system_errno(database)
        } else {
            unsafe message = String(cString: sqlite3_errstr(code))
            systemError = 0
        }
    }

    /// The failure for something that the caller named and that does not exist.
    static func missing(_ what: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_NOTFOUND, message: "there is no \(what)")
    }

    /// The result code without its extension.
    var primaryCode: Int32 { code & 0xff }

    /// Whether another connection holds a lock.
    var isBusy: Bool { primaryCode == SQLITE_BUSY }

    /// The error as the rest of the daemon sees it.
    ///
    /// - Parameters:
    ///   - doing: what was being done, as in "registering devices".
    ///   - path: the database's file, for the hints.
    func storeError(doing: String, path: String) -> StoreError {
        // Used only for errors of the file system: elsewhere it is left over from an earlier call.
        let isSystems = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(primaryCode) && systemError != 0
        let cause = isSystems ? ": \(SystemError.text(systemError))" : ""
        let (code, hint): (StoreError.Code, String?) =
            switch (primaryCode, isSystems ? systemError : 0) {
            case (SQLITE_FULL, _), (_, ENOSPC), (_, EDQUOT):
                (.full, "Free space on the file system of \(path); what was stored before is untouched")
            case (SQLITE_READONLY, _), (_, EROFS):
                (
                    .readOnly,
                    "Make \(path), its -wal and -shm files and its directory writable by the user that the relay runs as"
                )
            // PROTOCOL: SQLite met locks of other connections again and again, and "gives up"
            // (sqlite.org/rescode.html#protocol).
            case (SQLITE_BUSY, _), (SQLITE_LOCKED, _), (SQLITE_PROTOCOL, _):
                (.busy, "Another program holds the write lock of \(path); end its transaction")
            case (SQLITE_IOERR, EFBIG):
                (
                    .full,
                    "A file of the store has the size that this process may give it, or that its file system allows: "
                        + "raise the limit (RLIMIT_FSIZE; under systemd LimitFSIZE=)"
                )
            case (SQLITE_CANTOPEN, _), (SQLITE_PERM, _), (SQLITE_AUTH, _):
                (
                    .failed,
                    "\(path) and its directory must be readable and writable by the user that the relay runs as"
                )
            case (SQLITE_NOTADB, _):
                (.failed, "\(path) is not a SQLite database; name another file as the store")
            // NOTFOUND comes from `missing`.
            case (SQLITE_CONSTRAINT, _), (SQLITE_NOTFOUND, _): (.conflict, nil)
            case (SQLITE_CORRUPT, _):
                (
                    .failed,
                    "\(path) is damaged; stop the relay and restore it from a backup, or try sqlite3's .recover"
                )
            default: (.failed, nil)
            }
        return StoreError(code, context: "\(doing) failed: \(message)\(cause) (SQLite \(self.code))", hint: hint)
    }
}
