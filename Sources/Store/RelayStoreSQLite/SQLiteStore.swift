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
    /// The writer's pulse: beats with every call that takes the writer, and now and then in the middle of a long statement.
    package let pulse: Pulse
    private let writer: Mutex<SQLiteConnection?>
    /// Taken before the writer, so that a caller that writes again and again lets every other caller have its turn.
    let writeQueue = WriteQueue()
    /// Figures of the calls, for metrics.
    let tally = Mutex(StoreFigures())
    /// When users of devices were erased: a push that was on its way then must not bring them back (`OutcomeRecorder`). Kept
    /// in memory, since the pushes on their way end with the process.
    let erased = Mutex<[Int64: MonotonicTime]>([:])
    package var membership: Membership { options.membership }
    package let decisions = DecisionNotices()
    let readers: ReaderPool
    /// The files that the store was opened with.
    let files: StoreFiles
    /// nil where each commit copies the log.
    let checkpoints: Checkpoints?
    /// The tables that the store had when it was opened.
    private let tables: [SQL]

    /// Opens the store, creates it (mode 0600) where there is none, and brings it to the newest schema.
    ///
    /// - Parameter release: this release's name, for the store's own record of the releases that worked on it.
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
            // Deletes no row: fails unless each table exists and can be written to.
            for table in tables { _ = try connection.run("DELETE FROM \(table) WHERE 0") }
            _ = try connection.run("UPDATE probe SET written = written + 1")
        }
    }

    package func changeMark() throws -> Int64 {
        // On the writer, `data_version` counts the commits of every other connection, not the writer's own.
        try locked("asking for changes by others") { connection in
            try connection.integer("PRAGMA data_version") ?? 0
        }
    }

    /// Runs a script on the writer: maintenance (`VACUUM`, `PRAGMA wal_checkpoint`), and faults in tests.
    package func administer(_ script: String) throws {
        try locked("running a maintenance script") { connection in try connection.execute(SQL(typed: script)) }
    }

    /// Returns the rows of one query as text: for tests, and for looking into a store.
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
        // Before the first page is written: later only VACUUM can do it (sqlite.org/pragma.html#pragma_auto_vacuum).
        try FreePages.prepareNewFile(connection)
        let mode = try connection.insisting { try $0.first("PRAGMA journal_mode = WAL") { $0.text() } ?? "" }
        guard mode == "wal" else {
            throw StoreError(
                .failed, context: "the store \(path) cannot use write-ahead logging (journal mode is \(mode))",
                hint: "Keep the store on a local file system: WAL needs shared memory (sqlite.org/wal.html)")
        }
        // While the schema grows, a transaction need not survive a power cut: it must only be whole or absent, and the next
        // start does it again. NORMAL gives that without waiting for the disk at each step: "WAL mode is always consistent
        // with synchronous=NORMAL, but WAL mode does lose durability" (sqlite.org/pragma.html#pragma_synchronous).
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384;
            PRAGMA journal_size_limit = 67108864;
            """)
    }

    /// FULL: "synchronizes the WAL file after each transaction" (sqlite.org/pragma.html#pragma_synchronous), so that a
    /// recorded outcome survives a power cut; the first such transaction also secures everything that the log already has.
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

    // MARK: Reading and writing

    /// Runs one transaction on the writer. `doing` becomes the error's context.
    func write<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        let asked = MonotonicClock.now()
        return try locked(doing) { connection in try commit(on: connection, since: asked, body) }
    }

    /// Takes no lock: the one writer has everything to itself.
    package func write<R: Sendable>(
        _ doing: String, lock: WriteLock, _ body: (SQLiteConnection) throws -> R
    ) throws -> R { try write(doing, body) }

    /// The same for a large write: its commit leaves the log as it is. Where the log has grown too large, this waits before
    /// it takes the writer, so that no other caller waits.
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

    /// Called before reading devices that are pushed to: the file's content may have been replaced since the last look.
    func holdPast(_ connection: SQLiteConnection) throws {
        let memory = membership.memory
        try memory.allowWriting()
        guard let seen = memory.seen, try !DecisionTable.holds(seen, connection) else { return }
        throw memory.fell(to: try DecisionTable.newest(connection))
    }

    /// Reads one snapshot on a reader, for methods of more than one statement.
    package func read<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try readOnce(doing) { connection in try connection.transaction("BEGIN", body) }
    }

    /// Reads without a transaction: each statement sees the newest state. For methods of one statement.
    package func readOnce<R: Sendable>(_ doing: String, _ body: (SQLiteConnection) throws -> R) throws -> R {
        guard options.readers > 0 else { return try locked(doing, body) }
        options.onEnter?()
        return try readers.withConnection { connection in try use(connection, doing, body) }
    }

    /// Whether a caller waits for the writer.
    var isWriterWanted: Bool { writeQueue.length > 0 }

    /// Uses the writer without a transaction.
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
