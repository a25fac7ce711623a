// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Synchronization
import TestPeers
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("The store's maintenance", .ownThread)
struct StoreMaintenanceTests {
    // MARK: Backup

    @Test("A backup taken while a writer never rests is one moment of the store, and sound")
    func backupBesideAWriter() async throws {
        let fixture = try StoreFixture()
        // Some MiB, so that the copy takes several steps.
        try fixture.registerDevices(0..<20_000)
        let written = Watched(0)
        let isDone = Atomic(false)
        let copy = fixture.directory.file("copy.db")
        async let writing: Void = {
            var number = 20_000
            while !isDone.load(ordering: .relaxed) {
                try fixture.registerDevices(number..<(number + 50))
                number += 50
                written.change { $0 += 1 }
            }
        }()
        var steps = 0
        let snapshot = try fixture.store.snapshot { progress in
            steps += 1
            // Each step waits until the writer has gone on: the source has changed under the copy every time.
            let before = written.now
            _ = written.wait { $0 > before }
            // A copy that begins anew at each change would never end.
            return steps < 1000 && progress.done <= progress.total
        }
        isDone.store(true, ordering: .relaxed)
        try await writing
        #expect(steps > 2, "\(steps) steps")
        try write(snapshot, to: copy)
        #expect(!FileManager.default.fileExists(atPath: fixture.path + ".snapshot"))

        #expect(try SQLiteStore.check(file: copy) { _ in true } == [])
        let restored = try SQLiteStore(path: copy)
        defer { restored.close() }
        let devices = try #require(Int(try restored.inspect("SELECT count(*) FROM device")[0][0]))
        // Only whole transactions of 50, and none that came during the copy, except perhaps before its first page.
        #expect(devices >= 20_000 && (devices - 20_000) % 50 == 0)
        #expect(devices < 20_000 + 50 * written.now)
    }

