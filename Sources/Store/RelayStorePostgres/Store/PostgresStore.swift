// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
package import StoreSQL
import Synchronization
package import Telemetry
import Threading

/// The relay's store in a schema of a PostgreSQL database: several sessions, in which each statement sees everything
/// that was committed before it. A decision takes the app's lock first (`WriteLock`); counters that every session
/// changes are spread over 16 rows by session.
///
/// Calls block and may be made from any thread. The closures that some of them take must not call the store again, and may run
/// up to three times (`Repetition`).
package final class PostgresStore: PrunableSQL {
    let options: Options
    let schema: PostgresSchema
    let pool: PostgresPool
    /// The writers' pulse. Always at rest: nothing waits without a deadline of its own.
    package let pulse = Pulse("store writer")
    /// Figures of the calls, for metrics.
    let tally = Mutex(StoreFigures())
    /// The watch over changes by other relays.
    let watch: Mutex<ChangeWatch>
    package var membership: Membership { options.membership }
    package let decisions = DecisionNotices()
    private let askedOfPast = Atomic<UInt64>(0)
    /// The newest erased device that this process has seen, and when it saw it first.
    let erasedDevices = Mutex<(newest: Int64, at: MonotonicTime)?>(nil)
    /// A setting of the server with which the store may lose data that it promises to keep.
    let unready: SessionFault?
    /// The tables that are written to; none where the schema was not brought to the newest version.
    let tables: [String]

    /// Connects, makes the schema where there is none, and brings it to the newest version.
    ///
    /// - Parameter release: this release's name, for the store's own record of the releases that worked on it.
    /// - Throws: `StoreError`: `.tooNew` when a newer release has changed the schema, `.unreachable`, `.busy`, or `.failed` with a
    ///   hint.
    package init(_ settings: PostgresSettings, release: String = "unknown", options: Options = Options()) throws {
        self.options = options
        watch = Mutex(ChangeWatch(longest: options.longestSilence))
        schema = PostgresSchema(name: settings.schema, release: release)
        let memory = options.membership.memory
        // Only a new session can lead to another server.
        let pool = PostgresPool(settings, log: options.log) { connection, deadline throws(PostgresFailure) in
            guard !memory.hasFallen, let seen = memory.seen, let question = Self.holdDecision(seen) else { return }
            try connection.execute(question, until: deadline)
        }
        self.pool = pool
        do {
            let deadline = MonotonicClock.now() + Self.patience(.requests)
            let faults = try pool.faults(
                schema: settings.schema, connections: settings.connections, until: deadline)
            if let fault = faults.first(where: { $0.consequence == .refuse }) { throw fault.storeError }
            unready = options.isTrial ? nil : faults.first
            guard options.grows else {
                tables = []
                return
            }
            tables = try pool.use(.long, "opening the store", until: MonotonicClock.now() + Self.patience(.long)) {
                [schema] connection in
                let deadline = MonotonicClock.now() + Self.patience(.long)
                try schema.grow(connection, at: options.clock(), until: deadline)
                return try Self.tables(connection, until: deadline)
            }
        } catch {
            pool.close()
            throw error
        }
    }

    package func close() {
        pool.close()
    }

    package var random: RandomSource { options.random }
    package var log: Log { options.changes }

    // MARK: Reading and writing

    /// How long a call may take; the server's own limit is longer.
    static func patience(_ role: PostgresRole) -> Duration { role.statementTimeout * 9 / 10 }

    /// The deadline of a call. A sender waits no longer than this relay's lease is trusted: pushes that no lane has sent by
    /// then must be called back.
    private func deadline(_ role: PostgresRole) -> MonotonicTime {
        let patience = Self.patience(role)
        guard role == .reads || role == .commits, let left = membership.untilDoubt else {
            return MonotonicClock.now() + patience
        }
        return MonotonicClock.now() + min(patience, max(left - PostgresConnection.grace, .milliseconds(500)))
    }

    package func read<R: Sendable>(_ doing: String, _ body: (PostgresSession) throws -> R) throws -> R {
        try look(.requests, doing, isSnapshot: true, body)
    }

    package func readOnce<R: Sendable>(_ doing: String, _ body: (PostgresSession) throws -> R) throws -> R {
        try look(.requests, doing, isSnapshot: false, body)
    }

    package func write<R: Sendable>(
        _ doing: String, lock: WriteLock, _ body: (PostgresSession) throws -> R
    ) throws -> R {
        try write(.requests, doing, lock: lock, body)
    }

    /// - Parameter isSnapshot: whether all of its statements see the same state.
    func look<R: Sendable>(
        _ role: PostgresRole, _ doing: String, isSnapshot: Bool, _ body: (PostgresSession) throws -> R
    ) throws -> R {
        options.onEnter?()
        let deadline = deadline(role)
        return try noting {
            // Devices that are read here are pushed to.
            if role == .reads { try membership.memory.allowWriting() }
            return try pool.use(role, doing, isReadOnly: true, until: deadline) { connection in
                // A server's content may be replaced while its sessions stay open. Each transaction that writes asks as
                // well.
                if role == .reads, isPastDue(), let question = membership.memory.seen.flatMap(Self.holdDecision) {
                    try connection.execute(question, until: deadline)
                }
                let session = PostgresSession(connection: connection, deadline: deadline, isReadOnly: true)
                guard isSnapshot else { return try body(session) }
                return try connection.transaction(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", until: deadline
                ) { _ in try body(session) }
            }
        }
    }

    /// Runs one transaction under `lock`. Each of its statements sees what other transactions have committed before it.
    func write<R: Sendable>(
        _ role: PostgresRole, _ doing: String, lock: WriteLock = .rows, _ body: (PostgresSession) throws -> R
    ) throws -> R {
        options.onEnter?()
        let deadline = deadline(role)
        let memory = membership.memory
        return try noting {
            try memory.allowWriting()
            let start = MonotonicClock.now()
            let result = try pool.use(role, doing, until: deadline) { connection in
                // Sent as one message, composed of numbers and checked texts alone. The mark seen so far is read at
                // this moment.
                let begin = [
                    "BEGIN", membership.held.map { "SELECT hold_node(\($0.node), \($0.incarnation))" },
                    memory.hasFallen ? nil : memory.seen.flatMap(Self.holdDecision),
                ].compactMap(\.self).joined(separator: "; ")
                // Not asked with a batch of outcomes: it decides nothing, and the number of its lease's commits shows
                // whether the store went back.
                let question = PostgresConnection.AfterCommit(text: DecisionTable.newest.text) { rows in
                    let found = rows.first {
                        (identity: $0.written(), decision: Int64($0.written()), sign: $0.written())
                    }
                    guard let found, let number = found.decision else { return }
                    memory.note(StoreMark(identity: found.identity, decision: number, sign: found.sign))
                }
                return try connection.transaction(
                    begin, until: deadline, then: role == .commits ? nil : question
                ) { connection in
                    let session = PostgresSession(connection: connection, deadline: deadline)
                    try session.take(lock)
                    return try body(session)
                }
            }
            tally.withLock { $0.commits.add(MonotonicClock.now() - start) }
            // No batch of outcomes changes what is required.
            if role != .commits { watch.withLock { $0.doubt() } }
            return result
        }
    }

    /// Whether 100 ms have passed since a reader of devices to push to last asked whether the store holds the mark that was seen.
    private func isPastDue() -> Bool {
        let now = MonotonicClock.now().nanoseconds
        let last = askedOfPast.load(ordering: .relaxed)
        guard now - last > 100_000_000 else { return false }
        return askedOfPast.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    }

    func noting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as StoreError {
            if let label = error.code.label { tally.withLock { $0.errors[label, default: 0] += 1 } }
            guard error.code == .wentBack else { throw error }
            throw membership.memory.fell(to: nil)
        }
    }

    /// The statement that checks that the store holds a mark; nil where the mark's texts are not of the form that this
    /// program makes, since they become part of the statement.
    static func holdDecision(_ seen: StoreMark) -> String? {
        let isPlain = (seen.identity + seen.sign).utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        return isPlain ? "SELECT hold_decision('\(seen.identity)', \(seen.decision), '\(seen.sign)')" : nil
    }
}

