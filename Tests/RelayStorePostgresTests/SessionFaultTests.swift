// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayStorePostgres

@Suite("What is wrong with a server's settings, judged")
struct SessionFaultTests {
    private static func good() -> SessionFacts {
        SessionFacts(version: 150_018, role: "relay", database: "relay", freeConnections: 90)
    }

    @Test func nothingIs() {
        #expect(Self.good().faults(needed: 6, schema: "upgrade_relay").isEmpty)
        #expect(SessionFacts(version: 130_000, freeConnections: 6).faults(needed: 6, schema: "s").isEmpty)
    }

    private typealias Row = (SessionFault.Code, SessionFault.Consequence, (inout SessionFacts) -> Void)

    @Test func eachByItself() throws {
        let rows: [Row] = [
            (.serverTooOld, .refuse, { $0.version = 120_022 }), (.standby, .refuse, { $0.isStandby = true }),
            (.noFsync, .unready, { $0.fsync = false }), (.noFullPageWrites, .unready, { $0.fullPageWrites = false }),
            (.encoding, .refuse, { $0.encoding = "LATIN1" }),
            (.transactionPooler, .refuse, { $0.hearsNotifications = false }),
            (.tooFewConnections, .refuse, { $0.freeConnections = 5 }),
            (.tooFewConnections, .refuse, { $0.freeConnections = -3 }),
            (.noRights, .refuse, { $0.mayUseSchema = false }),
        ]
        for (code, consequence, change) in rows {
            var facts = Self.good()
            change(&facts)
            let faults = facts.faults(needed: 6, schema: "upgrade_relay")
            let fault = try #require(faults.first)
            #expect(faults.count == 1)
            #expect(fault.code == code)
            #expect(fault.consequence == consequence, "\(code)")
            #expect(!fault.context.isEmpty && !fault.hint.isEmpty, "\(code)")
            #expect(fault.storeError.context == fault.context && fault.storeError.hint == fault.hint)
        }
    }

    @Test func allAtOnce() {
        let facts = SessionFacts(
            version: 90_600, isStandby: true, fsync: false, fullPageWrites: false, encoding: "SQL_ASCII",
            hasSchema: false, mayUseSchema: false, hearsNotifications: false)
        #expect(facts.faults(needed: 6, schema: "upgrade_relay").count == 8)
    }

    @Test func whoHasNoSchemaIsToldToMakeOne() {
        var facts = Self.good()
        facts.hasSchema = false
        facts.mayUseSchema = false
        let fault = facts.faults(needed: 6, schema: "upgrade_relay").first
        #expect(fault?.hint == "CREATE SCHEMA upgrade_relay AUTHORIZATION relay")
    }
}
