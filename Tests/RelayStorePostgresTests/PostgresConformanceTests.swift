// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StorePeers
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStorePostgres

@Suite(
    "The PostgreSQL driver keeps the rules of every driver", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresConformanceTests {
    private let app = AppKey(app: "com.example.app", platform: .android)
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test(arguments: ConformanceCase.all.filter { $0.ability == nil })
    func holds(_ rule: ConformanceCase) async throws {
        let database = try TestDatabase.ofNewStore()
        let store = try database.store()
        // Opening a store takes longer than most rules.
        let second = rule.isOfTwo ? try database.store() : nil
        defer {
            second?.close()
            store.close()
        }
        try await rule.hold(for: store, beside: second)
        try CommonPlans.check(store.pool.statements)
    }

    @Test("A copy is the server's to make")
    func snapshot() throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        let error = try #require(throws: StoreError.self) { try store.snapshot { _ in true } }
        #expect(error.hint?.contains("pg_dump") == true)
    }

    @Test("An outcome of a device that is gone is kept, and the check of the store finds it")
    func gone() throws {
        let database = try TestDatabase()
        let store = try database.store()
        defer { store.close() }
        try store.register([DeviceRegistration(app: app, token: "1", telephone: "138", version: nil)], at: now)
        _ = try store.apply(
            VersionBump(app: app, required: try Version("2")), actor: "t", source: "t", at: now,
            draft: CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(60)), waitingReason: nil,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try store.openCampaigns().first)
        try store.planShards(campaign.key, shardSize: 1000, waves: nil, at: now)
        let lease = try #require(try store.claimRun(campaign.key))
        let shard = try #require(try store.openShards(campaign.key, channel: .production).first)
        var devices = DeviceRows()
        try store.readDevices(
            app, channel: .production, after: 0, through: shard.last, limit: 9, into: &devices)
        try database.connect().execute("DELETE FROM device", until: .soon)
        let device = try #require(devices.rows.first)
        var row = LedgerRow(device: device.id, state: .accepted, attempts: 1)
        row.telephone = device.telephone
        let commit = LedgerCommit(
            campaign: campaign.key, shard: shard, cursor: shard.last, shardDone: true, rows: [row], devices: devices,
            retirements: [])
        #expect(try store.commit([commit], of: lease, at: now))
        let faults = try store.check { _ in true }
        #expect(faults.contains { $0.detail.contains("1 that the registry has not") }, "\(faults)")
    }
}
