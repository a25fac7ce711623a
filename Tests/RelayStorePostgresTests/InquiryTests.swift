// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import Testing

@testable import RelayStorePostgres

@Suite(
    "What check-config --online asks PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct InquiryTests {
    private static func ask(_ database: TestDatabase, password: String? = nil, user: String = "relay") throws
        -> [StoreAnswer]
    {
        PostgresInquiry(
            try PostgresSettings(
                url: database.server.conninfo(database: database.name, user: user),
                password: password.map { Array($0.utf8) }, library: .load())
        ).run()
    }

    /// The limited answers: the test server's own fault, that its data does not survive a crash, is not among them.
    private static func others(_ answers: [StoreAnswer]) -> [StoreAnswer] {
        answers.filter { $0.weight == .limited }
    }

    @Test func whatPublicMayDoIsSaid() throws {
        let database = try TestDatabase.ofNewStore()
        let owner = try database.connect()
        let answers = try Self.ask(database)
        #expect(answers.first?.weight == .good)
        #expect(answers.first?.text.contains("is PostgreSQL") == true)
        #expect(answers.contains { $0.weight == .failed && $0.text.contains("fsync") })
        let first = try #require(Self.others(answers).first)
        #expect(Self.others(answers).count == 1)
        #expect(
            first.text == "every login of the server may use database \(database.name): PUBLIC has CONNECT, TEMPORARY")
        #expect(first.remedy?.contains("REVOKE ALL ON DATABASE \(database.name) FROM PUBLIC") == true)
        try owner.execute("REVOKE ALL ON DATABASE \(database.name) FROM PUBLIC", until: .soon)
        #expect(Self.others(try Self.ask(database)) == [])

        try owner.execute(
            "GRANT EXECUTE ON FUNCTION now_ms TO PUBLIC; GRANT USAGE ON SCHEMA upgrade_relay TO PUBLIC", until: .soon)
        let open = try #require(Self.others(try Self.ask(database)).first)
        #expect(open.text.contains("PUBLIC has rights of 2 things in schema upgrade_relay"))
        #expect(open.text.contains("now_ms"))
        #expect(open.remedy?.contains("when it starts") == true)
        try database.store().close()
        #expect(Self.others(try Self.ask(database)) == [], "and so it did")
    }

    @Test func whatOtherRolesMayDoIsSaid() throws {
        let database = try TestDatabase.ofNewStore()
        let owner = try database.connect()
        try owner.execute("REVOKE ALL ON DATABASE \(database.name) FROM PUBLIC", until: .soon)
        let erp = try database.role("erp")
        try owner.execute(
            "GRANT USAGE ON SCHEMA upgrade_relay TO \(erp); GRANT SELECT, INSERT, UPDATE ON version TO \(erp); GRANT SELECT ON device TO \(erp)",
            until: .soon)
        #expect(Self.others(try Self.ask(database)) == [], "what the guide grants")
        for (grant, thing) in [
            ("CREATE ON SCHEMA upgrade_relay", "SCHEMA"), ("INSERT ON requirement", "requirement"),
            ("DELETE ON version", "version"), ("EXECUTE ON FUNCTION now_ms", "now_ms"), ("TRIGGER ON device", "device"),
        ] {
            try owner.execute("GRANT \(grant) TO \(erp)", until: .soon)
            let answers = Self.others(try Self.ask(database))
            #expect(answers.count == 1, "\(grant)")
            #expect(answers.first?.text.contains("role \(erp) may do more") == true, "\(grant)")
            #expect(answers.first?.text.contains(thing) == true, "\(grant): \(answers)")
            try owner.execute("REVOKE \(grant) FROM \(erp)", until: .soon)
        }
    }

    @Test func whatDoesNotAnswerIsAFailure() throws {
        let database = try TestDatabase()
        let role = try database.role("relay")
        let wrong = try Self.ask(database, password: "wrong", user: role)
        #expect(wrong.map(\.weight) == [.failed])
        #expect(wrong.first?.text.contains("28P01") == true)
        #expect(wrong.first?.text.contains("wrong") == false)
        let noRights = try Self.ask(database, password: "x", user: role)
        #expect(
            noRights.contains {
                $0.weight == .failed && $0.text.contains("may not make tables in schema upgrade_relay")
            })
        #expect(
            try database.connect().value(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'upgrade_relay'::regnamespace") == "0")
    }
}
