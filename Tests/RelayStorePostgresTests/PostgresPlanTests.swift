// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayStore
import StorePeers
import StoreSQL
import Testing

@testable import RelayStorePostgres

/// The plans of the hot statements, as sessions of their roles make them: generic ones, made once and kept.
@Suite(
    "Plans in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresPlanTests {
    /// A statement, the types of its parameters, and what its plan must and must not have.
    private struct Hot {
        var statement: PostgresStatement
        var types: String
        var has: [String]
        var hasNot: [String] = []
    }

    private static let batches = [
        Hot(
            statement: BatchReader.batches[0], types: "text, text, bigint, bigint, bigint",
            has: ["Index Scan using device_pkey"], hasNot: ["Sort"]),
        Hot(
            statement: BatchReader.batches[1], types: "text, text, bigint, bigint, bigint",
            has: ["Index Scan using device_sandbox"], hasNot: ["Sort"]),
        Hot(
            statement: BatchReader.batchesWithoutRows[0], types: "text, text, bigint, bigint, bigint, bigint",
            has: ["Index Scan using device_pkey", "delivery_pkey"]),
        Hot(
            statement: BatchReader.batchesWithoutRows[1], types: "text, text, bigint, bigint, bigint, bigint",
            has: ["using device_sandbox", "delivery_pkey"]),
        Hot(
            statement: BatchReader.batches[2], types: "text, text, bigint, bigint, bigint",
            has: ["Index Scan using device_channel_2"], hasNot: ["Sort"]),
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
        Hot(
            statement: CommitWriter.writeReminders,
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
            types: "bigint, bytea[], uuid[], bigint[], bigint[], bigint[], bigint[], text[], text[], text[], text[]",
            has: ["device_digest"]),
        Hot(
            statement: BatchRegistrar.update,
            types: "bigint, bigint[], bigint[], bigint[], bigint[], bigint[], text[], text[], text[], text[]",
            has: ["Index Cond: (id = n.id)"]),
        Hot(
            statement: BatchRegistrar.remember, types: "bigint, bigint[], text[]",
            has: ["campaign_of_app"]),
        Hot(statement: PostgresStore.find, types: "bigint, bytea[]", has: ["device_digest"]),
        Hot(statement: PostgresStore.lock, types: "bigint, bytea[]", has: ["device_digest"]),
    ]

    private static let marks = [
        Hot(statement: CampaignMarks.notices, types: "bigint, bigint[]", has: ["(device_id = ANY ($2)))"]),
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

    private static let dead = [
        Hot(statement: DeadDevices.placeTokens, types: "bigint, bigint, bytea[]", has: ["device_digest"]),
        Hot(
            statement: DeadDevices.placeDevices, types: "bigint, bigint, bigint[]",
            has: ["Index Cond: (", "id = n.id"]),
    ]

    @Test(arguments: Statistics.allCases)
    func deadTokensComeFromTheirIndex(statistics: Statistics) throws {
        for sql in [DeadTable.page, DeadTable.places] {
            let plan = try PlanDatabase.with(statistics).plan(of: NumberedParameters.numbered(sql.text), parameters: 4)
            #expect(
                plan.contains("Index Scan using device_retired")
                    || plan.contains("Index Only Scan using device_retired"), "\(plan)")
            #expect(plan.contains("retired_order > $2") && !plan.contains("Sort"), "\(plan)")
        }
    }

    @Test(arguments: Statistics.allCases)
    func whoDidWhatIsNotSorted(statistics: Statistics) throws {
        var (ofCampaign, ofApp) = (AuditFilter(), AuditFilter())
        (ofCampaign.campaign, ofApp.app) = ("0123456789ab", "a")
        for (filter, index) in [
            (AuditFilter(), "audit_pkey"), (ofCampaign, "audit_campaign"), (ofApp, "audit_app"),
        ] {
            let (condition, values) = AuditTable.condition(filter, before: nil)
            let sql: SQL = "SELECT \(AuditEntry.columns) FROM audit WHERE \(condition) ORDER BY id DESC LIMIT ?"
            let plan = try PlanDatabase.with(statistics).plan(
                of: NumberedParameters.numbered(sql.text), parameters: values.count + 1)
            #expect(plan.contains(index) && !plan.contains("Sort"), "\(plan)")
        }
    }

    @Test(arguments: Statistics.allCases)
    func devicesAreCountedByTheirKey(statistics: Statistics) throws {
        let sql = VersionShareTable.part(.postgres)
        let plan = try PlanDatabase.with(statistics).plan(of: NumberedParameters.numbered(sql.text), parameters: 4)
        #expect(plan.contains("Index Scan using device_pkey"), "\(plan)")
        #expect(plan.contains("(ROW(app_id, id) > ROW($1, $2))"), "\(plan)")
    }

    @Test(arguments: Statistics.allCases)
    func noneReadsATable(statistics: Statistics) throws {
        let database = try PlanDatabase.with(statistics)
        for hot in Self.batches + Self.commits + Self.registry + Self.marks + Self.rounds + Self.dead {
            let plan = try database.plan(
                of: hot.statement.text, types: hot.types, parameters: hot.types.split(separator: ",").count)
            #expect(!plan.contains("Seq Scan"), "\(plan)")
            // With ten rows every plan is good, until the server's own ANALYZE finds that there are more, in the next minute.
            guard statistics != .tiny else { continue }
            for part in hot.has { #expect(plan.contains(part), "\(part): \(plan)") }
            for part in hot.hasNot { #expect(!plan.contains(part), "\(part): \(plan)") }
        }
    }
}
