// SPDX-License-Identifier: Apache-2.0
import CPostgres
import RelayStore

/// An error of the server or of the connection to it, before the store adds what it was doing. Never leaves this module.
struct PostgresFailure: Error {
    enum Cause: Hashable, Sendable {
        /// The server answered with an error.
        case refused(SQLState)
        /// No connection could be made, or it broke.
        case lost
        /// No answer came in time, and the statement could not be cancelled: its connection was closed.
        case silent
        /// This end closed the session, and the server is well: a cancel may still be on its way to it.
        case dropped
        /// The pool had no free connection in time.
        case crowded
    }

    var cause: Cause
    /// The server's message. Its DETAIL is left out: it quotes rows, and telephones with them.
    var message: String
    /// The table and the constraint of a 23xxx.
    var table, constraint: String?
    /// Whether the work may have been done nevertheless: it was sent outside of a transaction or as a COMMIT, and no answer came.
    var isOutcomeUnknown = false

    init(_ cause: Cause, _ message: String) {
        (self.cause, self.message) = (cause, message)
    }

    /// Whether the session has ended, or must not be used any more.
    var isSessionOver: Bool {
        switch cause {
        case .refused(let state): state.reaction == .reconnect
        case .lost, .silent, .dropped: true
        case .crowded: false
        }
    }

    var state: SQLState? { if case .refused(let state) = cause { state } else { nil } }

    /// The error as the rest of the daemon sees it.
    ///
    /// - Parameters:
    ///   - doing: what was being done, as in "registering devices".
    ///   - place: the server and its database, for the text.
    func storeError(doing: String, place: String) -> StoreError {
        let (code, hint): (StoreError.Code, String?) =
            switch cause {
            case .refused(let state): (state.storeCode, state.hint)
            case .lost, .silent, .dropped:
                (
                    .unreachable,
                    "The relay connects again by itself; if this lasts, look at the server and the way to it"
                )
            case .crowded: (.busy, "If this lasts, raise store.postgres.connections, or look for slow statements")
            }
        var context = "\(doing) failed: \(message)"
        let rule = [table.map { "table \($0)" }, constraint.map { "constraint \($0)" }].compactMap(\.self)
        let code5 = state.map { ["SQLSTATE \($0)"] } ?? []
        let facts = code5 + rule + [place]
        context += " (\(facts.joined(separator: ", ")))"
        if isOutcomeUnknown { context += "; whether it was done is not known" }
        return StoreError(code, context: context, hint: hint)
    }
}

extension PostgresFailure {
    /// Reads the error that a result holds.
    @safe init(result: OpaquePointer, of connection: OpaquePointer) {
        func field(_ code: Int) -> String? {
            unsafe relay_PQresultErrorField(result, Int32(code)).map { unsafe String(cString: $0) }
        }
        if let state = field(PG_DIAG_SQLSTATE) {
            self.init(
                .refused(SQLState(ServerText.line(state))),
                ServerText.said(field(PG_DIAG_MESSAGE_PRIMARY) ?? "an error without words"))
            table = field(PG_DIAG_TABLE_NAME).map(ServerText.line)
            constraint = field(PG_DIAG_CONSTRAINT_NAME).map(ServerText.line)
        } else {
            self.init(ofConnection: connection)
        }
    }

    /// Reads libpq's error message for the connection itself.
    @safe init(ofConnection connection: OpaquePointer) {
        let text = unsafe relay_PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
        self.init(connectionText: text)
    }

    /// - Parameter text: libpq's message for a connection that could not be made, or broke. A server's refusal appears
    ///   in it as `FATAL:  28P01: password authentication failed …`: the verbose form, the only one with the SQLSTATE
    ///   (libpq has no result at that point). Lines after the first are its DETAIL, LOCATION and advice for users of
    ///   psql.
    init(connectionText text: String) {
        // The first line ends where libpq writes a line end: any other line separator is the server's, and is taken out.
        let line = text.split(separator: "\n").first.map(String.init) ?? "the connection is gone"
        guard let match = line.firstMatch(of: #/: {2}([0-9A-Z]{5}): /#) else {
            self.init(.lost, ServerText.line(line))
            return
        }
        self.init(
            .refused(SQLState(String(match.output.1))),
            ServerText.said(line.replacingCharacters(in: match.range, with: ": ")))
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
