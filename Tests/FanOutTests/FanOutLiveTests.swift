// SPDX-License-Identifier: Apache-2.0
import APNsSimulator
import Foundation
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import RelayStoreSQLite
import SeedApps
import Signing
import Synchronization
import Testing
import UpgradeRules

@testable import FanOut

/// The fan-out between a real store and a real push service, in one process and on a clock that the test moves.
@Suite(.serialized) struct FanOutLiveTests {
    /// A clock that stands where it is put.
    private final class TestClock: Sendable {
        private let time: Mutex<Timestamp>
        init(_ start: Timestamp) { time = Mutex(start) }
        var now: Timestamp { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    private static let app = AppKey(app: "com.example.app", platform: .ios)
    private let clock = TestClock(
        Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)))
    private let folder: URL
    private let store: SQLiteStore
    /// Signalled for each line of the fan-out's log, so that nothing sleeps.
    private let lines = LogLines()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fan-out-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try SQLiteStore(path: folder.appending(path: "relay.db").path)
    }

    private func simulator(
        _ key: ES256PrivateKey, _ configure: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws -> APNsSimulator {
        var configuration = SimulatorConfiguration(
            topics: [Self.app.app], teamID: "TEAM123456", keys: ["KEY1234567": key.publicKey])
        configuration.certificate = .generated(directory: folder.path)
        configure(&configuration)
        let simulator = try APNsSimulator(configuration)
        try simulator.start()
        return simulator
    }

    private func fanOut(_ simulator: APNsSimulator, _ key: ES256PrivateKey, timeToLive: Duration) throws -> FanOut {
        var pool = PoolConfiguration(origin: Origin(host: "127.0.0.1", port: simulator.port))
        pool.trustedCertificates = simulator.trustedCertificatePath
        let route = AppRoute(
            app: Self.app,
            provider: APNsProvider(
                settings: .init(topic: Self.app.app, priority: 10),
                tokens: APNsTokenSource(
                    teamID: "TEAM123456", keyID: "KEY1234567", key: key, stored: nil, save: { _ in })),
            production: pool, sandbox: pool, pushType: "needUpgrade", alert: "Upgrade", sound: nil,
            downloadURL: "https://example.com", timeToLive: timeToLive)
        let (clock, lines) = (clock, lines)
        return try FanOut(
            store: store, routes: [route], configuration: FanOut.Configuration(),
            log: Log(minimum: .debug) { _, message, _ in lines.add(message.description) }, clock: { clock.now })
    }

    private func register(_ count: Int) throws {
        let version = try Version("1.0")
        try store.register(
            (1...count).map {
                DeviceRegistration(
                    app: Self.app, token: String(format: "%064x", $0), telephone: String(13_800_000_000 + $0),
                    version: version)
            }, at: clock.now)
    }

    private func raise(_ version: String) throws {
        _ = try store.apply(
            VersionBump(app: Self.app, required: try Version(version)), actor: "test", source: "test", at: clock.now,
            draft: nil, receipt: nil, render: { _ in StoredAnswer(status: 200, body: []) })
    }

    private func campaign() throws -> CampaignRecord {
        try #require(try store.campaigns(before: nil, limit: 1).first)
    }

    @Test func whatCouldNotBeSentInTimeExpires() throws {
        let key = try ES256PrivateKey.generate()
        let simulator = try simulator(key) { $0.faults.serviceErrors = .init(afterN: 0, count: 1_000_000) }
        defer { simulator.stop() }
        try register(200)
        let fanOut = try fanOut(simulator, key, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .seconds(5)) }
        try raise("2.0")
        fanOut.poke()
        try #require(simulator.wait(forRequests: 200, deadline: .seconds(20)))
        // The clock goes on until what was due again has been tried a second time.
        for _ in 0..<20 where simulator.figures.requests < 400 {
            clock.advance(by: .seconds(100))
            fanOut.poke()
            _ = simulator.wait(forRequests: 400, deadline: .seconds(1))
        }
        #expect(simulator.figures.requests >= 400)
        // An hour after the rise nothing may be sent any more.
        clock.advance(by: .seconds(3_600))
        fanOut.poke()
        try #require(lines.wait(for: "the campaign's time to live ran out", deadline: .seconds(20)))
        let end = try campaign()
        #expect(end.state == .completed)
        #expect(end.counts.expired == 200)
        #expect(end.counts.audience == 200)
    }

    @Test func eachPushIsTakenByItsOwnUserWhateverTheTelephone() throws {
        // Literal, by UTF-16 code units: none of these is another of them.
        let telephones = [
            "13800138000", "+8613800138000", " 13800138000", "13800138000 ", "１３８", "138\"00", "138\\00", "138/00",
            "caf\u{e9}", "cafe\u{301}", "\u{1f695}", "\u{2028}", "\u{1}\u{7f}", "0", "00", "1.0",
        ]
        let key = try ES256PrivateKey.generate()
        let record = folder.appending(path: "record.ndjson")
        let simulator = try simulator(key) { $0.recordPath = record.path }
        defer { simulator.stop() }
        var jury = PushJury(pushType: "needUpgrade")
        try store.register(
            telephones.enumerated().map { number, telephone in
                let token = String(format: "%064x", number + 1)
                jury.telephones[token] = [telephone]
                return DeviceRegistration(app: Self.app, token: token, telephone: telephone, version: nil)
            }, at: clock.now)
        let fanOut = try fanOut(simulator, key, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .seconds(5)) }
        try raise("2.0")
        fanOut.poke()
        try #require(lines.wait(for: "the campaign is complete", deadline: .seconds(20)))
        let verdict = try jury.verdict(onRecord: Data(contentsOf: record))
        #expect(verdict.judged == telephones.count)
        #expect(verdict.faults == [])
    }

    /// The API takes hex digits only, but other programs write to the store too.
    @Test func aTokenThatIsNoneWritesNothingIntoItsRequest() throws {
        let hostile = [
            "aa\r\nx-evil: 1", "aa\r\n\r\n", "aa\0", "\0", "aa\u{1B}[2J", " ", "aa bb", "../../3/device/aa", "aa?b=c",
            "aa#", "é",
            String(repeating: "a", count: 100_000), "zz",
        ]
        let key = try ES256PrivateKey.generate()
        let record = folder.appending(path: "record.ndjson")
        let simulator = try simulator(key) { $0.recordPath = record.path }
        defer { simulator.stop() }
        try register(300)
        try store.register(
            hostile.map { DeviceRegistration(app: Self.app, token: $0, telephone: "138", version: nil) }, at: clock.now)
        let fanOut = try fanOut(simulator, key, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .seconds(5)) }
        try raise("2.0")
        fanOut.poke()
        try #require(lines.wait(for: "the campaign is complete", deadline: .seconds(20)))
        let end = try campaign()
        #expect(end.counts.accepted == 300)
        #expect(end.counts.rejected == Int64(hostile.count))
        #expect(end.rejectedBy == ["MalformedDeviceToken": Int64(hostile.count)])
        // None of them has left.
        #expect(simulator.figures.requests == 300)
    }
}