    @Test("A backup that is given up, or that has no room, leaves nothing behind; one that was killed is cleared away")
    func backupFails() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<5000)
        #expect(complaint { try fixture.store.snapshot { _ in false } }.contains("given up"))
        let copy = fixture.directory.file("copy.db")
        #expect(complaint { try SQLiteStore.backUp(file: fixture.path, to: copy) { _ in false } }.contains("given up"))
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(!FileManager.default.fileExists(atPath: fixture.path + ".snapshot"))
        try Data("half a copy".utf8).write(to: URL(fileURLWithPath: fixture.path + ".snapshot"))
        try fixture.outsider().close()
        #expect(!FileManager.default.fileExists(atPath: fixture.path + ".snapshot"))
    }

    @Test("Without a daemon the file is copied, what its log holds too, for its owner alone")
    func backupOfAFile() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<10)
        let copy = fixture.directory.file("copy.db")
        try withoutUmask { try SQLiteStore.backUp(file: fixture.path, to: copy) { _ in true } }
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let restored = try SQLiteStore(path: copy)
        defer { restored.close() }
        #expect(try restored.devices(of: nil, after: 0, limit: 99).count == 10)
    }

    private func write(_ snapshot: any StoreSnapshot, to path: String) throws {
        var bytes: [UInt8] = []
        while true {
            let piece = try snapshot.read(atMost: 65_536)
            if piece.isEmpty { break }
            bytes += piece
        }
        #expect(Int64(bytes.count) == snapshot.size)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Check

    @Test(
        "Each rule that is broken is named",
        arguments: [
            ("UPDATE campaign_run SET accepted = accepted + 1", "counts of campaigns", "accepted is 8, its rows"),
            ("UPDATE campaign SET upgraded = 3", "counts of campaigns", "upgraded is 3, its rows say 0"),
            ("DELETE FROM delivery_batch", "counts of campaigns", "filtered is 3, its rows and shards say 0"),
            ("INSERT INTO delivery_upgrade VALUES (1, 2)", "counts of campaigns", "upgraded is 0, its rows say 1"),
            (
                "PRAGMA foreign_keys = OFF; INSERT INTO delivery_upgrade VALUES (1, 99)", "batches of the ledger",
                "1 devices of batches have upgraded, 0 are there"
            ),
            (
                "PRAGMA foreign_keys = OFF; DELETE FROM device WHERE id = 5; PRAGMA foreign_keys = ON",
                "batches of the ledger", "1 to 10 has 1 that the registry has not"
            ),
            (
                "INSERT INTO delivery (campaign_id, device_id, state, attempts, updated_at) VALUES (1, 5, 4, 1, 1)",
                "batches of the ledger", "1 to 10 has 1 that have a row too"
            ),
            (
                "DROP TRIGGER delivery_batch_is_not_edited; UPDATE delivery_batch SET accepted = 6, filtered = 4",
                "batches of the ledger", "1 to 10 has 7 accepted of 10, not 6 and 4 filtered"
            ),
            (
                "DROP TRIGGER delivery_batch_is_not_edited; UPDATE delivery_batch SET outcomes = zeroblob(11)",
                "batches of the ledger", "1 to 10 is damaged: byte 11 of its outcomes"
            ),
            (
                """
                INSERT INTO shard (campaign_id, number, cursor, last, remaining) VALUES (1, 1, 0, 4, 0),
                    (1, 2, 2, 9, 0)
                """, "shards of campaigns", "shards 1 and 2 overlap"
            ),
            (
                """
                INSERT INTO shard (campaign_id, number, cursor, last, remaining, environment) VALUES (1, 1, 0, 4, 0, 0),
                    (1, 2, 2, 9, 0, 1)
                """, "shards of campaigns", "two channels pack"
            ),
            (
                "UPDATE campaign SET upgraded_push = 1, upgraded_both = 1", "adoption of campaigns",
                "upgraded is 0, of whom 2 were reached"
            ),
            ("INSERT INTO campaign_told VALUES (1, 2, 0)", "adoption of campaigns", "told is 0, its rows say 1"),
            (
                "INSERT INTO campaign_adoption VALUES (1, 5, 7)", "adoption of campaigns",
                "upgraded is 0, its curve says 7"
            ),
            (
                "INSERT INTO campaign_adoption VALUES (1, 5, 7), (1, 6, 7)", "adoption of campaigns",
                "its curve does not rise at 1 of its points"
            ),
            ("UPDATE campaign_reason SET devices = 9", "counts of reasons", "filtered is 3, its reasons add up to 9"),
            ("UPDATE app SET devices = 4", "counts of devices", "devices is 4, there are 10"),
            ("UPDATE version_seen SET devices = 4", "counts of devices", "versions were seen of 4 devices"),
            (
                "PRAGMA foreign_keys = OFF; DELETE FROM device WHERE id = 1; PRAGMA foreign_keys = ON", "references",
                "delivery_batch refers to a row of device that is not there"
            ),
            (
                "DROP TRIGGER requirement_updated; UPDATE requirement SET reach = 0 WHERE kind = 'required'",
                "requirements",
                "2 is not as its history says"
            ),
            (
                "DROP TRIGGER version_updated; UPDATE version SET required = '9'", "requirements",
                "version does not say what is required"
            ),
            (
                "UPDATE campaign SET state = 'superseded', finished_at = 1", "requirements", "the campaign of 2 is"
            ),
        ])
    func faults(damage: String, name: String, detail: String) throws {
        let fixture = try StoreFixture()
        try fixture.campaignOfTen()
        try fixture.bump(latest: "3", required: "2")
        #expect(try fixture.store.check { _ in true } == [])
        try fixture.store.administer(damage)
        let found = try fixture.store.check { _ in true }
        #expect(found.contains { $0.check == name && $0.detail.contains(detail) }, "\(found)")
        #expect(try SQLiteStore.check(file: fixture.path) { _ in true } == found, "and the same from the file")
    }

    @Test("A damaged page is found, and nothing is said of rows that cannot be read")
    func damagedPage() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<2000)
        let page = try #require(
            Int(try fixture.store.inspect("SELECT rootpage FROM sqlite_schema WHERE name = 'device_token'")[0][0]))
        fixture.store.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 16))
        try file.close()
        var begun: [String] = []
        let found = try SQLiteStore.check(file: fixture.path) { name in
            begun.append(name)
            return true
        }
        #expect(!found.isEmpty && found.allSatisfy { $0.check == "pages and indexes" }, "\(found)")
    }

    @Test("What is checked is told, and can be stopped")
    func checkStops() throws {
        let fixture = try StoreFixture()
        var begun: [String] = []
        _ = try fixture.store.check { name in
            begun.append(name)
            return true
        }
        #expect(begun.first == "pages and indexes" && begun.contains("requirements"), "\(begun)")
        #expect(complaint { try fixture.store.check { _ in false } }.contains("given up"))
    }

    // MARK: Room

    @Test("With pruning the file stays bounded over many campaigns, and without campaigns it shrinks")
    func bounded() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<3000)
        var sizes: [Int64] = []
        for number in 1...30 {
            let now = fixture.now + .seconds(Int64(number) * 86_400)
            try fixture.campaign("\(number).0", at: now)
            _ = try fixture.store.prune(before: now - .seconds(3 * 86_400), at: now) { _ in true }
            try fixture.store.administer("PRAGMA wal_checkpoint(TRUNCATE)")
            sizes.append(try fixture.size())
        }
        let settled = sizes[5...9].max() ?? 0
        let last = sizes.suffix(5).max() ?? 0
        #expect(last <= settled + 65_536, "\(sizes)")
        let end = fixture.now + .seconds(99 * 86_400)
        let report = try fixture.store.prune(before: end, at: end) { _ in true }
        try fixture.store.administer("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(report.freed > 0)
        #expect(try fixture.size() < (sizes.last ?? 0) - report.freed + 65_536)
        #expect(try fixture.store.check { _ in true } == [])
        #expect(try fixture.store.inspect("SELECT count(*) FROM campaign") == [["30"]])
    }

    @Test(
        "A small store from before pruning learns to give pages back when it is opened")
    func olderStore() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<100)
        try fixture.store.administer("PRAGMA auto_vacuum = NONE; VACUUM")
        fixture.store.close()
        #expect(try !FreePages.areGivenBack(SQLiteConnection(path: fixture.path)))
        let again = try fixture.outsider()
        #expect(try again.inspect("PRAGMA auto_vacuum") == [["2"]])
        #expect(try again.check { _ in true } == [])
        again.close()
    }
}

