// SPDX-License-Identifier: Apache-2.0
import FanOut
import FaultInjection
import Foundation
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import Synchronization
import Telemetry
import TestPeers
import TestStores
import Testing
import Threading
import UpgradeRules

/// A fan-out over a real store, in one process; the test brings the push service.
struct FanOutBench {
    /// A clock that stands where it is put, or goes on by itself from there.
    final class TestClock: Sendable {
        private let time: Mutex<Timestamp>
        private let startedAt: ContinuousClock.Instant?
        /// The time that the test has let pass, added also to the monotonic clock, which goes on by itself.
        private let passed = Mutex<Duration>(.zero)

        init(isRunning: Bool) {
            time = Mutex(Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)))
            startedAt = isRunning ? .now : nil
        }

        var now: Timestamp {
            let passed = startedAt.map { ContinuousClock.now - $0 } ?? .zero
            return time.withLock { $0 + passed }
        }

        var tick: MonotonicTime { MonotonicClock.now() + passed.withLock { $0 } }

        func advance(by duration: Duration) {
            time.withLock { $0 = $0 + duration }
            // A wall clock may be set back; this one never goes back.
            passed.withLock { $0 += max(duration, .zero) }
        }
    }

    static let app = AppKey(app: "com.example.app", platform: .ios)
    static let teamID = "TEAM123456"
    static let keyID = "KEY1234567"

    let clock: TestClock
    let folder: URL
    /// Faults of the store's files; none unless a test arms them.
    let faults: StoreFaults
    private(set) var store: any TestStore
    let key: ES256PrivateKey
    /// Signalled for each line of the fan-out's log, so that nothing sleeps.
    let lines = LogLines()
    /// The draft of an app in waves. Its requirement begins with the first wave, so the store needs the draft when it is
    /// raised.
    let draft = Draft()

    final class Draft: Sendable {
        private let value = Mutex<CampaignDraft?>(nil)
        var now: CampaignDraft? { value.withLock { $0 } }
        func set(_ route: AppRoute) { value.withLock { $0 = route.waves == nil ? nil : route.draft } }
    }

    init(clockRuns: Bool = false) throws {
        clock = TestClock(isRunning: clockRuns)
        folder = URL(fileURLWithPath: try TestFolder.make(), isDirectory: true)
        let path = folder.appending(path: "relay.db").path
        faults = StoreFaults(path: path)
        store = try openStore(path)
        key = try ES256PrivateKey.generate()
    }

    /// Closes the store and opens it anew, as a restart does.
    mutating func reopen() throws {
        store.close()
        store = try openStore(folder.appending(path: "relay.db").path)
    }

    /// - Parameters:
    ///   - sandbox: nil: the same servers.
    ///   - stored: the provider token that an earlier run kept.
    ///   - onClock: called on the fan-out's own thread each time that it looks at the clock: before it records, and before it
    ///     reads what goes out next.
    ///   - change: changes the app's route.
    func fanOut(
        _ pool: PoolConfiguration, sandbox: PoolConfiguration? = nil, timeToLive: Duration,
        configuration: FanOut.Configuration = FanOut.Configuration(), stored: ProviderToken? = nil,
        onClock: @escaping @Sendable () -> Void = {}, change: (inout AppRoute) throws -> Void = { _ in }
    ) throws -> FanOut {
        var route = route(pool, sandbox: sandbox, timeToLive: timeToLive, stored: stored)
        try change(&route)
        draft.set(route)
        let (clock, lines) = (clock, lines)
        return try FanOut(
            store: store, routes: [route], configuration: configuration,
            log: Log(minimum: .debug) { _, message, _ in lines.add(message.description) },
            clock: {
                onClock()
                return clock.now
            }, ticks: { clock.tick })
    }

    /// Stops the relay and removes the bench's files.
    func end(_ fanOut: FanOut) {
        fanOut.stop(within: .zero)
        store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func route(
        _ pool: PoolConfiguration, sandbox: PoolConfiguration? = nil, timeToLive: Duration = .seconds(3_600),
        stored: ProviderToken? = nil
    ) -> AppRoute {
        AppRoute(
            app: Self.app,
            provider: APNsProvider(settings: .init(topic: Self.app.app, priority: 10), tokens: tokens(stored)),
            production: pool, sandbox: sandbox ?? pool, pushType: "needUpgrade", words: PushWords("Upgrade"),
            downloadURL: "https://example.com", timeToLive: timeToLive)
    }

    func tokens(_ stored: ProviderToken? = nil) -> APNsTokenSource {
        APNsTokenSource(teamID: Self.teamID, keyID: Self.keyID, key: key, stored: stored)
    }

    func register(_ count: Int) throws {
        let version = try Version("1.0")
        try store.register(
            (1...count).map {
                DeviceRegistration(
                    app: Self.app, token: String(format: "%064x", $0), telephone: String(13_800_000_000 + $0),
                    version: version)
            }, at: clock.now)
    }

    func raise(_ version: String, of app: AppKey = app, canary: [String]? = nil) throws {
        _ = try store.apply(
            VersionBump(app: app, required: try Version(version), telephones: canary), actor: "test",
            source: "test", at: clock.now,
            draft: draft.now, receipt: nil, render: { _ in StoredAnswer(status: 200, body: []) })
    }

    func resume() throws {
        try #require(
            try store.move(campaign().key, .resumed, at: clock.now))
    }

    /// The number of tokens that were given up.
    func retired() throws -> Int {
        try store.devices(of: Self.app, after: 0, limit: 100_000).count { $0.retiredAt != nil }
    }

    func campaign() throws -> CampaignRecord {
        try #require(try store.campaigns(before: nil, limit: 1).first)
    }

    /// Checks again until the condition holds: at each line of the log, and every 20 ms, because not every change is logged.
    func wait(until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(90)
        while try !condition() {
            let campaigns = try store.campaigns(before: nil, limit: 1)
            try #require(ContinuousClock.now < end, "\(campaigns)")
            lines.waitForNext(atMost: .milliseconds(20))
        }
    }

    /// Lets a standing clock jump from one due retry to the next until the campaign is over.
    func runToTheEnd(_ fanOut: FanOut) throws {
        try wait {
            guard let campaign = try store.campaigns(before: nil, limit: 1).first else { return false }
            let figures = fanOut.figures(of: campaign.key)
            let next = try Channel.allCases.compactMap { try store.nextRetry(campaign.key, channel: $0) }
                .min()
            if figures.shardRequestsOut + figures.retryRequestsOut == 0, let next, next > clock.now {
                clock.advance(by: next - clock.now)
                fanOut.poke()
            }
            return campaign.state == .completed
        }
    }

    /// nil while there is no campaign yet.
    func counts() throws -> CampaignCounts? { try store.campaigns(before: nil, limit: 1).first?.figures.counts }

    func deliveries() throws -> [Delivery] {
        try store.deliveries(of: campaign().key, DeliveryFilter(), after: 0, limit: 100_000)
    }
}
