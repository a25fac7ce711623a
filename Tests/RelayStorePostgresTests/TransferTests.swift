// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Requirements
import StoreConformance
import StorePeers
import StoreSQL
import TestStores
import Testing
import UpgradeRules

@testable import RelayStorePostgres

@Suite(
    "A store that is moved to PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct TransferTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private let app = AppKey(app: "com.example.app", platform: .android)

    private static let rules = ConformanceCase.all.filter { _ in
        ProcessInfo.processInfo.environment["TRANSFERS"] == "all" || Int.random(in: 0..<3) == 0
    }

    private struct GivenUp: Error {}

    /// The store that a rule leaves behind is the same after the move, by every answer that it gives: the rules make states
    /// that no example would think of.
    ///
    /// In the suite a third of them, others in each run; with `TRANSFERS=all` each, because copying a store takes longer than
    /// most rules.
    @Test("Whatever a rule of the drivers leaves behind is the same afterwards", arguments: rules)
    func same(_ rule: ConformanceCase) async throws {
        // PostgreSQL has no text with a NUL and no key of a megabyte, and a foreign key in SQLite lets no row be without its
        // device.
        guard rule.ability == nil || rule.ability == .snapshots else { return }
        let (folder, source) = try Self.source()
        let second = try SQLiteStore(path: folder.appending(path: "relay.db").path)
        defer {
            second.close()
            source.close()
            try? FileManager.default.removeItem(at: folder)
        }
        // A rule that fails is another test's concern.
        try? await rule.hold(for: source, beside: second)
        guard try source.check(begins: { _ in true }).isEmpty else { return }
        let database = try TestDatabase.ofNewStore()
        let target = try database.store()
        defer { target.close() }
        try Self.move(source, to: target)
        let (there, here) = (try Self.all(of: source), try Self.all(of: target))
        #expect(here.count == there.count)
        for (one, copied) in zip(there, here) { #expect(copied == one) }
        #expect(try target.check { _ in true }.isEmpty)
        // New rows have new numbers.
        try target.register(
            [DeviceRegistration(app: app, token: "after", telephone: "1", version: nil)], at: Self.now)
        #expect(try target.device(app, token: "after") != nil)
    }

    @Test("A schema that holds a store is refused, and stays as it is")
    func refused() throws {
        let (folder, source) = try Self.source()
        defer {
            source.close()
            try? FileManager.default.removeItem(at: folder)
        }
        try source.register([DeviceRegistration(app: app, token: "1", telephone: "138", version: nil)], at: Self.now)
        let target = try TestDatabase.ofNewStore().store()
        defer { target.close() }
        try target.register([DeviceRegistration(app: app, token: "2", telephone: "139", version: nil)], at: Self.now)
        let error = #expect(throws: StoreError.self) { try Self.move(source, to: target) }
        #expect(error?.code == .refused)
        #expect(error?.context.contains("with 1 devices and 0 campaigns") == true)
        #expect(error?.hint?.contains("with no way back: DROP SCHEMA upgrade_relay CASCADE") == true)
        #expect(try target.devices(of: nil, after: 0, limit: 9).map(\.registration.token) == ["2"])
    }

    /// Tried with each column that becomes a text.
    @Test(
        "A text that PostgreSQL does not have is named, with its row and column, and found by the check",
        arguments: [
            ("UPDATE device SET telephone = 'a' || char(0) || 'b'", "device (id 1, app_id 1): telephone", "U+0000"),
            ("UPDATE device SET version = CAST(x'3132ff' AS TEXT)", "device (id 1, app_id 1): version", "UTF-8"),
            (
                "INSERT INTO alert VALUES ('com.example.app', 'android', 'x' || char(0), 0, NULL, 1, 'ann')",
                "alert (app com.example.app, platform android): message", "U+0000"
            ),
            (
                "INSERT INTO audit (at, actor, actor_kind, via, action) VALUES (1, char(0), 'token', 'api', 'x')",
                "audit (id 1): actor", "U+0000"
            ),
        ])
    func textWithoutAName(sql: String, place: String, fault: String) throws {
        let (folder, source) = try Self.source()
        defer {
            source.close()
            try? FileManager.default.removeItem(at: folder)
        }
        try source.register(
            [DeviceRegistration(app: app, token: "1", telephone: "138", version: try Version("1"))], at: Self.now)
        #expect(try source.check { _ in true } == [])
        try source.administer(sql)
        let found = try source.check { _ in true }.filter { $0.check == "texts" }
        #expect(found.count == 1)
        #expect(found.first?.detail.contains(place) == true, "\(found)")
        #expect(found.first?.detail.contains(fault) == true, "\(found)")
        let target = try TestDatabase.ofNewStore().store()
        defer { target.close() }
        let error = #expect(throws: StoreError.self) { try Self.move(source, to: target) }
        #expect(error?.context.contains(place) == true, "\(String(describing: error))")
        #expect(error?.context.contains(fault) == true)
        #expect(try target.devices(of: nil, after: 0, limit: 9).isEmpty)
    }

    @Test("Given up or cut off in the middle, nothing was moved, and it begins again")
    func interrupted() throws {
        let (folder, source) = try Self.source()
        defer {
            source.close()
            try? FileManager.default.removeItem(at: folder)
        }
        try source.register(
            (0..<20_000).map { DeviceRegistration(app: app, token: "token \($0)", telephone: "1", version: nil) },
            at: Self.now)
        let database = try TestDatabase()
        let target = try database.store()
        defer { target.close() }
        let error = #expect(throws: StoreError.self) { try Self.move(source, to: target) { done, _ in done == 0 } }
        #expect(error?.context == "the transfer was given up")
        #expect(try target.devices(of: nil, after: 0, limit: 9).isEmpty)
        let cut = #expect(throws: StoreError.self) {
            try Self.move(source, to: target) { done, _ in
                guard done > 0 else { return true }
                _ = try? database.connect().execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE 'COPY%' AND pid <> pg_backend_pid()
                    """, until: .soon)
                return true
            }
        }
        #expect(cut?.code == .unreachable)
        #expect(try target.devices(of: nil, after: 0, limit: 9).isEmpty)
        try Self.move(source, to: target)
        #expect(try target.census().devices == source.census().devices)
        #expect(try target.check { _ in true }.isEmpty)
    }

    private static func source() throws -> (URL, SQLiteStore) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relay-transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "relay.db").path
        try NewStore.copy(to: path)
        return (folder, try SQLiteStore(path: path))
    }

    private static func move(
        _ source: SQLiteStore, to target: PostgresStore, progress: (Int64, Int64) -> Bool = { _, _ in true }
    ) throws {
        _ = try source.read("reading the whole store") { try target.take(all: $0, progress: progress) }
    }

    /// The content of a store, as far as people and the relay can ask for it.
    private static func all(of store: some SQLStore) throws -> [AnyHashable] {
        var all: [AnyHashable] = []
        func add(_ things: [some Hashable]) { all += things.map { AnyHashable($0) } }
        add(try store.devices(of: nil, after: 0, limit: 10_000))
        add(try store.versions())
        for version in try store.versions() {
            add(try store.history(of: version.app, limit: 1000))
            add(try store.inForceHistory(of: version.app, limit: 1000))
            let seen = try store.seenVersions(of: version.app)
            add([seen])
        }
        let campaigns = try store.campaigns(before: nil, limit: 1000)
        add(campaigns)
        for campaign in campaigns {
            add([try store.adoption(of: campaign.key)])
            add([try store.deliveryPage(of: campaign.key, DeliveryFilter(), after: 0, limit: 10_000)])
            for channel in [Channel.production, .sandbox] {
                add(try store.openShards(campaign.key, channel: channel))
                add([try store.nextRetry(campaign.key, channel: channel)])
            }
        }
        add(try store.alerts(at: .init(milliseconds: 0)))
        add(try store.tokens())
        add(try store.evidence())
        return all
    }
}
