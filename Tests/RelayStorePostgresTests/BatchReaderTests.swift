// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StorePeers
import Testing
import UpgradeRules

@testable import RelayStorePostgres

@Suite("Tokens as the database has them")
struct PackedTokenTests {
    @Test(arguments: [
        "00ff", "0123456789abcdef", "0123456789ABCDEF", "abc", "", "dGVzdA:APA91bH-_x",
        String(repeating: "7f", count: 32),
        String(repeating: "é", count: 3),
    ])
    func backAgain(token: String) {
        var rows = DeviceRows()
        let packed = PackedToken.packed(token.utf8)
        let slice = packed.withUnsafeBytes { PackedToken.unpack($0, into: &rows) }
        #expect(rows.string(slice) == token)
    }

    @Test func hexTakesHalf() {
        #expect(PackedToken.packed("00ff".utf8) == [0, 0x00, 0xFF])
        #expect(PackedToken.packed("00FF".utf8) == [1] + Array("00FF".utf8))
        #expect(PackedToken.packed("0ff".utf8) == [1] + Array("0ff".utf8))
    }
}

@Suite(
    "The fan-out's batches out of PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct BatchReaderTests {
    private let connection: PostgresConnection

    /// Devices 1 to 40 of app 1: every tenth in a sandbox, 5 planned for one, 6 dead, 7 removed, 8 without a telephone; 9 of
    /// another app.
    init() throws {
        connection = try TestDatabase().connect(.reads)
        try PostgresSchema(name: "upgrade_relay", release: "1").grow(
            connection, at: Timestamp(seconds: 1), until: .soon)
        try connection.execute(
            """
            INSERT INTO app (id, name, platform) VALUES (1, 'a', 'ios'), (2, 'b', 'ios');
            INSERT INTO device (id, app_id, digest, token, telephone, version, environment, planned_environment, registered_at,
                    retired_at, removed_at)
                SELECT i, CASE i WHEN 9 THEN 2 ELSE 1 END, gen_random_uuid(), '\\x00'::bytea || decode(lpad(to_hex(i), 64, '0'), 'hex'),
                    CASE WHEN i NOT IN (7, 8) THEN '+86' || i END, CASE WHEN i % 2 = 0 THEN '1.' || i END,
                    (i % 10 = 0)::int, CASE i WHEN 5 THEN 1 END, i * 100, CASE i WHEN 6 THEN 5 END, CASE i WHEN 7 THEN 5 END
                FROM generate_series(1, 40) AS i
            """, until: .soon)
    }

    private func read(
        _ channel: Channel = .production, after: Int64 = 0, through last: Int64 = 1000, limit: Int = 1000,
        of slice: WaveSlice? = nil, without campaign: CampaignKey? = nil
    ) throws -> DeviceRows {
        var rows = DeviceRows()
        try BatchReader.readDevices(
            connection, app: AppKey(app: "a", platform: .ios), channel: channel, after: after, through: last,
            limit: limit, of: slice,
            without: campaign, into: &rows, until: .soon)
        return rows
    }

    private static func ids(_ rows: DeviceRows) -> [Int64] { rows.rows.map(\.id) }

    @Test func aShardOfProduction() throws {
        let rows = try read()
        #expect(Self.ids(rows) == (1...40).filter { $0 % 10 != 0 && ![5, 7, 9].contains($0) })
        let first = try #require(rows.rows.first)
        #expect(rows.string(first.token) == String(repeating: "0", count: 63) + "1")
        #expect(rows.string(first.telephone) == "+861")
        #expect(first.version.isAbsent)
        #expect(first.registeredAt == 100)
        #expect(first.channel == .production)
        #expect(rows.rows.filter(\.isDead).map(\.id) == [6])
        #expect(rows.rows.filter(\.telephone.isAbsent).map(\.id) == [8])
        #expect(rows.string(rows.rows[1].version) == "1.2")
    }

    @Test func aShardOfSandboxHasWhoIsSaidToBeThere() throws {
        let rows = try read(.sandbox)
        #expect(Self.ids(rows) == [5, 10, 20, 30, 40])
        #expect(rows.rows.map(\.channel) == [.production, .sandbox, .sandbox, .sandbox, .sandbox])
    }

    @Test func aPartOfARange() throws {
        #expect(Self.ids(try read(after: 10, through: 15)) == [11, 12, 13, 14, 15])
        #expect(Self.ids(try read(after: 10, limit: 3)) == [11, 12, 13])
        #expect(try read(after: 40).isEmpty)
        #expect(try read(limit: 0).isEmpty)
    }

    @Test func withoutThoseThatHaveARow() throws {
        try connection.execute(
            "INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at) VALUES (3, 1, 2, 1, 1), (4, 2, 2, 1, 1)",
            until: .soon)
        let ids = Self.ids(try read(through: 4, without: CampaignKey(row: 3)))
        #expect(ids == [2, 3, 4])
    }

    @Test("Waves: each device is of one, and the last takes whoever is left")
    func waves() throws {
        let plan = try #require(WavePlan(ends: [3000, 6000, 10_000]))
        let draw = WaveDraw(plan, requirement: 7)
        let all = Self.ids(try read())
        var first: [Int64] = []
        for number in 0..<2 {
            let rows = try read(of: WaveSlice(draw, number: number))
            #expect(rows.rows.allSatisfy { $0.wave == UInt8(number) })
            #expect(!rows.isEmpty)
            first += Self.ids(rows)
        }
        #expect(Set(first).count == first.count)
        #expect(!first.contains(8), "nobody's device is of the last wave")
        #expect(Self.ids(try read(of: WaveSlice(draw, number: 2))) == all)
        let few = try read(limit: 2, of: WaveSlice(draw, number: 1))
        #expect(few.count == 2)
        let rest = try read(after: few.rows[1].id, of: WaveSlice(draw, number: 1))
        #expect(Self.ids(few) + Self.ids(rest) == Self.ids(try read(of: WaveSlice(draw, number: 1))))
    }

    @Test("Of a small wave many pages are read")
    func smallWave() throws {
        try connection.execute(
            """
            INSERT INTO device (id, app_id, digest, token, telephone, environment, registered_at)
                SELECT i, 1, gen_random_uuid(), '\\x0001'::bytea, '+' || i, 0, 1 FROM generate_series(101, 9000) AS i
            """, until: .soon)
        let draw = WaveDraw(try #require(WavePlan(ends: [100, 10_000])), requirement: 7)
        let rows = try read(after: 100, through: 9000, limit: 500, of: WaveSlice(draw, number: 0))
        #expect(rows.count > 50 && rows.count < 150, "\(rows.count)")
        for row in rows.rows {
            #expect(draw.wave(of: rows.bytes[row.telephone.range]) == 0)
        }
    }

    @Test func retriesThatAreDue() throws {
        try connection.execute(
            """
            INSERT INTO requirement (app, platform, kind, version, version_key, state, reach, gated, released, asked_at, changed_by,
                changed_via, changed_at) VALUES ('a', 'ios', 'required', '2', '012', 'waiting', 10000, 0, 0, 1, '', '', 1);
            INSERT INTO campaign (id, public_id, app_id, requirement_id, required, download_url, time_to_live, state, created_at, expires_at)
                SELECT 3, '0123456789ab', 1, id, '2', 'https://apps', 1, 'running', 5, 9 FROM requirement;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at, next_attempt_at, environment, again)
                SELECT 3, i, 3, i, 1, 100 - i, (i = 10)::int, (i = 2)::int FROM generate_series(1, 12) AS i;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at, next_attempt_at) VALUES (3, 900, 3, 1, 1, 50);
            INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at) VALUES (3, 30, 2, 1, 1)
            """, until: .soon)
        func read(_ now: Int64, limit: Int = 1000, _ channel: Channel = .production) throws -> DeviceRows {
            var rows = DeviceRows()
            try BatchReader.readDueRetries(
                connection, CampaignKey(row: 3), channel: channel, at: Timestamp(milliseconds: now),
                limit: limit,
                waves: nil, into: &rows, until: .soon)
            return rows
        }
        #expect(Self.ids(try read(91)) == [9, 11, 12, 900])
        let all = try read(200)
        #expect(Self.ids(all) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 900])
        #expect(all.rows.map(\.attempts) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 1])
        #expect(all.rows[1].again.rawValue == 1)
        // A removed device has no telephone. One of another app, or that is gone, has nothing and is of no wave.
        #expect(all.rows[6].telephone.isAbsent && !all.rows[6].token.isAbsent)
        #expect(all.rows.filter(\.token.isAbsent).map(\.id) == [9, 900])
        #expect(all.rows.filter { $0.wave == 255 }.map(\.id) == [9, 900])
        #expect(Self.ids(try read(200, limit: 2)) == [12, 900], "those that are due for longest")
        #expect(Self.ids(try read(200, .sandbox)) == [10])
        try connection.execute("UPDATE campaign SET state = 'cancelled', finished_at = 9", until: .soon)
        #expect(try read(200).isEmpty)
    }
}
