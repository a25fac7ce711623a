// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
import RelayEngine
package import StoreSQL
import Telemetry
import Threading

/// One connection to the database with its prepared statements.
///
/// Opened with SQLITE_OPEN_NOMUTEX: "multi-thread" mode, in which "SQLite can be safely used by multiple threads provided
/// that no single database connection nor any object derived from database connection, such as a prepared statement, is
/// used in two or more threads at the same time" (sqlite.org/threadsafe.html).
///
/// Unchecked, and this is the proof: the only references to a connection are the `Mutex` that was made for it (in
/// `SQLiteStore` for the writer, in `Reader` for the others) and the parameter of a closure that runs inside that
/// mutex's `withLock`. Such a closure returns a `Sendable` value, which cannot contain a connection or a statement;
/// statements are kept by their connection alone. Until the mutex holds it, a connection is known to one `init`.
@safe package final class SQLiteConnection: SQLConnection, @unchecked Sendable {
    private let handle: OpaquePointer
    private(set) var statements: [SQL: Statement] = [:]
    private var pulse: Pulse?
    private var deadline: ContinuousClock.Instant?
    private var copiesLog: ((_ pages: Int) -> Bool)?

    /// How long a call waits for another process's lock, in milliseconds; a write waits as `patience` allows.
    static let busyTimeout: Int32 = 5000
    /// Used by the writer alone.
    var patience = LockPatience()

    /// Counting the bytes in use takes a mutex around every allocation, the same one for all connections: a tenth of the
    /// cost of a ledger row. Must come before SQLite's first use ("not threadsafe", sqlite.org/c3ref/config.html), hence
    /// once, before the first connection; where something else has used SQLite before, the statistics merely stay on.
    private static let statistics: Void = {
        _ = relay_sqlite3_config_memory_statistics(0)
    }()

    convenience init(path: String) throws(SQLiteFailure) {
        try self.init(name: path, flags: SQLITE_OPEN_READWRITE)
    }

    /// Opens a file for reading only.
    ///
    /// - Parameter isImmutable: whether nothing writes to it, so that SQLite needs neither locks nor a log beside it: then
    ///   it makes no -wal and -shm files either (sqlite.org/uri.html, "immutable").
    convenience init(readOnly path: String, isImmutable: Bool) throws(SQLiteFailure) {
        // "Convert all "?" characters into "%3f", all "#" characters into "%23"" (sqlite.org/uri.html, 3.1); "%" first.
        let special: [Character: String] = ["%": "%25", "?": "%3f", "#": "%23"]
        // Two slashes at the beginning would name a host.
        var uri = "file:" + (path.hasPrefix("//") ? "//" : "") + path.map { special[$0] ?? String($0) }.joined()
        if isImmutable { uri += "?immutable=1" }
        try self.init(name: uri, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    private init(name: String, flags: Int32) throws(SQLiteFailure) {
        Self.statistics
        var handle: OpaquePointer?
        let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            let failure = SQLiteFailure(code: code, of: handle)
            // "Whether or not an error occurs when it is opened, resources associated with the database connection handle
            // should be released by passing it to sqlite3_close()" (sqlite.org/c3ref/open.html).
            unsafe sqlite3_close_v2(handle)
            throw failure
        }
        unsafe self.handle = handle
        unsafe sqlite3_busy_timeout(handle, Self.busyTimeout)
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// Leaves the log beside the database when this connection is the last to close.
    func keepLogOnClose() {
        _ = unsafe relay_sqlite3_keep_log_on_close(handle)
    }

    /// Sets whether foreign keys are enforced. Must not be called within a transaction.
    func enforceForeignKeys(_ areEnforced: Bool) {
        _ = unsafe relay_sqlite3_enforce_foreign_keys(handle, areEnforced ? 1 : 0)
    }

    /// Lets every statement of this connection beat: after each million of SQLite's instructions, some ten milliseconds, so
    /// that an index built over millions of rows is not taken for a thread that is stuck.
    func beat(_ pulse: Pulse) {
        self.pulse = pulse
        // Not retained: the handle is closed in `deinit`, before the pulse goes.
        let owner = unsafe Unmanaged.passUnretained(pulse).toOpaque()
        unsafe sqlite3_progress_handler(
            handle, 1_000_000,
            { owner in
                if let owner = unsafe owner { unsafe Unmanaged<Pulse>.fromOpaque(owner).takeUnretainedValue().beat() }
                // "If the progress callback returns non-zero, the operation is interrupted" (sqlite.org/c3ref).
                return 0
            }, owner)
    }

    /// Interrupts whatever statement runs after `deadline`, with SQLITE_INTERRUPT.
    func interrupt(after deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        // Not retained: the handle is closed in `deinit`.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_progress_handler(
            handle, 100_000,
            { owner in
                guard let owner = unsafe owner else { return 0 }
                let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(owner).takeUnretainedValue()
                return connection.deadline.map { ContinuousClock.now > $0 } ?? false ? 1 : 0
            }, owner)
    }

    /// After each commit, copies the log into the file where `decide` returns true for the number of pages in it, as `PRAGMA
    /// wal_autocheckpoint` does from a fixed number on, by the same hook ("Each call to this function overrides the [...]
    /// wal_autocheckpoint pragma", sqlite.org/c3ref/wal_hook.html).
    func copyLog(where decide: @escaping (_ pages: Int) -> Bool) {
        copiesLog = decide
        // Not retained: the handle is closed in `deinit`.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_wal_hook(
            handle,
            { owner, handle, name, pages in
                guard let owner = unsafe owner else { return SQLITE_OK }
                let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(owner).takeUnretainedValue()
                if connection.copiesLog?(Int(pages)) == true {
                    // Where a reader or another copy is in the way, the next commit tries again.
                    _ = unsafe sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            }, owner)
    }

    /// The statement of this text, compiled at its first use. No other caller may be stepping through it.
    func prepared(_ sql: SQL) throws(SQLiteFailure) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = unsafe try Statement(sql, on: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs a script of any number of statements and ignores their results.
    func execute(_ script: SQL) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, script.text, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: unsafe handle) }
    }

    @discardableResult
    package func run(_ sql: SQL, values: [(any SQLValue)?]) throws(SQLiteFailure) -> Int {
        let statement = try prepared(sql)
        defer { statement.clear() }
        try statement.bind(values)
        try statement.run()
        return changes
    }

    package func rows(
        _ sql: SQL, values: [(any SQLValue)?], atMost limit: Int, _ body: (Statement) throws -> Void
    ) throws {
        let statement = try prepared(sql)
        defer { statement.clear() }
        try statement.bind(values)
        var count = 0
        while count < limit, try statement.step() {
            try body(statement)
            count += 1
        }
    }

    package var dialect: SQLDialect { .sqlite }

    /// SQLite silently opens a file that it may not write to for reading only.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    var changes: Int { unsafe Int(sqlite3_changes(handle)) }

    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// SQLite records the system's error for a failed statement, but not for a failed COMMIT (vdbe.c: OP_AutoCommit
    /// leaves without sqlite3SystemError). `errno` still holds it, since no later call fails.
    private func commit() throws(SQLiteFailure) {
        errno = 0
        do throws(SQLiteFailure) {
            try run("COMMIT", values: [])
        } catch {
            var failure = error
            failure.systemError = errno
            throw failure
        }
    }

    /// Runs `body` in a transaction that has the write lock.
    ///
    /// - Parameter asked: when the caller asked for its turn.
    func write<R>(
        since asked: MonotonicTime = MonotonicClock.now(), _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        let wait = patience.wait(since: asked, at: MonotonicClock.now())
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: wait.milliseconds))
        defer { unsafe sqlite3_busy_timeout(handle, Self.busyTimeout) }
        do {
            return try transaction("BEGIN IMMEDIATE") { connection in
                patience.ended(isRefused: false, at: asked)
                return try body(connection)
            }
        } catch let failure as SQLiteFailure where failure.isBusy {
            patience.ended(isRefused: true, at: MonotonicClock.now())
            throw failure
        }
    }

    /// Runs `body` in a transaction that begins with `begin` and is rolled back when anything throws.
    func transaction<R>(_ begin: SQL, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try run(begin)
        do {
            let result = try body(self)
            try commit()
            return result
        } catch {
            // A full disk rolls back by itself (sqlite.org/lang_transaction.html, 3); then there is nothing left to undo.
            if unsafe sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
            throw error
        }
    }
}

