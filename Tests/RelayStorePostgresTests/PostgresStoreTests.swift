// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StorePeers
import StoreSQL
import Synchronization
import Telemetry
import TestPeers
import Testing
import Threading
import UpgradeRules

@testable import RelayStorePostgres

/// Rules that several sessions at once must not break.
@Suite(
    "The store in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresStoreTests {
    private let app = AppKey(app: "com.example.app", platform: .ios)
    private let now = Timestamp(seconds: 1_700_000_000)

    private func device(_ number: Int, _ version: String? = nil) throws -> DeviceRegistration {
        DeviceRegistration(
            app: app, token: String(repeating: "0", count: 60) + String(number + 0x1000, radix: 16),
            telephone: "138\(number)", version: try version.map { try Version($0) })
    }

    /// Runs `body` `count` times at once; every error that it throws is a fault.
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failures = Watched<[String]>([])
        let threads = try (0..<count).map { index in
            try NativeThread(name: "session \(index)") {
                do { try body(index) } catch { failures.change { $0.append("\(error)") } }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.now.isEmpty, "\(failures.now)")
    }

    @discardableResult
    private func announce(_ version: String, in store: PostgresStore) throws -> CampaignRecord {
        _ = try store.apply(
            VersionBump(app: app, required: try Version(version)), actor: "t", source: "t", at: now,
            draft: CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(600)), waitingReason: nil,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        return try #require(try store.openCampaigns().last)
    }

    @Test("Imports of the same devices in every order neither wait for each other for ever nor count one twice")
    func importsThatCross() throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        try together(6) { [app, now] index in
            for round in 0..<4 {
                var batch = RegistrationBatch(app: app)
                for number in 0..<400 {
                    batch.append(try device((number * (2 * index + 1)) % 400, "1.\((index + round + number) % 5)"))
                }
                try store.register(batch, at: now) { _ in }
            }
        }
        #expect(try store.devices(of: app, after: 0, limit: 1000).count == 400)
        #expect(try store.check { _ in true } == [])
        #expect(try store.seenVersions(of: app).versions.reduce(0) { $0 + $1.devices } == 400)
    }

    @Test("Logins while outcomes are recorded: each device that comes up to the requirement counts once")
    func loginsBesideCommits() throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        try store.register(try (0..<2000).map { try device($0, "1.0") }, at: now)
        let campaign = try announce("2.0", in: store)
        try store.planShards(campaign.key, shardSize: 500, waves: nil, at: now)
        let version = try Version("2.0")
        try together(4) { [app, now] index in
            guard index == 0 else {
                for number in stride(from: index - 1, to: 2000, by: 3) {
                    _ = try store.sawVersions(
                        [Sighting(app: app, token: device(number).token, version: version)], at: now)
                }
                return
            }
            var lease = try #require(try store.claimRun(campaign.key))
            for shard in try store.openShards(campaign.key, channel: .production) {
                var devices = DeviceRows()
                try store.readDevices(
                    app, channel: .production, after: shard.cursor, through: shard.last, limit: 1000, into: &devices
                )
                let rows = devices.rows.map { device in
                    var row = LedgerRow(device: device.id, state: .accepted, attempts: 1)
                    row.telephone = device.telephone
                    return row
                }
                let commit = LedgerCommit(
                    campaign: campaign.key, shard: shard, cursor: shard.last, shardDone: true, rows: rows,
                    devices: devices, retirements: [])
                #expect(try store.commit([commit], of: lease, at: now))
                lease.commits += 1
            }
        }
        let record = try #require(try store.campaign(campaign.key))
        #expect(record.figures.counts.accepted == 2000)
        #expect(record.figures.upgraded <= 2000)
        #expect(try store.check { _ in true } == [])
    }

    @Test("Of two who raise the version at once both are heard, and there is one campaign of each")
    func bumpsAtOnce() throws {
        let database = try TestDatabase()
        let stores = try (0..<2).map { _ in try database.store() }
        defer { stores.forEach { $0.close() } }
        try together(8) { index in
            for number in 1...5 {
                do {
                    try announce("\(number).\(index)", in: stores[index % 2])
                } catch let error as StoreError {
                    guard case .versionWouldFall = error.code else { throw error }
                }
            }
        }
        let required = try #require(try stores[0].version(of: app)?.required)
        #expect(required.text == "5.7")
        #expect(try stores[0].openCampaigns().map(\.requirement.version) == [required])
        #expect(try stores[1].check { _ in true } == [])
    }

    @Test("Who keeps the lease waits for nobody's requests")
    func lease() async throws {
        let database = try TestDatabase()
        var options = PostgresStore.Options()
        options.isTrial = true
        let settings = try PostgresSettings(
            url: database.conninfo, connections: PostgresRole.fewest, library: .load())
        let store = try PostgresStore(settings, options: options)
        defer { store.close() }
        store.membership.beginFleet(clock: MonotonicClock.now)
        let (node, _) = try store.join(NodeDescription(name: "a", release: "test"), for: .seconds(60))
        // The only session for requests is taken.
        let (isTaken, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reader = try NativeThread(name: "reader") {
            try? store.readOnce("keeping a session") { _ in
                isTaken.signal()
                isOver.wait()
            }
        }
        isTaken.wait()
        let begun = MonotonicClock.now()
        #expect(try store.beat(node, for: .seconds(60), configuration: "", clockAhead: .zero, figures: "") != nil)
        #expect(try store.lookAtFleet().lapsed.isEmpty)
        #expect(try store.unclaimedCampaigns() == [])
        #expect(try store.lead(node))
        let took = MonotonicClock.now() - begun
        isOver.signal()
        reader.join()
        #expect(took < PostgresStore.patience(.control), "\(took)")
    }

    @Test("A server that may lose what it was given is worked on, and said to be unfit")
    func unfit() throws {
        let database = try TestDatabase()
        let store = try PostgresStore(try PostgresSettings(url: database.conninfo, library: .load()))
        defer { store.close() }
        let error = try #require(throws: StoreError.self) { try store.checkWritable() }
        #expect(error.context.contains("fsync"))
        #expect(error.hint?.contains("ALTER SYSTEM") == true)
    }
}
