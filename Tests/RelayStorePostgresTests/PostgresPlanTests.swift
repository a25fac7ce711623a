// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import StorePeers
import Testing

@testable import RelayStorePostgres

/// The plans of the hot statements, as sessions of their roles make them: generic ones, which are made once and kept.
@Suite(
    "Plans in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresPlanTests {
    /// What the planner knows of the tables.
    enum Statistics: CaseIterable {
        case none, tiny, large
    }

    /// A statement, the types of its parameters, and what its plan must and must not have.
    private static let hot: [(PostgresStatement, types: String, has: [String], hasNot: [String])] = [
        (BatchReader.production, "bigint, bigint, bigint, bigint", ["Index Scan using device_pkey"], ["Sort"]),
        (BatchReader.sandbox, "bigint, bigint, bigint, bigint", ["Index Scan using device_sandbox"], ["Sort"]),
        (
            BatchReader.productionWithoutRows, "bigint, bigint, bigint, bigint, bigint",
            ["Index Scan using device_pkey", "delivery_pkey"], []
        ),
        (
            BatchReader.sandboxWithoutRows, "bigint, bigint, bigint, bigint, bigint",
            ["using device_sandbox", "delivery_pkey"], []
        ),
        (
            BatchReader.dueRetries, "bigint, bigint, bigint, bigint",
            ["Index Scan using delivery_retry", "device_pkey", "campaign_pkey"], []
        ),
    ]

    @Test(arguments: Statistics.allCases)
    func noneReadsATable(statistics: Statistics) throws {
        let connection = try TestDatabase().connect(.reads)
        try PostgresSchema(name: "upgrade_relay", release: "1").grow(
            connection, at: Timestamp(seconds: 1), until: .soon)
        let rows = [.none: 0, .tiny: 10, .large: 100_000][statistics] ?? 0
        try connection.execute(
            """
            INSERT INTO app (id, name, platform) VALUES (1, 'a', 'ios');
            INSERT INTO device (id, app_id, digest, token, telephone, environment, registered_at)
                SELECT i, 1, gen_random_uuid(), '\\x0001', '+' || i, (i % 1000 = 0)::int, 1 FROM generate_series(1, \(rows)) AS i;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at, next_attempt_at)
                SELECT i % 3, i, 2 + (i % 10 = 0)::int, 1, 1, CASE WHEN i % 10 = 0 THEN i END FROM generate_series(1, \(rows)) AS i
            """, until: .soon)
        if statistics != .none { try connection.execute("ANALYZE", until: .soon) }
        for (number, hot) in Self.hot.enumerated() {
            try connection.execute("PREPARE hot_\(number) (\(hot.types)) AS \(hot.0.text)", until: .soon)
            let nulls = hot.types.split(separator: ",").map { _ in "1" }.joined(separator: ", ")
            let lines = try connection.execute("EXPLAIN (COSTS OFF) EXECUTE hot_\(number) (\(nulls))", until: .soon)
            let plan = (0..<lines.count).map { lines.text($0, 0) }.joined(separator: "\n")
            #expect(!plan.contains("Seq Scan"), "\(plan)")
            for part in hot.has { #expect(plan.contains(part), "\(part): \(plan)") }
            for part in hot.hasNot { #expect(!plan.contains(part), "\(part): \(plan)") }
        }
    }
}