// MARK: - Locks without a wait

extension SQLiteConnection {
    /// Tries again while another connection holds a lock, up to the busy time-out: for statements that upgrade a lock
    /// that they already hold. SQLite refuses those at once, since waiting could be a deadlock
    /// (sqlite.org/c3ref/busy_handler.html): for instance where two connections open a new store together, each about
    /// to turn it to WAL.
    func insisting<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        let deadline = ContinuousClock.now + .milliseconds(Int64(Self.busyTimeout))
        while true {
            do {
                return try body(self)
            } catch let failure as SQLiteFailure where failure.isBusy && ContinuousClock.now < deadline {
                usleep(2_000)
            }
        }
    }
}

// MARK: - Backup

extension SQLiteConnection {
    /// Copies the whole database into `destination`, which must be empty, by SQLite's online backup
    /// (sqlite.org/c3ref/backup_finish.html), some pages at a time.
    ///
    /// - Parameter step: called after each step with the pages that are left and all pages. If it throws, the copy ends.
    func copy(
        into destination: SQLiteConnection, pagesAtOnce: Int32, step: (_ left: Int64, _ all: Int64) throws -> Void
    ) throws {
        guard let backup = unsafe sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw unsafe SQLiteFailure(code: sqlite3_extended_errcode(destination.handle), of: destination.handle)
        }
        do {
            while true {
                let code = unsafe sqlite3_backup_step(backup, pagesAtOnce)
                guard code == SQLITE_OK || code == SQLITE_DONE else {
                    throw SQLiteFailure(code: code, of: unsafe destination.handle)
                }
                try unsafe step(Int64(sqlite3_backup_remaining(backup)), Int64(sqlite3_backup_pagecount(backup)))
                if code == SQLITE_DONE { break }
            }
        } catch {
            unsafe sqlite3_backup_finish(backup)
            throw error
        }
        let code = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: unsafe destination.handle) }
    }
}
