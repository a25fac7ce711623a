// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StorePeers
import StoreSQL
import Testing
import Threading
import UpgradeRules

@testable import RelayStorePostgres

/// A campaign's way through the store, from the import of its devices to their outcomes. Run like `PostgresFigures`.
@Suite("Figures of the store in PostgreSQL")
struct PostgresStoreFigures {
    private let app = AppKey(app: "com.example.app", platform: .ios)
    private let now = Timestamp(seconds: 1_700_000_000)

    private func measure<R>(_ what: String, devices: Int64, _ body: () throws -> R) rethrows -> R {
        let start = MonotonicClock.now()
        let result = try body()
        let took = Double((MonotonicClock.now() - start).nanoseconds) / 1e9
        print(
            "\(what): \(String(format: "%.0f devices/s, %.2f µs each", Double(devices) / took, took * 1e6 / Double(devices)))"
        )
        return result
    }

    @Test(.ownMachine, .enabled(if: PostgresServer.isInstalled && PostgresFigures.rows > 0)) func campaign() throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        let all = PostgresFigures.rows
        for turn in ["import", "the same import again"] {
            try measure(turn, devices: all) {
                for start in stride(from: 0, to: all, by: 50_000) {
                    var batch = RegistrationBatch(app: app)
                    for number in start..<min(start + 50_000, all) {
                        let digits = String(number, radix: 16)
                        batch.append(
                            DeviceRegistration(
                                app: app, token: String(repeating: "0", count: 64 - digits.count) + digits,
                                telephone: "+861380\(1_000_000 + number)", version: try Version("1.2.3")))
                    }
                    try store.register(batch, at: now) { _ in }
                }
            }
        }
        _ = try store.apply(
            VersionBump(app: app, required: try Version("2")), actor: "t", source: "t", at: now,
            draft: CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(60)), waitingReason: nil,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try store.openCampaigns().first).key
        try measure("planning", devices: all) {
            try store.planShards(campaign, shardSize: 10_000, waves: nil, at: now)
        }
        let shards = try store.openShards(campaign, channel: .production)
        var lease = try #require(try store.claimRun(campaign))
        var commits: [LedgerCommit] = []
        try measure("reading, 2,000 at a time", devices: all) {
            for var shard in shards {
                while shard.cursor < shard.last {
                    var devices = DeviceRows()
                    try store.readDevices(
                        app, channel: .production, after: shard.cursor, through: shard.last, limit: 2000,
                        into: &devices)
                    let rows = devices.rows.map { device in
                        var row = LedgerRow(device: device.id, state: .accepted, attempts: 1)
                        row.telephone = device.telephone
                        return row
                    }
                    let last = rows.last?.device ?? shard.last
                    let commit = LedgerCommit(
                        campaign: campaign, shard: shard, cursor: last, shardDone: last >= shard.last, rows: rows,
                        devices: devices, retirements: [])
                    shard = commit.advanced ?? shard
                    commits.append(commit)
                }
            }
        }
        try measure("commits of 2,000 devices", devices: all) {
            for commit in commits {
                let isRecorded = try store.commit([commit], of: lease, at: now)
                #expect(isRecorded)
                lease.commits += 1
            }
        }
        #expect(try store.campaign(campaign)?.figures.counts.accepted == all)
        let faults = try measure("the check", devices: all) { try store.check { _ in true } }
        #expect(faults == [])
    }
}
