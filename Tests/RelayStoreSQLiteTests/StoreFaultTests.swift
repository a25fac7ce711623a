// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

/// Every write of the store, and its opening, with a fault at the first, second, third, … call of the file system, until one
/// runs through without meeting it (as sqlite.org/testing.html, 3.2, tests SQLite itself). It is done whole, or it throws and
/// nothing has happened; when the fault is over, the same call does it.
@Suite("Faults of the file system, one call after another", .ownThread)
struct StoreFaultTests {
    private static let app = AppKey(app: "com.example.app", platform: .ios)
    private static let other = AppKey(app: "com.example.other", platform: .android)
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let draft = CampaignDraft(downloadURL: "https://apps.example.com/app", timeToLive: .seconds(60))

    /// In the suite a fault comes at every ninth call, from a random one on, and at every thirtieth while a store is made,
    /// which takes hundreds; with `STORE_FAULTS=all` at each.
    private static let (step, openingStep) =
        ProcessInfo.processInfo.environment["STORE_FAULTS"] == "all" ? (1, 1) : (9, 30)

    private let directory: TemporaryDirectory
    /// A store with devices, a campaign half done, and one that is not planned yet.
    private let template: String

    init() throws {
        directory = try TemporaryDirectory()
        template = directory.file("template.db")
        let store = try SQLiteStore(path: template)
        defer { store.close() }
        for app in [Self.app, Self.other] {
            try store.register((1...40).map { try Self.device($0, of: app) }, at: Self.now)
            _ = try Self.bump(store, app, to: "1.0", draft: Self.draft)
        }
        try store.planShards(CampaignKey(row: 1), shardSize: 20, waves: nil, at: Self.now)
        try store.commitAnew([try Self.outcomes(of: store)], at: Self.now)
        let token = ProviderToken(text: "t", issuedAt: Self.now)
        _ = try store.mintProviderToken(token, key: "paused", replacing: nil, at: Self.now)
    }

    private static func device(_ number: Int, of app: AppKey, version: String = "0.9") throws -> DeviceRegistration {
        DeviceRegistration(
            app: app, token: "token-number-\(number)", telephone: "1380000\(number)", version: try Version(version))
    }

    private static func bump(
        _ store: SQLiteStore, _ app: AppKey, to version: String, draft: CampaignDraft?, receipt: WebhookReceipt? = nil
    ) throws -> AppliedBump {
        try store.apply(
            VersionBump(app: app, required: try Version(version)), actor: "tester", source: "test", at: now,
            draft: draft, receipt: receipt, render: { _ in StoredAnswer(status: 202, body: Array("stored".utf8)) })
    }

    /// Ten devices of the first campaign's shard: accepted, waiting for a retry, refused, and dead.
    private static func outcomes(of store: SQLiteStore, after: Int64 = 0) throws -> LedgerCommit {
        var devices = DeviceRows()
        try store.readDevices(app, channel: .production, after: after, through: .max, limit: 10, into: &devices)
        let rows = devices.rows.map { device in
            var row = LedgerRow(device: device.id, state: .accepted, attempts: 1, telephone: device.telephone)
            switch device.id % 4 {
            case 0: (row.state, row.nextAttemptAt) = (.retrying, now)
            case 1: (row.state, row.reason) = (.rejected, "BadDeviceToken")
            case 2: (row.state, row.reason) = (.unregistered, "Unregistered")
            default: break
            }
            return row
        }
        return LedgerCommit(
            campaign: CampaignKey(row: 1), shard: try store.firstShard(of: CampaignKey(row: 1)),
            cursor: rows.last?.device ?? 0, shardDone: false, rows: rows,
            devices: devices,
            retirements: devices.rows.filter { $0.id % 4 == 2 }.map {
                TokenRetirement(
                    device: $0.id, deadSince: now, registeredAt: Timestamp(milliseconds: $0.registeredAt))
            })
    }

