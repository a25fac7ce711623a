// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Testing

@testable import RelayStoreSQLite

/// Stores of version 6, whose shards hold both environments, opened by this release.
@Suite("The step to shards of one environment", .ownThread)
struct EnvironmentMigrationTests {
    private let fixture: StoreFixture
    private let campaign: CampaignRecord

    /// 60 devices, every third of the sandbox, and a campaign that is not planned, in a store of version 6.
    init() throws {
        fixture = try StoreFixture()
        let app = fixture.app
        try fixture.store.register(
            (0..<60).map {
                DeviceRegistration(
                    app: app, token: "token-number-\($0)", telephone: "138\($0)", version: nil,
                    environment: $0 % 3 == 0 ? .sandbox : .production)
            }, at: fixture.now)
        try fixture.bump(required: "2")
        campaign = try #require(try fixture.store.reconcile(app, draft: fixture.draft, at: fixture.now).campaign)
        try fixture.age()
        try fixture.administerOld(StoreFixture.undoEnvironments)
    }

    /// Works through the rest of both environments, until the campaign is complete.
    private func finish(_ store: SQLiteStore, _ draw: WaveDraw? = nil) throws -> [Int64: Int] {
        var turns: [Int64: Int] = [:]
        while true {
            let channels = try store.channels(of: campaign.key)
            if channels.isEmpty { break }
            for channel in channels {
                let shards = try store.openShards(campaign.key, channel: channel)
                for shard in shards {
                    var rows = DeviceRows()
                    try store.readDevices(
                        fixture.app, channel: channel, after: shard.cursor, through: shard.last, limit: 99,
                        of: draw.map { WaveSlice($0, number: shard.wave) }, without: draw == nil ? nil : campaign.key,
                        into: &rows)
                    #expect(rows.rows.allSatisfy { $0.channel == channel })
                    for row in rows.rows { turns[row.id, default: 0] += 1 }
                    var commit = LedgerCommit(
                        campaign: campaign.key, shard: shard, cursor: shard.last, shardDone: true,
                        rows: rows.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 1) },
                        devices: rows, retirements: [])
                    if draw != nil { commit.waves = [WaveTally(wave: shard.wave)] }
                    try store.commitAnew([commit], at: fixture.now)
                }
                var due = DeviceRows()
                try store.readDueRetries(
                    campaign.key, channel: channel, at: fixture.now, limit: 99, waves: nil, into: &due)
                #expect(due.rows.allSatisfy { $0.channel == channel })
                for row in due.rows { turns[row.id, default: 0] += 1 }
                let retries = LedgerCommit(
                    campaign: campaign.key, shard: nil, cursor: 0, shardDone: false,
                    rows: due.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 2) }, devices: due,
                    retirements: [])
                try store.commitAnew([retries], at: fixture.now)
            }
            try store.endWave(campaign.key, at: fixture.now)
            try store.beginNextWave(campaign.key, at: fixture.now)
        }
        #expect(try store.completeIfDone(campaign.key, at: fixture.now))
        return turns
    }

    @Test("An open campaign goes on: each device once, by its own service, and the audience adds up")
    func openCampaign() throws {
        // Devices 1 to 30 are done, except four that wait for a retry; two shards are left, one behind the last sandbox device.
        try fixture.administerOld(
            """
            INSERT INTO shard (campaign_id, number, cursor, last, remaining, done) VALUES
                (1, 0, 20, 20, 0, 1), (1, 1, 30, 40, 10, 0), (1, 2, 40, 59, 19, 0), (1, 3, 59, 60, 1, 0);
            UPDATE device SET environment = 0 WHERE id = 60;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at) SELECT 1, id, 2, 1, 0
                FROM device WHERE id <= 26;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, next_attempt_at, updated_at)
                SELECT 1, id, 3, 1, 1, 0 FROM device WHERE id BETWEEN 27 AND 30;
            UPDATE campaign SET planned_at = 1, accepted = 26, retrying = 4;
            """)
        let store = try fixture.outsider()
        defer { store.close() }
        #expect(
            try store.inspect("SELECT number, cursor, last, remaining, environment, packs FROM shard") == [
                ["0", "20", "20", "0", "0", "1"], ["1", "30", "40", "6", "0", "1"], ["2", "40", "59", "13", "0", "1"],
                ["3", "59", "60", "1", "0", "1"], ["4", "30", "40", "4", "1", "0"], ["5", "40", "59", "6", "1", "0"],
            ])
        #expect(
            try store.inspect("SELECT device_id, environment FROM delivery WHERE state = 3 ORDER BY 1")
                == [["27", "0"], ["28", "1"], ["29", "0"], ["30", "0"]])
        #expect(try store.check { _ in true } == [])
        #expect(try store.campaign(campaign.key)?.figures.counts.audience == 60)
        let turns = try finish(store)
        #expect(turns.count == 34 && turns.values.allSatisfy { $0 == 1 })
        #expect(try store.campaign(campaign.key)?.figures.counts.accepted == 60)
        #expect(try store.campaign(campaign.key)?.figures.counts.audience == 60)
        #expect(try store.check { _ in true } == [])
    }

    @Test("One in waves does too, though what is left of a wave's sandbox is not known before its end")
    func waves() throws {
        let plan = try #require(WavePlan(ends: [4_000, 10_000]))
        let draw = WaveDraw(plan, requirement: campaign.requirement.id)
        let first = (0..<60).count { draw.wave(of: "138\($0)".utf8) == 0 }
        try fixture.administerOld(
            """
            INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave) VALUES
                (1, 0, 0, 60, \(first), 0), (1, 1, 0, 60, \(60 - first), 1);
            INSERT INTO campaign_wave (campaign_id, number, part_end, devices, begun_at) VALUES
                (1, 0, 4000, \(first), 1), (1, 1, 10000, \(60 - first), NULL);
            UPDATE campaign SET planned_at = 1;
            """)
        let store = try fixture.outsider()
        defer { store.close() }
        #expect(
            try store.inspect("SELECT number, wave, environment, packs FROM shard")
                == [["0", "0", "0", "0"], ["1", "1", "0", "0"], ["2", "0", "1", "0"], ["3", "1", "1", "0"]])
        #expect(try store.campaign(campaign.key)?.figures.counts.audience == 60)
        let turns = try finish(store, draw)
        #expect(turns.count == 60 && turns.values.allSatisfy { $0 == 1 })
        #expect(try store.campaign(campaign.key)?.figures.counts.audience == 60)
        #expect(try store.campaign(campaign.key)?.figures.counts.accepted == 60)
        #expect(try store.check { _ in true } == [])
    }

    @Test("One that was cancelled lists whom it left out, of both environments")
    func cancelledCampaign() throws {
        try fixture.administerOld(
            """
            INSERT INTO shard (campaign_id, number, cursor, last, remaining, done) VALUES (1, 0, 20, 60, 40, 1);
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at) SELECT 1, id, 2, 1, 0
                FROM device WHERE id <= 20;
            UPDATE campaign SET planned_at = 1, accepted = 20, cancelled = 40, state = 'cancelled', finished_at = 1;
            """)
        let store = try fixture.outsider()
        defer { store.close() }
        let list = try store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 99)
        #expect(list.map(\.device) == Array(1...60))
        #expect(list.filter { $0.state == .cancelled }.count == 40)
        #expect(try store.check { _ in true } == [])
    }
}
