// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@Suite("Another program writes to the version store with plain SQL", .ownThread)
struct OutsideWriterTests {
    private static let row = "WHERE app = 'com.example.app' AND platform = 'ios'"

    @Test("A raise is seen, lifts latest, enters the history and makes exactly one campaign", arguments: [false, true])
    func raise(recursiveTriggers: Bool) throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        defer { outsider.close() }
        try outsider.administer("PRAGMA recursive_triggers = \(recursiveTriggers)")
        try fixture.bump(latest: "1.2", required: "1.0")
        _ = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now)
        let mark = try fixture.store.changeMark()
        try fixture.bump(latest: "1.3")
        #expect(try fixture.store.changeMark() == mark, "an own change is none by others")
        try outsider.administer("UPDATE version SET required = '1.10' \(Self.row)")
        #expect(try fixture.store.changeMark() != mark)
        let record = try #require(try fixture.store.version(of: fixture.app))
        #expect(record.required?.text == "1.10")
        #expect(record.latest?.text == "1.10")
        let history = try fixture.store.history(of: fixture.app, limit: 9)
        #expect(history.map(\.actor) == ["unknown", "tester", "tester"])
        #expect(history.map(\.source) == ["database", "test", "test"])
        #expect(history.first?.record.required?.text == "1.10")
        #expect(history.first?.record.latest?.text == "1.10")
        #expect((history.first?.record.updatedAt ?? fixture.now) > fixture.now)
        let campaign = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now).campaign
        #expect(campaign?.requirement.version.text == "1.10")
        #expect(try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now).campaign == nil)
    }

    @Test("latest alone, or another spelling of required, makes no campaign")
    func noRise() throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        defer { outsider.close() }
        try fixture.bump(required: "2.0")
        _ = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now)
        try outsider.administer("UPDATE version SET latest = '3' \(Self.row)")
        #expect(try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now).campaign == nil)
        try outsider.administer("UPDATE version SET required = '02.0.0' \(Self.row)")
        #expect(try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now).campaign == nil)
        try outsider.administer("UPDATE version SET message = message \(Self.row)")
        #expect(try fixture.store.history(of: fixture.app, limit: 9).count == 2, "no change, no entry")
        #expect(try fixture.store.version(of: fixture.app)?.required?.text == "2.0")
    }

    @Test("Its message takes the place of the relay's, in every language")
    func languages() throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        defer { outsider.close() }
        try fixture.bump(required: "2.0")
        let german = try #require(LanguageTag("de"))
        let message = LocalizedText("Now", [.init(german, "Jetzt")])
        let bump = VersionBump(app: fixture.app, required: try Version("2.0"), message: message)
        try fixture.store.decide(
            fixture.app, .asked(bump), by: Signature(by: "tester", via: "test", at: fixture.now),
            in: RequirementMachine.Surroundings(now: fixture.now))
        #expect(try fixture.store.version(of: fixture.app)?.texts?.message == message)
        try outsider.administer("UPDATE version SET message = 'At once' \(Self.row)")
        #expect(try fixture.store.version(of: fixture.app)?.texts?.message == "At once")
        #expect(
            try fixture.store.history(of: fixture.app, limit: 9).map(\.record.texts?.message) == [
                "At once", message, nil,
            ])
    }

    @Test("A row needs no more than app, platform and required", arguments: [false, true])
    func insert(recursiveTriggers: Bool) throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        defer { outsider.close() }
        try outsider.administer("PRAGMA recursive_triggers = \(recursiveTriggers)")
        try outsider.administer(
            """
            INSERT INTO version (app, platform, required, telephones) VALUES ('com.example.app', 'ios', '2', '["1",2]')
            """)
        let record = try #require(try fixture.store.version(of: fixture.app))
        #expect(record.latest?.text == "2")
        #expect(record.requirements.required?.canary == ["1", "2"])
        #expect(try fixture.store.history(of: fixture.app, limit: 9).map(\.actor) == ["unknown"])
        // An upsert, as written by a program that does not know whether there is a row.
        try outsider.administer(
            """
            INSERT INTO version (app, platform, required) VALUES ('com.example.app', 'ios', '2.1')
            ON CONFLICT DO UPDATE SET required = excluded.required
            """)
        try fixture.bump(required: "2.2")
        #expect(
            try fixture.store.history(of: fixture.app, limit: 9).map { $0.record.required?.text } == [
                "2.2", "2.1", "2",
            ])
    }

    @Test("A signed change carries its author")
    func signed() throws {
        let fixture = try StoreFixture()
        try fixture.bump(required: "1")
        try fixture.store.administer(
            """
            UPDATE version SET latest = '2', revision = revision + 1, changed_by = 'ann', changed_from = 'script' \(Self.row)
            """)
        try fixture.store.administer("UPDATE version SET revision = revision + 2 \(Self.row)")
        let newest = try fixture.store.history(of: fixture.app, limit: 1).first
        #expect(newest?.actor == "ann")
        #expect(newest?.source == "database", "another program's, whatever it says")
        #expect(
            try fixture.store.inspect("SELECT revision = (SELECT max(id) FROM requirement_event) FROM version") == [
                ["1"]
            ])
    }

    @Test("The audit trail names who asked by what it calls itself")
    func audited() throws {
        let fixture = try StoreFixture()
        try fixture.bump(required: "1")
        try fixture.store.administer("UPDATE version SET required = '2', changed_by = 'erp' \(Self.row)")
        _ = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now)
        try fixture.store.administer("UPDATE version SET latest = '3' \(Self.row)")
        _ = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now)
        let trail = try fixture.store.audit(AuditFilter(), before: nil, limit: 99).reversed()
        let others = trail.map(\.actor).filter { $0.kind == .database }
        #expect(others == [.database("erp"), .database("unknown")])
    }

    @Test(
        "Nothing lowers a version", arguments: [false, true],
        [
            "UPDATE version SET required = '1.9'", "UPDATE version SET required = '1.9.99.1'",
            "UPDATE version SET required = NULL", "UPDATE version SET latest = NULL",
            "UPDATE version SET latest = '1.11'", "UPDATE version SET latest = '1.12', revision = revision + 1",
            "UPDATE OR IGNORE version SET required = '1.9'", "UPDATE OR REPLACE version SET required = '1.9'",
            "UPDATE version SET app = 'other'", "DELETE FROM version",
            "INSERT OR REPLACE INTO version (app, platform, required) VALUES ('com.example.app', 'ios', '1.9')",
            "INSERT OR REPLACE INTO version (app, platform) VALUES ('com.example.app', 'ios')",
            "DELETE FROM requirement", "UPDATE requirement SET version = '1'",
            "UPDATE requirement SET version_key = '011'",
            "DELETE FROM requirement_event", "UPDATE requirement_event SET state = 'withdrawn'",
        ])
    func falls(recursiveTriggers: Bool, sql: String) throws {
        let fixture = try StoreFixture()
        try fixture.bump(latest: "1.12.1", required: "1.10")
        let before = try fixture.store.history(of: fixture.app, limit: 9)
        try fixture.store.administer("PRAGMA recursive_triggers = \(recursiveTriggers)")
        #expect(try code { try fixture.store.administer(sql) } == .conflict, "\(sql)")
        #expect(try fixture.store.history(of: fixture.app, limit: 9) == before)
        let now = try #require(try fixture.store.version(of: fixture.app))
        #expect(try now.asksTheSame(as: #require(before.first?.record)))
    }

    @Test(
        "Versions rise as numbers, segment by segment",
        arguments: [("1.9", "1.10"), ("1.9", "2"), ("2.0", "2.0.0.1"), ("9", "10.0"), ("1.01", "1.2"), ("0", "0.0.1")])
    func rises(old: String, new: String) throws {
        let fixture = try StoreFixture()
        try fixture.bump(latest: "99", required: old)
        try fixture.store.administer("UPDATE version SET required = '\(new)'")
        #expect(try fixture.store.version(of: fixture.app)?.required?.text == new)
        #expect(try code { try fixture.store.administer("UPDATE version SET required = '\(old)'") } == .conflict)
    }

    @Test(
        "What is not a version is refused",
        arguments: [
            "", ".", "1.", ".1", "1..2", "1.2b", "v1", " 1", "1 ", "-1", "1,2", "１", "1234567890123456789",
            "1\u{0}x", "1.11111111111111111111111111111111111111111111111111111111111111.1", "\",\"", "[]",
        ])
    func notAVersion(text: String) throws {
        let fixture = try StoreFixture()
        try fixture.bump(latest: "1")
        let hex = text.utf8.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
        for column in ["latest", "required"] {
            #expect(
                try code { try fixture.store.administer("UPDATE version SET \(column) = CAST(x'\(hex)' AS TEXT)") }
                    == .conflict, "\(column) = \(text)")
        }
        #expect(throws: VersionError.self) { try Version(text) }
    }

    @Test("A version of 18 digits with leading zeros is one, for SQL as for Swift")
    func longNumbers() throws {
        let fixture = try StoreFixture()
        try fixture.bump(latest: "1")
        try fixture.store.administer("UPDATE version SET latest = '00999999999999999999.1'")
        #expect(try fixture.store.version(of: fixture.app)?.latest == Version("999999999999999999.1"))
    }

    @Test(
        "After a withdrawal nothing else lowers a version", arguments: [false, true],
        [
            "UPDATE version SET required = '1.8'", "UPDATE version SET latest = '1.8', required = '1.8'",
            "UPDATE version SET required = '1.8', changed_from = 'withdraw'",
            "INSERT OR REPLACE INTO version (app, platform, required) VALUES ('com.example.app', 'ios', '1.8')",
            """
            REPLACE INTO version (app, platform, required, latest, revision, changed_from)
                VALUES ('com.example.app', 'ios', '1.8', '1.8', 9, 'withdraw')
            """,
        ])
    func fallsAfterWithdrawal(recursiveTriggers: Bool, sql: String) throws {
        let fixture = try StoreFixture()
        try fixture.bump(required: "1.9")
        try fixture.bump(required: "2")
        _ = try fixture.store.withdraw(
            try Version("2"), of: fixture.app, by: .operator("ann"), reason: nil, at: fixture.now)
        let before = try fixture.store.history(of: fixture.app, limit: 9)
        #expect(before.map { $0.record.required?.text } == ["1.9", "2", "1.9"])
        try fixture.store.administer("PRAGMA recursive_triggers = \(recursiveTriggers)")
        #expect(try code { try fixture.store.administer(sql) } == .conflict, "\(sql)")
        #expect(try fixture.store.history(of: fixture.app, limit: 9) == before)
        #expect(try fixture.store.check { _ in true } == [])
        // A row that is made anew is compared with the newest entry alone.
        try fixture.store.administer(
            recursiveTriggers
                ? "UPDATE version SET required = '1.9.1'"
                : """
                REPLACE INTO version (app, platform, required, latest)
                    VALUES ('com.example.app', 'ios', '1.9.1', '1.9.1')
                """)
        #expect(try fixture.store.version(of: fixture.app)?.required?.text == "1.9.1")
    }
}
