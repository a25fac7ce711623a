// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres
import RelayEngine
import StorePeers
import StoreSQL
import Synchronization
import Testing

@testable import RelayStorePostgres

/// The planner's knowledge of the tables.
enum Statistics: Int, CaseIterable {
    case none = 0
    case tiny = 10
    case large = 100_000

    /// The number of devices, and of outcomes.
    var rows: Int { rawValue }
}

/// A store's tables with a number of rows, for plans as a session of the relay makes them: generic ones, made once and kept.
final class PlanDatabase: Sendable {
    private static let all = Result {
        try Dictionary(uniqueKeysWithValues: Statistics.allCases.map { ($0, try PlanDatabase($0)) })
    }

    static func with(_ statistics: Statistics) throws -> PlanDatabase { try #require(try all.get()[statistics]) }

    private let connection: Mutex<(session: PostgresConnection, prepared: Int)>

    private init(_ statistics: Statistics) throws {
        let database = try TestDatabase()
        // Filling it may take longer than a session of the fan-out waits.
        let filler = try database.connect(.long)
        try PostgresSchema(name: "upgrade_relay", release: "1").grow(filler, at: Timestamp(seconds: 1), until: .soon)
        let rows = statistics.rows
        try filler.execute(
            """
            INSERT INTO app (id, name, platform) VALUES (1, 'a', 'ios');
            INSERT INTO device (id, app_id, digest, token, telephone, environment, registered_at)
                SELECT i, 1, gen_random_uuid(), '\\x0001', '+' || i, (i % 1000 = 0)::int, 1 FROM generate_series(1, \(rows)) AS i;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at, next_attempt_at)
                SELECT i % 3, i, 2 + (i % 10 = 0)::int, 1, 1, CASE WHEN i % 10 = 0 THEN i END FROM generate_series(1, \(rows)) AS i;
            INSERT INTO delivery_batch (campaign_id, last, first, updated_at, accepted, filtered, outcomes, telephones)
                SELECT i % 3, i * 10, i * 10 - 9, 1, 1, 0, '\\x00', '\\x00' FROM generate_series(1, \(rows) / 100) AS i;
            INSERT INTO delivery_upgrade SELECT i % 3, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO campaign_told SELECT i % 3, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO former_telephone SELECT '+' || i, 1, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO shard (campaign_id, number, cursor, last, remaining)
                SELECT i % 3, i, i * 10, i * 10 + 9, 9 FROM generate_series(1, \(rows) / 100) AS i
            """, until: .soon)
        if statistics != .none { try filler.execute("ANALYZE", until: .soon) }
        connection = Mutex((try database.connect(.reads), 0))
    }

    /// Returns EXPLAIN's output for a statement.
    ///
    /// - Parameters:
    ///   - types: the types of its parameters; nil: the server infers them.
    ///   - count: the number of its parameters.
    func plan(of text: String, types: String? = nil, parameters count: Int, as format: String = "TEXT") throws -> String
    {
        try connection.withLock { connection in
            connection.prepared += 1
            let name = "plan_\(connection.prepared)"
            try connection.session.execute(
                "PREPARE \(name) \(types.map { "(\($0))" } ?? "") AS \(text)", until: .soon)
            let nulls = [String](repeating: "NULL", count: count).joined(separator: ", ")
            let lines = try connection.session.execute(
                "EXPLAIN (COSTS OFF, FORMAT \(format)) EXECUTE \(name) \(count == 0 ? "" : "(\(nulls))")", until: .soon)
            return (0..<lines.count).map { lines.text($0, 0) }.joined(separator: "\n")
        }
    }
}

/// The plans of the statements that both drivers have in common: each is checked once, as soon as a test has run it.
enum CommonPlans {
    /// The tables with a row for each device, or for each that was pushed to.
    private static let large: Set = [
        "device", "delivery", "delivery_batch", "delivery_upgrade", "campaign_told", "former_telephone",
    ]
    private static let seen = Mutex<Set<SQL>>([])

    /// Records an issue if a plan goes through all of a large table, or begins with the first row of an app.
    static func check(_ statements: some Sequence<(text: SQL, parameters: Int)>) throws {
        for (text, parameters) in statements where seen.withLock({ $0.insert(text).inserted }) {
            for statistics in Statistics.allCases {
                let plan = try PlanDatabase.with(statistics).plan(
                    of: NumberedParameters.numbered(text.text), parameters: parameters, as: "JSON")
                // The equality alone decides where an index scan begins, not the row comparison (nbtsearch.c, _bt_first).
                #expect(!plan.contains(#/Index Cond": "[^"]*ROW[^"]*\(app_id = /#), "\(statistics): \(text): \(plan)")
                let tables = Self.tables(
                    readWhole: try JSONSerialization.jsonObject(with: Data(plan.utf8)))
                #expect(tables.isEmpty, "\(statistics): \(text) reads all of \(tables): \(plan)")
            }
        }
    }

    private static func tables(readWhole part: Any, for parent: String? = nil) -> Set<String> {
        if let list = part as? [Any] {
            return list.reduce(into: []) { $0.formUnion(tables(readWhole: $1, for: parent)) }
        }
        guard let node = part as? [String: Any] else { return [] }
        let kind = node["Node Type"] as? String
        var found = node.values.reduce(into: Set<String>()) { $0.formUnion(tables(readWhole: $1, for: kind)) }
        // The greatest id is the first entry of its index, read backwards.
        let isOneEntry = parent == "Limit" && kind == "Index Only Scan" && node["Filter"] == nil
        if let table = node["Relation Name"] as? String, large.contains(table), kind?.contains("Scan") == true,
            node["Index Cond"] == nil, !isOneEntry
        {
            found.insert(table)
        }
        return found
    }
}
