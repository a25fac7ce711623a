// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayStorePostgres

@Suite("What the store makes of PostgreSQL's errors")
struct SQLStateTests {
    @Test(arguments: [
        ("57P01", SQLState.Reaction.reconnect, StoreError.Code.unreachable), ("57P02", .reconnect, .unreachable),
        ("57P03", .reconnect, .unreachable), ("57P05", .reconnect, .unreachable), ("25P03", .reconnect, .unreachable),
        ("25006", .reconnect, .unreachable), ("08006", .reconnect, .unreachable), ("08P01", .reconnect, .unreachable),
        ("40001", .busy, .busy), ("40P01", .busy, .busy), ("55P03", .busy, .busy), ("57014", .busy, .busy),
        ("53300", .busy, .busy), ("53100", .full, .full), ("23505", .conflict, .conflict),
        ("23503", .conflict, .conflict),
        ("22P02", .conflict, .conflict), ("22012", .conflict, .conflict), ("P0001", .conflict, .conflict),
        ("54000", .conflict, .conflict), ("0A000", .prepareAnew, .busy), ("26000", .prepareAnew, .busy),
        ("28P01", .failed, .failed), ("42501", .failed, .failed), ("42P01", .failed, .failed),
        ("57P04", .failed, .failed),
        ("XX001", .failed, .failed), ("99999", .failed, .failed),
    ])
    func codes(state: String, reaction: SQLState.Reaction, code: StoreError.Code) {
        #expect(SQLState(state).reaction == reaction)
        let failure = PostgresFailure(.refused(SQLState(state)), "no")
        #expect(failure.storeError(doing: "trying", place: "db1/relay").code == code)
        #expect(failure.isSessionOver == (reaction == .reconnect))
    }

    @Test(
        "Whatever a person can do something about has its hint",
        arguments: [
            "25006", "53300", "53100", "28P01", "28000", "3D000", "42501", "42P01", "XX002",
        ])
    func hints(state: String) {
        #expect(PostgresFailure(.refused(SQLState(state)), "no").storeError(doing: "trying", place: "").hint != nil)
    }

    @Test func theErrorSaysWhatWhereAndWhichRule() {
        var failure = PostgresFailure(
            .refused("23505"), "duplicate key value violates unique constraint \"device_digest\"")
        failure.table = "device"
        failure.constraint = "device_digest"
        let error = failure.storeError(doing: "registering devices", place: "db1/relay")
        #expect(
            error.context
                == "registering devices failed: duplicate key value violates unique constraint \"device_digest\" "
                + "(SQLSTATE 23505, table device, constraint device_digest, db1/relay)")
        failure = PostgresFailure(.lost, "server closed the connection unexpectedly")
        failure.isOutcomeUnknown = true
        #expect(
            failure.storeError(doing: "recording", place: "db1/").context.hasSuffix(
                "; whether it was done is not known"))
    }

    @Test func aRefusedConnectionTellsItsCodeInItsText() {
        let text = """
            connection to server at "127.0.0.1", port 5432 failed: FATAL:  28P01: password authentication failed for user "relay"
            LOCATION:  auth_failed, auth.c:334
            """
        let failure = PostgresFailure(connectionText: text)
        #expect(failure.state == "28P01")
        #expect(
            failure.message
                == "PostgreSQL says: connection to server at \"127.0.0.1\", port 5432 failed: FATAL: password authentication failed "
                + "for user \"relay\""
        )
        let refused = PostgresFailure(
            connectionText:
                "connection to server at \"db1\", port 5432 failed: Connection refused\n\tIs the server running?\n")
        #expect(refused.cause == .lost)
        #expect(refused.message == "connection to server at \"db1\", port 5432 failed: Connection refused")
        #expect(PostgresFailure(connectionText: "").message == "the connection is gone")
    }
}
