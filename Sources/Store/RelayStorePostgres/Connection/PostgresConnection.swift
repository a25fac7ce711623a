// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import StoreSQL
import Synchronization
import Threading

/// One session with the server: a statement is one message and one answer, each with a deadline.
///
/// Only poll(2) blocks, until the deadline. A statement that is not answered by then is cancelled; where the cancelled
/// statement is not answered within `grace` either, the connection is closed. The server's own statement_timeout then ends
/// what it is still doing.
///
/// Unchecked, and this is the proof: "only one thread at a time may manipulate the same PGconn object"
/// (postgresql.org/docs, "libpq", "Behavior in Threaded Programs"). A connection is in one of three places: known only
/// to the code that makes it; among the idle connections of a pool's lane, under the lane's mutex; or taken out of the
/// lane, as the parameter of the one closure that runs with it.
@safe final class PostgresConnection: @unchecked Sendable {
    /// How long the answer to a cancelled statement may take.
    static let grace = Duration.seconds(1)

    let handle: OpaquePointer
    private let isEncrypted: Bool
    /// The server's names for the statements that this session has prepared, by their numbers.
    private var prepared: [Int: String] = [:]
    /// The same for statements that are known only by their text, with the server's description.
    var described: [SQL: DescribedStatement] = [:]
    var preparations = 0
    var parameters = PostgresParameters()
    private let noticed: NoticeList
    /// The number of outages that the pool had seen when this connection was made.
    var generation = 0
    /// Whether it listens to the schema's triggers.
    var isListening = false
    /// Why the session cannot be used any more; nil: it can.
    private(set) var end: PostgresFailure?

    /// Takes over a connection that has just been made.
    ///
    /// - Parameter noticed: collects the server's notices since the connection was begun.
    init(_ handle: OpaquePointer, _ noticed: NoticeList) {
        unsafe self.handle = handle
        isEncrypted = unsafe relay_PQsslInUse(handle) == 1
        self.noticed = noticed
    }

    deinit { unsafe relay_PQfinish(handle) }

    /// 150018 is 15.18.
    var serverVersion: Int { unsafe Int(relay_PQserverVersion(handle)) }

    /// The server process as it was reported at the start: a pooler reports a number of its own.
    var processID: Int32 { unsafe relay_PQbackendPID(handle) }

    /// The socket, for poll(2).
    var descriptor: Int32 { unsafe relay_PQsocket(handle) }

    var isInTransaction: Bool { unsafe relay_PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// The server's warnings since the last call.
    func takeNotices() -> [String] { noticed.take() }

    /// Whether the session still looks open: a server that stopped while the session was idle has closed it. Sends nothing.
    func looksAlive() -> Bool {
        // The server's last message comes before the end of the connection.
        for _ in 0..<8 where end == nil {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&request, 1, 0) != 0 else { return true }
            if unsafe relay_PQconsumeInput(handle) != 1 || relay_PQstatus(handle) != CONNECTION_OK {
                end = unsafe PostgresFailure(ofConnection: handle)
            }
        }
        return end == nil
    }

    // MARK: Statements

    /// Runs a statement, which is prepared at its first use, and again where the server requires that.
    ///
    /// - Parameters:
    ///   - deadline: the answer comes by then; otherwise `PostgresFailure` is thrown within `grace` after it.
    ///   - fill: adds `$1` and so on.
    @discardableResult
    func run(
        _ statement: PostgresStatement, until deadline: MonotonicTime,
        _ fill: (inout PostgresParameters) -> Void = { _ in }
    ) throws(PostgresFailure) -> PostgresRows {
        parameters.removeAll()
        fill(&parameters)
        do throws(PostgresFailure) {
            return try runPrepared(statement, until: deadline)
        } catch {
            guard error.state?.reaction == .prepareAnew else { throw error }
            // The old prepared statement stays on the server, under its own name, until the session ends.
            prepared[statement.number] = nil
            // Not within a transaction, which the failure has ended.
            guard !isInTransaction else { throw error }
            return try runPrepared(statement, until: deadline)
        }
    }

