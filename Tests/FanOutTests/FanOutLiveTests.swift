// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTP2
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import SeedApps
import Signing
import StoreConformance
import StoreSQL
import Synchronization
import TestStores
import Testing
import UpgradeRules

@testable import FanOut
@testable import PushSimulator
@testable import RelayStoreSQLite

/// The fan-out between a real store and a real push service, in one process and on a clock that the test moves.
@Suite(.serialized, .ownThread) struct FanOutLiveTests {
    private let bench: FanOutBench

    init() throws { bench = try FanOutBench() }

    private func simulator(_ configure: (inout SimulatorConfiguration) -> Void = { _ in }) throws -> PushSimulator {
        var configuration = SimulatorConfiguration(
            topics: [FanOutBench.app.app], teamID: FanOutBench.teamID, keys: [FanOutBench.keyID: bench.key.publicKey])
        configuration.certificate = .generated(directory: bench.folder.path)
        configure(&configuration)
        let simulator = try PushSimulator(configuration)
        try simulator.start()
        return simulator
    }

    private func fanOut(_ simulator: PushSimulator, _ bench: FanOutBench? = nil) throws -> FanOut {
        let bench = bench ?? self.bench
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: simulator.port))
        pool.dialer.egress.trustedCertificates = simulator.trustedCertificatePath
        return try bench.fanOut(pool, timeToLive: .seconds(3_600))
    }

    @Test("A start over a campaign that is half done goes through no table that grows with the audience")
    func resumptionPlans() throws {
        let simulator = try simulator()
        defer { simulator.stop() }
        var bench = bench
        try bench.register(2_000)
        try bench.raise("2.0")
        let draft = CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(3_600))
        let begun = try bench.store.reconcile(FanOutBench.app, draft: draft, at: bench.clock.now)
        let campaign = try #require(begun.campaign)
        try bench.store.planShards(campaign.key, shardSize: 500, waves: nil, at: bench.clock.now)
        try bench.reopen()
        defer { bench.store.close() }
        // The queries of the API's board and the status at the start.
        _ = try (bench.store.versions(), bench.store.alerts(at: bench.clock.now), bench.store.seenVersions())
        _ = try (bench.store.census(), bench.store.campaign(id: campaign.id))
        _ = try bench.store.sawVersions(
            [Sighting(app: FanOutBench.app, token: String(format: "%064x", 1), version: Version("1.0"))],
            at: bench.clock.now)
        let fanOut = try fanOut(simulator, bench)
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.runToTheEnd(fanOut)
        #expect(try bench.campaign().figures.counts.accepted == 2_000)
        // The relay releases the ended campaign in a later turn.
        let store = try #require(bench.store as? SQLiteStore)
        try bench.wait { try store.plans().contains { $0.statement.hasPrefix("UPDATE project") } }
        let plans = try store.plans()
        #expect(plans.contains { $0.statement.contains("FROM shard") } && plans.count > 20)
        for (statement, plan) in plans {
            // The requirement in force is found by the index that has an app's requirements in their order, for each campaign
            // that is listed.
            let sorts = plan.contains("USE TEMP B-TREE FOR ORDER BY") && statement.contains("FROM requirement AS f")
            #expect(!sorts, "\(statement)")
            for step in plan where step.hasPrefix("SCAN") || step.hasSuffix("device_live (app_id=?)") {
                // Tables with few rows for each app, campaign, receiver, release and project of a push service; the schema;
                // values in the statement itself.
                let small = [
                    "app", "a", "version", "alert", "campaign", "c", "receiver", "r", "release", "project",
                    "sqlite_schema", "sqlite_master",
                    // The store's identity: one row.
                    "i",
                ]
                let table = step.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                #expect(small.contains(table) || step.contains("CONSTANT ROW"), "\(step): \(statement)")
            }
        }
    }

    /// A counter that is missing from the first scrape hides everything it counts before the second.
    @Test func everyAppHasItsFiguresBeforeTheFirstTurn() throws {
        let simulator = try simulator()
        defer { simulator.stop() }
        let fanOut = try fanOut(simulator)
        defer { fanOut.stop(within: .seconds(5)) }
        #expect(fanOut.work.apps == [FanOutBench.app])
    }

    @Test func whatCouldNotBeSentInTimeExpires() throws {
        let simulator = try simulator { $0.faults.serviceErrors = .init(afterN: 0, count: 1_000_000) }
        defer { simulator.stop() }
        try bench.register(200)
        let fanOut = try fanOut(simulator)
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2.0")
        fanOut.poke()
        // The first batch; all but a few of the rest are held.
        try #require(simulator.wait(forRequests: 64, deadline: .seconds(60)))
        // The clock goes on until a few more have been tried.
        for _ in 0..<20 where simulator.figures.requests < 72 {
            bench.clock.advance(by: .seconds(100))
            fanOut.poke()
            _ = simulator.wait(forRequests: 72, deadline: .seconds(1))
        }
        #expect((72..<200).contains(simulator.figures.requests))
        // An hour after the raise nothing may be sent.
        bench.clock.advance(by: .seconds(3_600))
        fanOut.poke()
        try #require(bench.lines.wait(for: "the campaign's time to live ran out", deadline: .seconds(60)))
        let end = try bench.campaign()
        #expect(end.state == .completed)
        #expect(end.figures.counts.expired == 200)
        #expect(end.figures.counts.audience == 200)
    }

    @Test func eachPushIsTakenByItsOwnUserWhateverTheTelephone() throws {
        // Compared literally, by UTF-16 code units: no two of these are equal.
        let telephones = [
            "13800138000", "+8613800138000", " 13800138000", "13800138000 ", "１３８", "138\"00", "138\\00", "138/00",
            "caf\u{e9}", "cafe\u{301}", "\u{1f695}", "\u{2028}", "\u{1}\u{7f}", "0", "00", "1.0",
        ]
        let record = bench.folder.appending(path: "record.ndjson")
        let simulator = try simulator { $0.recordPath = record.path }
        defer { simulator.stop() }
        var jury = PushJury(pushType: "needUpgrade")
        jury.required = "2.0"
        try bench.store.register(
            telephones.enumerated().map { number, telephone in
                let token = String(format: "%064x", number + 1)
                jury.telephones[token] = [telephone]
                return DeviceRegistration(app: FanOutBench.app, token: token, telephone: telephone, version: nil)
            }, at: bench.clock.now)
        let fanOut = try fanOut(simulator)
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2.0")
        fanOut.poke()
        try #require(bench.lines.wait(for: "the campaign is complete", deadline: .seconds(60)))
        let verdict = try jury.verdict(onRecord: Data(contentsOf: record))
        #expect(verdict.judged == telephones.count)
        #expect(verdict.faults == [])
    }

    /// The API takes hex digits only, but other programs write to the store too.
    @Test func aTokenThatIsNoneWritesNothingIntoItsRequest() throws {
        let hostile = [
            "aa\r\nx-evil: 1", "aa\r\n\r\n", "cut", "nothing", "aa\u{1B}[2J", " ", "aa bb", "../../3/device/aa",
            "aa?b=c",
            "aa#", "é",
            String(repeating: "a", count: 100_000), "zz",
        ]
        let record = bench.folder.appending(path: "record.ndjson")
        let simulator = try simulator { $0.recordPath = record.path }
        defer { simulator.stop() }
        try bench.register(300)
        try bench.store.register(
            hostile.map { DeviceRegistration(app: FanOutBench.app, token: $0, telephone: "138", version: nil) },
            at: bench.clock.now)
        // The relay would not write these.
        try bench.store.administer(
            """
            UPDATE device SET token = CAST(x'616100' AS TEXT) WHERE token = 'cut';
            UPDATE device SET token = CAST(x'00' AS TEXT) WHERE token = 'nothing';
            """)
        #expect(
            try bench.store.inspect("SELECT count(*) FROM device WHERE instr(CAST(token AS BLOB), x'00') > 0") == [
                ["2"]
            ])
        let fanOut = try fanOut(simulator)
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2.0")
        fanOut.poke()
        try #require(bench.lines.wait(for: "the campaign is complete", deadline: .seconds(60)))
        let end = try bench.campaign()
        #expect(end.figures.counts.accepted == 300)
        #expect(end.figures.counts.rejected == Int64(hostile.count))
        // One with a colon is taken for a token of FCM, which this app has not.
        let ofFCM = Int64(hostile.count { $0.contains(":") })
        #expect(
            end.figures.rejectedBy
                == ["MalformedDeviceToken": Int64(hostile.count) - ofFCM, "ProviderNotConfigured": ofFCM])
        // None of them has left.
        #expect(simulator.figures.requests == 300)
    }
}

extension SQLiteStore {
    /// The query plan of every statement that reads or writes rows and that this store has run so far.
    fileprivate func plans() throws -> [(statement: String, plan: [String])] {
        func texts(_ connection: SQLiteConnection?) -> [String] { connection?.statements.keys.map(\.text) ?? [] }
        let all = try locked("listing statements", texts) + readers.all(texts).joined()
        let queries = Set(all).filter { text in
            ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains { text.hasPrefix($0) }
        }
        return try queries.map { ($0, try inspect("EXPLAIN QUERY PLAN \($0)").compactMap(\.last)) }
    }
}