    /// A store's transactions, by name.
    private static let works: [(name: String, work: @Sendable (SQLiteStore) throws -> Void)] = [
        ("register", { try $0.register(try (30...60).map { try device($0, of: app, version: "1.1") }, at: now) }),
        (
            "apply",
            {
                let receipt = WebhookReceipt(id: "one", hook: "version", body: [])
                _ = try bump($0, app, to: "2.0", draft: draft, receipt: receipt)
            }
        ),
        ("planShards", { try $0.planShards(CampaignKey(row: 2), shardSize: 7, waves: nil, at: now) }),
        (
            "claimRun",
            { _ = try $0.claimRun(CampaignKey(row: 1)) }
        ),
        (
            "commit",
            {
                let lease = RunLease(campaign: CampaignKey(row: 1), owner: 1, epoch: 1, commits: 1)
                _ = try $0.commit([try outcomes(of: $0, after: 10)], of: lease, at: now + .seconds(1))
            }
        ),
        (
            "move",
            {
                _ = try $0.move(CampaignKey(row: 1), .cancelled, at: now)
            }
        ),
        ("expireCampaign", { try $0.expireCampaign(CampaignKey(row: 1), at: now) }),
        ("removeDevice", { _ = try $0.removeDevice(app, token: "token-number-7") }),
        (
            "sawVersions",
            { try $0.sawVersions([Sighting(app: app, token: "token-number-5", version: Version("2"))], at: now) }
        ),
        (
            "told",
            {
                let version = try Version("0.9")
                try $0.sawVersions(
                    [Sighting(app: app, token: "token-number-5", version: version, toldAtLogin: 1)],
                    at: now)
            }
        ),
        (
            "keep",
            {
                _ = try $0.keep(
                    StoredAnswer(status: 200, body: [1]), to: WebhookReceipt(id: "two", hook: "version", body: []),
                    at: now)
            }
        ),
        (
            "mintProviderToken",
            {
                _ = try $0.mintProviderToken(ProviderToken(text: "t", issuedAt: now), key: "k", replacing: nil, at: now)
            }
        ),
        (
            "pauseProviderToken",
            {
                _ = try $0.pauseProviderToken(key: "paused", until: now + .seconds(300), by: "s", at: now)
            }
        ),
    ]