extension StoreFixture {
    func size() throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? Int64) ?? Int64(attributes[.size] as? Int ?? 0)
    }

    /// Ten devices, version 2 required: seven accepted, three filtered.
    func campaignOfTen() throws {
        try registerDevices(0..<10)
        try campaign("2", at: now) { number in number % 4 == 0 }
    }

    /// One campaign over all devices, from its raise to its end.
    func campaign(_ required: String, at time: Timestamp, filtered: (Int) -> Bool = { _ in false }) throws {
        let bump = VersionBump(app: app, required: try Version(required))
        let applied = try store.apply(bump, actor: "t", source: "t", at: time, draft: draft, receipt: nil) { _ in
            StoredAnswer(status: 200, body: [])
        }
        guard case .applied(let outcome, _) = applied, let campaign = outcome.campaign else { return }
        try store.planShards(campaign.key, shardSize: 1_000_000, waves: nil, at: time)
        var devices = DeviceRows()
        try store.readDevices(app, channel: .production, after: 0, through: .max, limit: 1_000_000, into: &devices)
        let rows = devices.rows.enumerated().map { number, device in
            var row =
                filtered(number)
                ? LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            row.telephone = device.telephone
            return row
        }
        let commit = LedgerCommit(
            campaign: campaign.key, shard: try store.firstShard(of: campaign.key), cursor: devices.rows.last?.id ?? 0,
            shardDone: true, rows: rows,
            devices: devices, retirements: [])
        try store.commitAnew([commit], at: time)
        _ = try store.completeIfDone(campaign.key, at: time)
    }
}
