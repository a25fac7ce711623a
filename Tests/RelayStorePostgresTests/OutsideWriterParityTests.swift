// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import OwnThread
import PrivatePostgres
import StorePeers
import Testing

@testable import RelayStorePostgres

/// PostgreSQL holds other programs to the rules of SQLite's triggers (`OutsideWriterTests`).
@Suite(
    "Another program writes to the version store with plain SQL, in either database", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct OutsideWriterParityTests {
    private static let insert = "INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2.0')"

    /// Withdraws the newest requirement. Only one row, because each database has its own order of several.
    private static let withdrawal = """
        UPDATE requirement SET state = 'withdrawn', changed_by = 'ann', changed_via = 'api', changed_at = 9
        WHERE id = (SELECT max(id) FROM requirement WHERE app = 'a' AND state <> 'withdrawn')
        """

    /// The statements, and whether each is accepted.
    private static let rules: [(sql: String, isTaken: Bool)] =
        [
            (insert, true), (insert, false),
            (
                "INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2.1') "
                    + "ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required", true
            ),
            (
                "INSERT INTO version (app, platform, required, latest, telephones) VALUES ('b', 'android', '2', '3', '[\"1\",\"2\"]')",
                true
            ),
            ("INSERT INTO version (app, platform, required) VALUES ('', 'ios', '2')", false),
            ("INSERT INTO version (app, platform, required) VALUES ('c', 'windows', '2')", false),
            ("UPDATE version SET required = '1.9' WHERE app = 'a'", false),
            ("UPDATE version SET required = '2.0.99.1' WHERE app = 'a'", false),
            ("UPDATE version SET required = NULL WHERE app = 'a'", false),
            ("UPDATE version SET latest = NULL WHERE app = 'a'", false),
            ("UPDATE version SET latest = '2.0' WHERE app = 'a'", false),
            ("UPDATE version SET latest = '2.0', revision = revision + 1 WHERE app = 'a'", false),
            ("UPDATE version SET app = 'other' WHERE app = 'a'", false), ("DELETE FROM version", false),
            ("UPDATE version SET required = '02.1.0' WHERE app = 'a'", true),
            ("UPDATE version SET message = message", true),
            ("UPDATE version SET message = 'new' WHERE app = 'a'", true),
            (
                "UPDATE version SET latest = '2.5', changed_by = 'ann', changed_from = 'script', revision = revision + 1 WHERE app = 'a'",
                true
            ),
            ("UPDATE version SET revision = revision + 2 WHERE app = 'a'", true),
            ("UPDATE version SET latest = '2.6', changed_by = 'ann' WHERE app = 'a'", true),
            (
                "UPDATE version SET required = '2.10', download_url = 'https://x', required_build = 7 WHERE app = 'a'",
                true
            ),
            ("UPDATE version SET required_build = 6 WHERE app = 'a'", false),
            ("UPDATE version SET required_build = 8 WHERE app = 'a'", true),
            ("UPDATE version SET required_build = NULL WHERE app = 'a'", false),
            ("UPDATE version SET required_build = 0", false), ("UPDATE version SET download_url = ''", false),
            ("UPDATE version SET telephones = '{}' WHERE app = 'a'", false),
            ("UPDATE version SET telephones = '[\"9\"]' WHERE app = 'a'", true),
            ("UPDATE version SET required = '3', telephones = '[\"9\",\"8\"]' WHERE app = 'a'", true),
            ("UPDATE version SET latest = '99999999999999999999' WHERE app = 'a'", false),
            ("UPDATE version SET latest = '00999999999999999999.1' WHERE app = 'a'", true),
            ("UPDATE requirement SET version = '1' WHERE id = 1", false),
            ("UPDATE requirement SET version_key = '011' WHERE id = 1", false),
            ("DELETE FROM requirement", false), ("DELETE FROM requirement_event", false),
            ("UPDATE requirement_event SET state = 'withdrawn'", false),
            ("UPDATE requirement SET state = 'waiting' WHERE app = 'a' AND kind = 'required'", true),
            ("UPDATE requirement SET state = 'asked' WHERE id = 1", false),
            (
                "UPDATE requirement SET state = 'withdrawn', changed_by = 'ann', changed_via = 'api', changed_at = 9 WHERE version = '3' AND app = 'a'",
                true
            ),
            ("UPDATE requirement SET state = 'waiting' WHERE version = '3' AND app = 'a'", false),
            ("UPDATE version SET required = '2.1' WHERE app = 'a'", false),
            ("UPDATE version SET required = '2.1', changed_from = 'withdraw' WHERE app = 'a'", false),
            ("UPDATE version SET required = '2.11' WHERE app = 'a'", true),
        ]

    /// The last statements, which begin by withdrawing everything.
    private static let ending: [(sql: String, isTaken: Bool)] =
        Array(repeating: (withdrawal, true), count: 9) + [
            ("UPDATE version SET required = '0.1' WHERE app = 'a'", true),
            ("UPDATE requirement SET state = 'waiting' WHERE version = '0.1'", true),
            // Comes last, because a refused insert still takes a number of PostgreSQL's sequence.
            (
                "INSERT INTO requirement (app, platform, kind, version, version_key, state, reach, gated, released, asked_at, "
                    + "changed_by, changed_via, changed_at) VALUES ('a', 'ios', 'required', '0.0.1', '0000011', 'asked', 10000, "
                    + "0, 0, 1, 'x', 'y', 1)", false
            ),
        ]

    @Test func eachRuleHoldsInBothAndComesToTheSame() throws {
        let writers: [any OutsideWriter] = [try SQLiteOutsideWriter(), try PostgresOutsideWriter()]
        for (sql, isTaken) in Self.rules + Self.ending {
            for writer in writers { #expect(try writer.write(sql) == isTaken, "\(type(of: writer)): \(sql)") }
            let (one, other) = (try writers[0].state(), try writers[1].state())
            #expect(one == other, "\(sql): \(one.filter { !other.contains($0) }) \(other.filter { !one.contains($0) })")
        }
        #expect(try writers[0].state().count > 20)
    }

    @Test("What is not a version is refused by both")
    func notAVersion() throws {
        let texts = [
            "", ".", "1.", ".1", "1..2", "1.2b", "v1", " 1", "1 ", "-1", "1,2", "１", "1234567890123456789", "\",\"",
            "[]",
            "1.11111111111111111111111111111111111111111111111111111111111111.1",
        ]
        for writer in [try SQLiteOutsideWriter(), try PostgresOutsideWriter()] as [any OutsideWriter] {
            #expect(try writer.write(Self.insert))
            for text in texts {
                for column in ["latest", "required"] {
                    #expect(
                        try !writer.write("UPDATE version SET \(column) = '\(text)'"),
                        "\(type(of: writer)): \(column) = \(text)")
                }
            }
        }
    }

    /// Random statements, half of them senseless: both databases accept the same ones, with the same result.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func whatever(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        func one(_ texts: String...) -> String { texts.randomElement(using: &chance) ?? "" }
        func version() -> String {
            one(
                "NULL", "'\(Int.random(in: 0...3, using: &chance))'",
                "'\(Int.random(in: 0...3, using: &chance)).\(Int.random(in: 0...11, using: &chance))'",
                "'1.0.\(Int.random(in: 0...9, using: &chance))'", "'2.00'", "'x'")
        }
        func setting() -> String {
            switch Int.random(in: 0..<9, using: &chance) {
            case 0, 1: "required = \(version())"
            case 2: "latest = \(version())"
            case 3: "required_build = \(one("NULL", "1", "2", "3", "5"))"
            case 4: "latest_build = \(one("NULL", "1", "2", "4", "6"))"
            case 5: "download_url = \(one("NULL", "''", "'https://one'", "'https://two'"))"
            case 6: "message = \(one("NULL", "'one'", "'two'"))"
            case 7: "telephones = \(one("NULL", "'[\"1\"]'", "'[\"2\",\"3\"]'", "'[]'"))"
            default: "changed_by = \(one("'ann'", "'bob'", "'unknown'"))"
            }
        }
        func statement() -> String {
            let app = "app = \(one("'a'", "'b'"))"
            switch Int.random(in: 0..<10, using: &chance) {
            case 0:
                return
                    "INSERT INTO version (app, platform, required, latest, message) VALUES (\(one("'a'", "'b'")), 'ios', \(version()), \(version()), \(one("NULL", "'m'")))"
            case 1:
                return
                    "INSERT INTO version (app, platform, required) VALUES (\(one("'a'", "'b'")), 'ios', \(version())) "
                    + "ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required, message = excluded.message"
            case 2:
                return
                    "UPDATE requirement SET state = \(one("'waiting'", "'withdrawn'", "'withdrawn'", "'announced'")), changed_by = 'relay', "
                    + "changed_via = 'api', changed_at = 7 WHERE id = (SELECT max(id) FROM requirement WHERE \(app) AND state <> 'withdrawn')"
            default:
                // Each column once, because PostgreSQL's grammar refuses a repeated one.
                var settings: [String: String] = [:]
                for _ in 0...Int.random(in: 0..<3, using: &chance) {
                    let text = setting()
                    settings[String(text.prefix { $0 != " " })] = text
                }
                return "UPDATE version SET \(settings.values.sorted().joined(separator: ", ")) WHERE \(app)"
            }
        }
        let (sqlite, postgres) = (try SQLiteOutsideWriter(), try PostgresOutsideWriter())
        var taken = 0
        for number in 0..<150 {
            let sql = statement()
            let isTaken = try sqlite.write(sql)
            #expect(try postgres.write(sql) == isTaken, "statement \(number): \(sql)")
            let (one, other) = (try sqlite.state(), try postgres.state())
            try #require(
                one == other,
                "statement \(number), \(sql): \(one.filter { !other.contains($0) }) \(other.filter { !one.contains($0) })"
            )
            taken += isTaken ? 1 : 0
        }
        #expect(taken > 30)
    }
}