    @Test("What is written is written whole or not at all", arguments: StoreFaults.Kind.allCases)
    func writes(kind: StoreFaults.Kind) throws {
        var tried = 0
        for (name, work) in Self.works {
            let wanted = try copyOfTemplate {
                try work($0); return try Self.contents(of: $0)
            }
            for call in Swift.stride(from: Int.random(in: 1...Self.step), through: .max, by: Self.step) {
                let isOver = try copyOfTemplate { store, faults in
                    let before = try Self.contents(of: store)
                    faults.arm(kind, first: call)
                    let error = try failure(kind) { try work(store) }
                    faults.disarm()
                    let after = try Self.contents(of: store)
                    if error == nil {
                        #expect(after == wanted, "\(name), call \(call): said to be done")
                    } else {
                        #expect(faults.failures > 0, "\(name), call \(call): \(error ?? "")")
                        // Doing it again must not do it twice.
                        if after != before { #expect(after == wanted, "\(name), call \(call): half done") }
                        try work(store)
                        #expect(try Self.contents(of: store) == wanted, "\(name), call \(call): done again")
                    }
                    #expect(try store.inspect("PRAGMA integrity_check") == [["ok"]], "\(name), call \(call)")
                    return faults.failures == 0
                }
                tried += 1
                if isOver { break }
                // One transaction of these few pages makes some dozens of calls.
                try #require(call < 500, "\(name) never runs through")
            }
        }
        print("store, \(kind): \(Self.works.count) kinds of write, a fault at \(tried) calls, none half done")
    }

    /// Without busy, because SQLite waits ten seconds for each of those.
    @Test(
        "A store is made, and grows, whole or not at all", arguments: StoreFaults.Kind.allCases.filter { $0 != .busy },
        [0, 1])
    func openings(kind: StoreFaults.Kind, from version: Int) throws {
        // The whole schema, comments included, of a store that had no fault.
        let schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        let healthy = directory.file("healthy.db")
        try prepare(healthy, version)
        let fresh = try SQLiteStore(path: healthy)
        let wanted = (try fresh.inspect(schema), try fresh.inspect("SELECT * FROM version_seen"))
        fresh.close()
        for call in Swift.stride(from: Int.random(in: 1...Self.openingStep), through: .max, by: Self.openingStep) {
            let path = directory.file("\(kind)-\(call).db")
            try prepare(path, version)
            let faults = StoreFaults(path: path)
            faults.arm(kind, first: call)
            // SQLite keeps no system error for the first two writes to a new file: they fail with an input/output error.
            let error = try failure(kind, orUnexplained: version == 0) { try SQLiteStore(path: path).close() }
            faults.disarm()
            let store = try SQLiteStore(path: path)
            #expect(try store.inspect(schema) == wanted.0, "call \(call): \(error ?? "no error")")
            #expect(try store.inspect("SELECT * FROM version_seen") == wanted.1)
            #expect(try store.inspect("PRAGMA integrity_check") == [["ok"]])
            try store.register([try Self.device(99, of: Self.app)], at: Self.now)
            store.close()
            if faults.failures == 0 { break }
            try #require(call < 2000, "it never runs through")
        }
    }

    @Test("Stores with faults end with who made them: a process may have any number, one after the other")
    func oneAfterTheOther() throws {
        for _ in 0..<5000 { _ = StoreFaults(path: directory.file("passing.db")) }
        try copyOfTemplate { store, faults in
            faults.arm(.full, first: 1)
            #expect(throws: StoreError.self) { try store.register([try Self.device(99, of: Self.app)], at: Self.now) }
            #expect(faults.failures > 0)
        }
    }

    /// Makes a store of that schema version at `path`; none for version 0.
    private func prepare(_ path: String, _ version: Int) throws {
        guard version > 0 else { return }
        try StoreFile.create(path)
        let connection = try SQLiteConnection(path: path)
        try Migration.run(
            on: connection, path: path, release: "1.0", at: Self.now,
            chain: Migration.chain.filter { $0.toVersion <= version })
        try connection.execute(
            """
            INSERT INTO app (id, name, platform, devices) VALUES (1, 'com.example.app', 'ios', 3);
            INSERT INTO device (app_id, token, token_hash, version, environment, registered_at)
                VALUES (1, 'a', 1, '1.0', 0, 0), (1, 'b', 2, '1.0', 0, 0), (1, 'c', 3, NULL, 0, 0);
            """)
    }

    // MARK: Tools

    /// Returns the error's text; nil for none. Checks that its code fits the fault.
    /// - Parameter orUnexplained: whether an input/output error will do in place of a read-only file system.
    private func failure(
        _ kind: StoreFaults.Kind, orUnexplained: Bool = false, _ body: () throws -> Void
    ) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            let expected: StoreError.Code =
                switch kind {
                case .full: .full
                case .readOnly: .readOnly
                case .busy: .busy
                case .write, .sync, .read, .map, .open: .failed
                }
            let isUnexplained = orUnexplained && kind == .readOnly && error.code == .failed
            #expect(error.code == expected || isUnexplained, "\(error)")
            return error.description
        }
    }

    private func copyOfTemplate<R>(_ body: (SQLiteStore, StoreFaults) throws -> R) throws -> R {
        let path = directory.file("\(UUID().uuidString).db")
        try FileManager.default.copyItem(atPath: template, toPath: path)
        let faults = StoreFaults(path: path)
        let store = try SQLiteStore(path: path)
        defer {
            store.close()
            try? FileManager.default.removeItem(atPath: path)
        }
        // No other connection has the lock, so waiting for it would be in vain.
        try store.administer("PRAGMA busy_timeout = 0")
        return try body(store, faults)
    }

    private func copyOfTemplate<R>(_ body: (SQLiteStore) throws -> R) throws -> R {
        try copyOfTemplate { store, _ in try body(store) }
    }

    /// Everything in a store, except random values and those of SQLite's own clock.
    private static func contents(of store: SQLiteStore) throws -> [String: [[String]]] {
        let columns = try store.inspect(
            """
            SELECT t.name, group_concat(CASE WHEN c.name IN ('sign', 'identity') THEN '0' ELSE 'quote("' || c.name || '")' END)
            FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.name NOT IN ('public_id', 'removed_at')
                AND t.name <> 'release'
                AND NOT (t.name = 'audit' AND c.name = 'campaign')
            GROUP BY t.name
            """)
        return try columns.reduce(into: [:]) { contents, table in
            contents[table[0]] = try store.inspect("SELECT \(table[1]) FROM \(table[0]) ORDER BY 1, 2")
        }
    }
}
