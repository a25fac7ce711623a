// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
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
    private struct Hot {
        var statement: PostgresStatement
        var types: String
        var has: [String]
        var hasNot: [String] = []
    }

    private static let batches = [
        Hot(
            statement: BatchReader.production, types: "text, text, bigint, bigint, bigint",
            has: ["Index Scan using device_pkey"], hasNot: ["Sort"]),
        Hot(
            statement: BatchReader.sandbox, types: "text, text, bigint, bigint, bigint",
            has: ["Index Scan using device_sandbox"], hasNot: ["Sort"]),
        Hot(
            statement: BatchReader.productionWithoutRows, types: "text, text, bigint, bigint, bigint, bigint",
            has: ["Index Scan using device_pkey", "delivery_pkey"]),
        Hot(
            statement: BatchReader.sandboxWithoutRows, types: "text, text, bigint, bigint, bigint, bigint",
            has: ["using device_sandbox", "delivery_pkey"]),
        Hot(
            statement: BatchReader.dueRetries, types: "bigint, bigint, bigint, bigint",
            has: ["Index Scan using delivery_retry", "Index Cond: (id = delivery.device_id)", "campaign_pkey"]),
        Hot(statement: BatchReader.nextRetry, types: "bigint, bigint", has: ["delivery_retry", "campaign_pkey"]),
    ]

    private static let commits = [
        Hot(
            statement: CommitWriter.retire, types: "bigint[], bigint[], bigint[]", has: ["Index Cond: (id = n.id)"]),
        Hot(
            statement: CommitWriter.correct, types: "bigint[], bigint[], bigint[]", has: ["Index Cond: (id = n.id)"]),
        Hot(
            statement: CommitWriter.isErased, types: "bigint[], text[]",
            has: ["erased_device_pkey", "former_telephone_pkey", "Index Cond: (id = n.id)"]),
        Hot(
            statement: CommitWriter.overlaps, types: "bigint, bigint[], bigint[]",
            has: ["Index Cond: ((campaign_id = $1) AND (last >= n.first))"]),
        Hot(
            statement: CommitWriter.rowsBetween, types: "bigint, bigint[], bigint[]",
            has: ["Index Cond: ((campaign_id = $1) AND (device_id >= n.first) AND (device_id <= n.last))"]),
        Hot(statement: CommitWriter.rowsOf, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
        Hot(
            statement: CommitWriter.insertPacked,
            types: "bigint, bigint, bigint[], bigint[], bigint[], bigint[], bytea[], bytea[]", has: ["Function Scan"]),
        Hot(
            statement: CommitWriter.writeRows,
            types: "bigint, bigint, bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], text[]",
            has: ["delivery_pkey"]),
        Hot(statement: CommitWriter.giveBack, types: "bigint, bigint, bigint[]", has: ["(device_id = ANY ($3)))"]),
        Hot(
            statement: CommitWriter.moveShards, types: "bigint, bigint[], bigint[], bigint[], bigint[]",
            has: ["Index Cond: ((campaign_id = $1) AND (number = "]),
    ]

    private static let registry = [
        Hot(statement: BatchRegistrar.find, types: "uuid[]", has: ["device_digest"]),
        Hot(
            statement: BatchRegistrar.insert,
            types: "bigint, bytea[], uuid[], text[], text[], bigint[], bigint[], bigint[], bigint[]",
            has: ["device_digest"]),
        Hot(
            statement: BatchRegistrar.update,
            types: "bigint, bigint[], text[], text[], bigint[], bigint[], bigint[], bigint[]",
            has: ["Index Cond: (id = n.id)"]),
        Hot(
            statement: BatchRegistrar.remember, types: "bigint, bigint[], text[]",
            has: ["campaign_of_app"]),
        Hot(statement: PostgresStore.find, types: "bigint, bytea[]", has: ["device_digest"]),
        Hot(statement: PostgresStore.lock, types: "bigint, bytea[]", has: ["device_digest"]),
    ]

    private static let marks = [
        Hot(statement: CampaignMarks.told, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
        Hot(
            statement: CampaignMarks.packed, types: "bigint, bigint[]",
            has: ["Index Cond: ((campaign_id = $1) AND (last >= d.id))"]),
        Hot(statement: CampaignMarks.markPacked, types: "bigint, bigint[]", has: ["Function Scan"]),
        Hot(statement: CampaignMarks.rows, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
        Hot(statement: CampaignMarks.markRows, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
        Hot(
            statement: CampaignMarks.markEarly, types: "bigint, bigint[]",
            has: ["(device_id = ANY ($2)))", "campaign_pkey", "shard_pkey"]),
    ]

    private static let rounds = [
        Hot(
            statement: RoundStatements.rows, types: "bigint, bigint, bigint, bigint",
            has: ["using delivery_rare", "Index Cond: (id = d.device_id)"], hasNot: ["Sort"]),
        Hot(
            statement: RoundStatements.accepted, types: "bigint, bigint, bigint",
            has: ["delivery_pkey", "Index Cond: (id = d.device_id)"], hasNot: ["Sort"]),
        Hot(statement: RoundStatements.devices, types: "bigint[]", has: ["Index Cond: (id = ANY ($1))"]),
        Hot(statement: RoundStatements.lock, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
        Hot(
            statement: RoundStatements.putInLine, types: "bigint, bigint, bigint, bigint[], bigint[]",
            has: ["Index Cond: ((campaign_id = $1) AND (device_id = "]),
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
                SELECT i % 3, i, 2 + (i % 10 = 0)::int, 1, 1, CASE WHEN i % 10 = 0 THEN i END FROM generate_series(1, \(rows)) AS i;
            INSERT INTO delivery_batch (campaign_id, last, first, updated_at, accepted, filtered, outcomes, telephones)
                SELECT i % 3, i * 10, i * 10 - 9, 1, 1, 0, '\\x00', '\\x00' FROM generate_series(1, \(rows) / 100) AS i;
            INSERT INTO delivery_upgrade SELECT i % 3, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO campaign_told SELECT i % 3, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO former_telephone SELECT '+' || i, 1, i FROM generate_series(1, \(rows)) AS i;
            INSERT INTO shard (campaign_id, number, cursor, last, remaining)
                SELECT i % 3, i, i * 10, i * 10 + 9, 9 FROM generate_series(1, \(rows) / 100) AS i
            """, until: .soon)
        if statistics != .none { try connection.execute("ANALYZE", until: .soon) }
        let all = Self.batches + Self.commits + Self.registry + Self.marks + Self.rounds
        for (number, hot) in all.enumerated() {
            try connection.execute("PREPARE hot_\(number) (\(hot.types)) AS \(hot.statement.text)", until: .soon)
            let nulls = hot.types.split(separator: ",").map { _ in "NULL" }.joined(separator: ", ")
            let lines = try connection.execute("EXPLAIN (COSTS OFF) EXECUTE hot_\(number) (\(nulls))", until: .soon)
            let plan = (0..<lines.count).map { lines.text($0, 0) }.joined(separator: "\n")
            #expect(!plan.contains("Seq Scan"), "\(plan)")
            // Of ten rows any way is the best, until the server's own ANALYZE sees that there are more: the next minute.
            guard statistics != .tiny else { continue }
            for part in hot.has { #expect(plan.contains(part), "\(part): \(plan)") }
            for part in hot.hasNot { #expect(!plan.contains(part), "\(part): \(plan)") }
        }
    }
}