extension PostgresSession {
    /// Takes the lock until the end of the transaction. The app's lock includes the runs of its campaigns: no commit of
    /// outcomes is recorded until then, and each statement that follows sees the counts and the shards in the same
    /// state.
    fileprivate func take(_ lock: WriteLock) throws {
        switch lock {
        case .rows: break
        case .app(let app):
            try run("SELECT lock_app(?, ?)", app.app, app.platform)
            try run(
                """
                SELECT FROM campaign_run AS n JOIN campaign AS c ON c.id = n.campaign_id JOIN app AS a ON a.id = c.app_id
                WHERE a.name = ? AND a.platform = ? AND (c.finished_at IS NULL OR n.owner IS NOT NULL)
                ORDER BY n.campaign_id FOR UPDATE OF n
                """, app.app, app.platform)
        case .campaign(let campaign):
            try run(
                "SELECT lock_app(a.name, a.platform) FROM campaign AS c JOIN app AS a ON a.id = c.app_id WHERE c.id = ?",
                campaign.row)
            try run("SELECT FROM campaign_run WHERE campaign_id = ? FOR UPDATE", campaign.row)
        }
    }
}

extension PostgresStore {
    /// The settings that a store is opened with. The defaults are the daemon's.
    package struct Options: Sendable {
        /// The time of opening, with which the schema's steps are recorded. Default the system's.
        package var clock: @Sendable () -> Timestamp = WallClock.now
        /// Measures a part of long work, which decides the size of the next part. Default the system's clock.
        package var ticks: @Sendable () -> MonotonicTime = MonotonicClock.now
        /// The source of campaigns' public ids. Default the system's.
        package var random = RandomSource.system
        /// Receives a line when the database is gone or back. Default: discarded.
        package var log = Log.discarding
        /// Receives a line for each change of what is required. Default: discarded.
        package var changes = Log.discarding
        /// This relay's membership among other relays. Default a relay that is alone.
        package var membership = Membership()
        /// Whether the schema is made, or brought to the newest version. Default true.
        package var grows = true
        /// Leaves the machine to other work between the parts of long work. Default sleeps.
        package var rest: @Sendable (Duration) -> Void = Pause.rest
        /// How long a known change mark counts while no change is notified. Zero: the store is asked each time, for a
        /// clock that is not the system's. Default two seconds.
        package var longestSilence = Duration.seconds(2)
        /// Whether the store works on a server that may lose data: for tests and demonstrations. Default false.
        package var isTrial = false
        /// Called before each transaction and each look, so that other relays have their turn in a simulation, which has one
        /// thread. Not by `close()`. Default nil: nothing is called.
        package var onEnter: (@Sendable () -> Void)?

        package init() {}
    }
}
