// SPDX-License-Identifier: Apache-2.0
import CSQLite
package import RelayEngine
package import RelayStore
package import StoreSQL
import Synchronization
package import Telemetry
import Threading

/// The relay's store in one SQLite file: one connection that writes, a few that read beside it.
///
/// SQLite 3.39 or later (STRICT tables, FULL JOIN in the triggers). In WAL mode "readers do not block writers and a writer
/// does not block readers" (sqlite.org/wal.html); every commit of the writer is on the disk before the call returns.
///
/// Calls block and may be made from any thread. The closures that some of them take must not call the store again.
package final class SQLiteStore: PrunableSQL {
    let path: String
    let options: Options
    /// The writer's: beats with every call that takes it, and now and then in the middle of a long statement.
    package let pulse: Pulse
    private let writer: Mutex<SQLiteConnection?>
    /// Taken before the writer, so that whoever writes again and again lets everybody else have their turn.
    let writeQueue = WriteQueue()
    /// What metrics report of the calls.
    let tally = Mutex(StoreFigures())
    /// When users of devices were erased: a push that was on its way then must not bring them back (`OutcomeRecorder`). What a
    /// process had on its way ends with it.
    let erased = Mutex<[Int64: MonotonicTime]>([:])
    package var membership: Membership { options.membership }
    package let decisions = DecisionNews()
    let readers: ReaderPool
    /// Those that it was opened with.
    let files: StoreFiles
    /// nil where each commit copies the log.
    let checkpoints: Checkpoints?
    /// Those that it was opened with.
    private let tables: [SQL]

    /// Opens the store, creates it (mode 0600) where there is none, and brings it to the newest schema.
    ///
    /// - Parameter release: what this release calls itself, for the store's own record of who worked on it.
    /// - Throws: `StoreError`: `.tooNew` when a newer release wrote it (the file stays as it is), `.readOnly`, `.full`,
    ///   `.busy`, or `.failed` with a hint.
    package init(path: String, release: String = "unknown", options: Options = Options()) throws {
        self.path = path
        self.options = options
        let doing = "opening the store \(path)"
        try StoreFile.create(path)
        do {
            let writer = try SQLiteConnection(path: path)
            guard !writer.isReadOnly else {
                throw SQLiteFailure(code: SQLITE_READONLY, message: "the file or its file system is read-only")
            }
            do {
                try Migration.check(writer, path: path)
            } catch {
                writer.keepLogOnClose()
                throw error
            }
            try Self.configureWriter(writer, path: path)
            Snapshot.removeLeftover(of: path)
            try Migration.run(on: writer, path: path, release: release, at: options.clock())
            try FreePages.prepare(writer)
            try Self.commitDurably(writer)
            tables = try writer.all(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
            ) { SQL(typed: "\"\($0.text())\"") }
            var connections: [SQLiteConnection] = []
            for _ in 0..<options.readers { connections.append(try Self.reader(path: path)) }
            readers = ReaderPool(connections)
            checkpoints = options.copiesLogAside ? Checkpoints(try Self.reader(path: path)) : nil
            if let checkpoints { writer.copyLog(where: checkpoints.isForCommit) }
            let pulse = Pulse("store writer")
            writer.beat(pulse)
            self.pulse = pulse
            self.writer = Mutex(writer)
            files = StoreFiles(at: path)
        } catch let failure as SQLiteFailure {
            throw failure.storeError(doing: doing, path: path)
        }
    }

    package func close() {
        readers.close()
        checkpoints?.close()
        writer.withLock { $0 = nil }
    }

    package func checkWritable() throws {
        try write("testing whether the store can be written to") { connection in
            // No row goes: that each table is there and takes what is written to it.
            for table in tables { _ = try connection.run("DELETE FROM \(table) WHERE 0") }
            _ = try connection.run("UPDATE probe SET written = written + 1")
        }
    }

    package func changeMark() throws -> Int64 {
        // On the writer: its own commits do not count there, those of every other connection do.
        try locked("asking for changes by others") { connection in
            try connection.integer("PRAGMA data_version") ?? 0
        }
    }

    /// Runs a script on the writer: maintenance (`VACUUM`, `PRAGMA wal_checkpoint`), and faults in tests.
    package func administer(_ script: String) throws {
        try locked("running a maintenance script") { connection in try connection.execute(SQL(typed: script)) }
    }

    /// What one query answers, as text: for tests, and for looking into a store.
    package func inspect(_ query: String) throws -> [[String]] {
        try readOnce("looking into the store") { connection in
            var found: [[String]] = []
            try connection.rows(SQL(typed: query), values: [], atMost: .max) { row in
                found.append((0..<row.columnCount).map { row.optionalText($0) ?? "" })
            }
            return found
        }
    }

    package var random: RandomSource { options.random }
    package var log: Log { options.log }

    // MARK: Connections

    private static func configureWriter(_ connection: SQLiteConnection, path: String) throws {
        // Before the first page is written: later only VACUUM can (sqlite.org/pragma.html#pragma_auto_vacuum).
        try FreePages.prepareNewFile(connection)
        let mode = try connection.insisting { try $0.first("PRAGMA journal_mode = WAL") { $0.text() } ?? "" }
        guard mode == "wal" else {
            throw StoreError(
                .failed, context: "the store \(path) cannot use write-ahead logging (journal mode is \(mode))",
                hint: "Keep the store on a local file system: WAL needs shared memory (sqlite.org/wal.html)")
        }
        // While the schema grows a transaction need not survive a power cut, only be whole or not there: the next start does
        // it again. NORMAL gives that without waiting for the disk at each step: "WAL mode is always consistent with
        // synchronous=NORMAL, but WAL mode does lose durability" (sqlite.org/pragma.html#pragma_synchronous).
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384;
            PRAGMA journal_size_limit = 67108864;
            """)
    }

    /// FULL: "synchronizes the WAL file after each transaction" (sqlite.org/pragma.html#pragma_synchronous), so that an
    /// outcome that was recorded survives a power cut; and with the first of them what was written to the log before.
    private static func commitDurably(_ connection: SQLiteConnection) throws {
        try connection.execute("PRAGMA synchronous = FULL")
    }

    static func reader(path: String) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try connection.execute(
            """
            PRAGMA query_only = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -2048;
            """)
        return connection
    }

    // MARK: What every method is made of

    /// One transaction on the writer. `doing` becomes the error's context.
    func write<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        let asked = MonotonicClock.now()
        return try locked(doing) { connection in try commit(on: connection, since: asked, body) }
    }

    /// One writer has everything to itself.
    package func write<R: Sendable>(
        _ doing: String, lock: WriteLock, _ body: (SQLiteConnection) throws -> R
    ) throws -> R { try write(doing, body) }

    /// The same for much at once: its commit leaves the log as it is. Waits, before anybody else is made to, where the log has
    /// grown too large.
    package func writeMuch<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        guard let checkpoints else { return try write(doing, body) }
        checkpoints.keepUp()
        let asked = MonotonicClock.now()
        return try locked(doing) { connection in
            try checkpoints.withoutCommits { try commit(on: connection, since: asked, body) }
        }
    }

    func commit<R>(
        on connection: SQLiteConnection, since asked: MonotonicTime, isOfLease: Bool = false,
        _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        let start = options.ticks()
        let (node, memory) = (isOfLease ? nil : membership.held, membership.memory)
        if !isOfLease { try memory.allowWriting() }
        defer {
            let duration = options.ticks() - start
            tally.withLock { $0.commits.add(duration) }
        }
        do {
            let (result, mark) = try connection.write(since: asked) { connection in
                if let node { try NodeTable.hold(node, connection) }
                if !isOfLease, !memory.hasFallen, let seen = memory.seen, try !DecisionTable.holds(seen, connection) {
                    throw memory.fell(to: try DecisionTable.newest(connection))
                }
                return (try body(connection), try DecisionTable.newest(connection))
            }
            memory.note(mark)
            return result
        } catch let error as StoreError where error.code == .wentBack {
            memory.fell(to: nil)
            throw error
        }
    }

    /// Before devices are read that are pushed to: the file's content may be another since the last look.
    func holdPast(_ connection: SQLiteConnection) throws {
        let memory = membership.memory
        try memory.allowWriting()
        guard let seen = memory.seen, try !DecisionTable.holds(seen, connection) else { return }
        throw memory.fell(to: try DecisionTable.newest(connection))
    }

    /// One snapshot on a reader, for methods of more than one statement.
    package func read<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try readOnce(doing) { connection in try connection.transaction("BEGIN", body) }
    }

    /// A reader without a transaction: each statement sees the newest state. For methods of one statement.
    package func readOnce<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        guard options.readers > 0 else { return try locked(doing, body) }
        options.onEnter?()
        return try readers.withConnection { connection in try use(connection, doing, body) }
    }

    /// Whether somebody waits for the writer.
    var isWriterWanted: Bool { writeQueue.length > 0 }

    /// The writer without a transaction.
    func locked<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        options.onEnter?()
        writeQueue.enter()
        defer { writeQueue.leave() }
        return try writer.withLock { connection in
            pulse.beat()
            defer { pulse.rest() }
            return try use(connection, doing, body)
        }
    }

    private func use<R: Sendable>(
        _ connection: SQLiteConnection?, _ doing: String, _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        guard let connection else { throw StoreError(.failed, context: "\(doing) failed: the store is closed") }
        if options.watchesFiles, let fault = files.fault(at: path) {
            note(fault)
            throw fault
        }
        do {
            return try body(connection)
        } catch let failure as SQLiteFailure {
            let error = failure.storeError(doing: doing, path: path)
            note(error)
            throw error
        } catch let error as StoreError {
            note(error)
            throw error
        }
    }

    private func note(_ error: StoreError) {
        if let label = error.code.label { tally.withLock { $0.errors[label, default: 0] += 1 } }
    }
}