    private func runPrepared(
        _ statement: PostgresStatement, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> PostgresRows {
        let name = if let name = prepared[statement.number] { name } else { try prepare(statement, until: deadline) }
        let isRisky = !statement.isReadOnly && !isInTransaction
        try send(isRisky: isRisky) {
            unsafe parameters.withValues { values, lengths, formats in
                unsafe relay_PQsendQueryPrepared(
                    handle, name, Int32(parameters.count), values, lengths, formats, 1)
            }
        }
        return try answer(until: deadline, isRisky: isRisky)
    }

    private func prepare(
        _ statement: PostgresStatement, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> String {
        preparations += 1
        let name = "relay_\(preparations)"
        try send(isRisky: false) {
            unsafe relay_PQsendPrepare(handle, name, statement.text, Int32(parameters.count), parameters.types)
        }
        _ = try answer(until: deadline, isRisky: false)
        prepared[statement.number] = name
        return name
    }

    /// Runs one statement that is not worth preparing.
    @discardableResult
    func runOnce(
        _ text: String, until deadline: MonotonicTime, _ fill: (inout PostgresParameters) -> Void = { _ in }
    ) throws(PostgresFailure) -> PostgresRows {
        parameters.removeAll()
        fill(&parameters)
        let isRisky = !isInTransaction
        try send(isRisky: isRisky) {
            unsafe parameters.withValues { values, lengths, formats in
                unsafe relay_PQsendQueryParams(
                    handle, text, Int32(parameters.count), parameters.types, values, lengths, formats, 1)
            }
        }
        return try answer(until: deadline, isRisky: isRisky)
    }

    /// Runs a script of any number of statements, in one transaction unless it contains its own; returns the last result, as text.
    @discardableResult
    func execute(_ script: String, until deadline: MonotonicTime) throws(PostgresFailure) -> PostgresRows {
        let isRisky = !isInTransaction || script == "COMMIT"
        try send(isRisky: isRisky) { unsafe relay_PQsendQuery(handle, script) }
        return try answer(until: deadline, isRisky: isRisky)
    }

    /// A query that is sent together with a COMMIT.
    struct AfterCommit {
        var text: String
        /// Receives the query's rows, unless it failed.
        var take: (borrowing PostgresRows) -> Void
    }

    /// Runs `body` in a transaction, which is rolled back when anything throws.
    ///
    /// A failure of the COMMIT itself by a lost connection is `isOutcomeUnknown`; every other failure means that nothing was done.
    ///
    /// - Parameters:
    ///   - begin: the statement that begins it.
    ///   - question: a query in the message of the COMMIT, about the state after it; nil: none.
    func transaction<R>(
        _ begin: String = "BEGIN", until deadline: MonotonicTime, then question: AfterCommit? = nil,
        _ body: (PostgresConnection) throws -> R
    ) throws -> R {
        try execute(begin, until: deadline)
        do {
            let result = try body(self)
            if let question {
                if let rows = try commit(then: question.text, until: deadline) { question.take(rows) }
            } else {
                try execute("COMMIT", until: deadline)
            }
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// - Returns: the answer to the question; nil where the COMMIT succeeded and the question failed.
    private func commit(then question: String, until deadline: MonotonicTime) throws(PostgresFailure) -> PostgresRows? {
        try send(isRisky: true) { unsafe relay_PQsendQuery(handle, "COMMIT; " + question) }
        var isCommitted = false
        do throws(PostgresFailure) {
            return try answer(until: deadline, isRisky: true) { isCommitted = true }
        } catch {
            guard isCommitted else { throw error }
            return nil
        }
    }

    /// Rolls back an open transaction; where that fails the session is over.
    func rollBack() {
        guard end == nil, isInTransaction else { return }
        do throws(PostgresFailure) {
            try execute("ROLLBACK", until: MonotonicClock.now() + Self.grace)
        } catch {
            close(error)
        }
    }

    // MARK: Sending and waiting

    /// Marks the session as over; the server rolls back its open transaction.
    func close(_ failure: PostgresFailure) { if end == nil { end = failure } }

    /// Hands a message to libpq. Throws at once where the session is over.
    ///
    /// - Parameter isRisky: whether a lost answer leaves open whether the work was done.
    func send(isRisky: Bool, _ call: () -> Int32) throws(PostgresFailure) {
        if let end { throw end }
        guard call() == 1 else {
            var failure = unsafe PostgresFailure(ofConnection: handle)
            // The message may have been sent in part.
            failure.isOutcomeUnknown = isRisky && failure.isSessionOver
            close(failure)
            throw failure
        }
    }

    /// Reads the server's whole answer to the last message, and returns its last result.
    ///
    /// - Parameter each: called for each statement of the message that succeeded.
    func answer(
        until deadline: MonotonicTime, isRisky: Bool, each: () -> Void = {}
    ) throws(PostgresFailure) -> PostgresRows {
        var patience = Patience(deadline)
        var last: PostgresRows?
        var failure: PostgresFailure?
        do throws(PostgresFailure) {
            try flush(&patience)
            while let result = unsafe try next(&patience) {
                switch unsafe Int(relay_PQresultStatus(result)) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                    last = unsafe PostgresRows(result)
                    each()
                case PGRES_COPY_IN:
                    return unsafe PostgresRows(result)
                default:
                    // The first error is the cause of those that follow.
                    if failure == nil { failure = unsafe PostgresFailure(result: result, of: handle) }
                    unsafe relay_PQclear(result)
                }
            }
        } catch {
            failure = failure ?? error
        }
        if var failure {
            if patience.isCancelled, failure.state == "57014" {
                failure.message = "no answer came in time, and the statement was cancelled"
            } else if patience.isCancelled || failure.isSessionOver {
                close(failure)
            }
            failure.isOutcomeUnknown = isRisky && failure.isSessionOver
            throw failure
        }
        // The cancel may still be on its way, and hit the next statement.
        if patience.isCancelled {
            close(PostgresFailure(.dropped, "a statement was answered after it had been cancelled"))
        }
        guard let last else { throw PostgresFailure(.lost, "the server gave no answer to a statement") }
        return last
    }

    /// Writes what libpq has buffered, and reads at the same time: a server that cannot write does not read either
    /// (PQflush's page).
    func flush(_ patience: inout Patience) throws(PostgresFailure) {
        while true {
            switch unsafe relay_PQflush(handle) {
            case 0: return
            case 1: try wait(POLLIN | POLLOUT, &patience)
            default: throw unsafe PostgresFailure(ofConnection: handle)
            }
        }
    }

    private func next(_ patience: inout Patience) throws(PostgresFailure) -> OpaquePointer? {
        while unsafe relay_PQisBusy(handle) == 1 { try wait(POLLIN, &patience) }
        return unsafe relay_PQgetResult(handle)
    }

    /// Waits until the socket is ready, and reads what has come.
    ///
    /// - Throws: `.silent` when the wait is over. At the deadline the statement is cancelled, and `grace` later this
    ///   throws; where the cancel cannot be started, it throws at the deadline.
    func wait(_ events: Int32, _ patience: inout Patience) throws(PostgresFailure) {
        var now = MonotonicClock.now()
        while true {
            if now >= patience.deadline {
                guard !patience.isCancelled, unsafe CancelRequest.start(for: handle) else {
                    throw PostgresFailure(.silent, "the server does not answer")
                }
                patience = Patience(now + Self.grace, isCancelled: true)
            }
            var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // TLS may have taken more off the socket than libpq took from TLS: PostgreSQL 17 and later send records of 16
            // KiB, of which libpq 15 takes 8 at a time. So libpq is asked again every 100 ms, even if the socket has nothing.
            let longest = isEncrypted ? Duration.milliseconds(100) : .seconds(60)
            let rest = min(patience.deadline - now, longest) + .nanoseconds(999_999)
            let ready = unsafe poll(&request, 1, Int32(clamping: rest.milliseconds))
            if ready != 0 || isEncrypted {
                for _ in 0..<(isEncrypted ? 2 : 1) {
                    guard unsafe relay_PQconsumeInput(handle) == 1 else {
                        // The server's last message before it closed the connection can still be read.
                        if unsafe relay_PQisBusy(handle) == 0 { return }
                        throw unsafe PostgresFailure(ofConnection: handle)
                    }
                }
                return
            }
            now = MonotonicClock.now()
        }
    }

    /// How long to wait for an answer.
    struct Patience {
        var deadline: MonotonicTime
        var isCancelled = false

        init(_ deadline: MonotonicTime, isCancelled: Bool = false) {
            (self.deadline, self.isCancelled) = (deadline, isCancelled)
        }
    }
}
