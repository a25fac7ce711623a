// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTP2
import PushProviders
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import FanOut

/// A fan-out between a real store and real push services, one for each of Apple's worlds, on a clock that the test moves.
final class LiveBench {
    static let app = FanOutBench.app

    private let bench: FanOutBench
    var clock: FanOutBench.TestClock { bench.clock }
    var store: any TestStore { bench.store }
    var lines: LogLines { bench.lines }
    let production: PushSimulator
    /// The world of development builds, if the test has one.
    private(set) var sandbox: PushSimulator?
    /// The sandbox's later port, if no server listens there at first.
    private let sandboxPlace: Loopback.ReservedPort?
    private(set) var fanOut: FanOut?
    /// The version of the last `raise`, whose campaign the tests wait for.
    private var required = Version.zero

    init(
        _ faults: FaultScript = FaultScript(), sandbox sandboxFaults: FaultScript? = nil, latency: Duration = .zero,
        maximumStreams: Int = 1000, sandboxIsAway: Bool = false, clientAuthorities: [UInt8]? = nil,
        sandboxKeys: [String: ES256PublicKey]? = nil
    ) throws {
        let bench = try FanOutBench()
        self.bench = bench
        func simulator(_ name: String, _ faults: FaultScript) throws -> PushSimulator {
            try Self.simulator(bench, name, faults) {
                $0.latency = latency
                $0.maximumStreams = maximumStreams
                $0.clientAuthorities = clientAuthorities
                if name == "sandbox", let sandboxKeys, var team = $0.service.customer as? APNsTeam {
                    team.keys = sandboxKeys
                    $0.service = .apns(team)
                }
            }
        }
        production = try simulator("production", faults)
        sandbox = try sandboxFaults.map { try simulator("sandbox", $0) }
        sandboxPlace = sandboxIsAway ? try Loopback.ReservedPort() : nil
    }

    static func simulator(
        _ bench: FanOutBench, _ name: String, _ faults: FaultScript, change: (inout SimulatorConfiguration) -> Void
    ) throws -> PushSimulator {
        let folder = bench.folder.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = SimulatorConfiguration(
            topics: [FanOutBench.app.app], teamID: FanOutBench.teamID,
            keys: [FanOutBench.keyID: bench.key.publicKey])
        configuration.certificate = .generated(directory: folder.path)
        configuration.faults = faults
        change(&configuration)
        let simulator = try PushSimulator(configuration)
        try simulator.start()
        return simulator
    }

    /// Starts the sandbox that was away.
    func sandboxComes() throws {
        let port = try #require(sandboxPlace).port
        sandbox = try Self.simulator(bench, "sandbox", FaultScript()) { $0.port = port }
    }

    deinit {
        fanOut?.stop(within: .seconds(5))
        production.stop()
        sandbox?.stop()
        store.close()
        try? FileManager.default.removeItem(at: bench.folder)
    }

    // MARK: The relay's side

    /// - Parameters:
    ///   - issued: the age of the provider token that an earlier run kept; nil: there was none.
    ///   - change: changes the app's route.
    func start(
        lanes: Int = 1, issued age: Duration? = nil, change: (inout AppRoute) throws -> Void = { _ in }
    ) throws {
        var configuration = FanOut.Configuration()
        configuration.lanes = lanes
        configuration.limits.batchSize = 500
        var sandbox = pool(sandbox ?? production)
        if let sandboxPlace {
            sandbox.origin = Origin(host: "127.0.0.1", port: sandboxPlace.port)
            sandbox.dialer.egress.trustedCertificates =
                bench.folder.appending(path: "sandbox/push-simulator-ca.pem").path
        }
        fanOut = try bench.fanOut(
            pool(production), sandbox: sandbox, timeToLive: .seconds(86_400),
            configuration: configuration, stored: try age.map { try bench.tokens().token(at: clock.now - $0) },
            change: change)
    }

    /// Stops the relay as a restart does; `start` starts it again.
    func stop() {
        fanOut?.stop(within: .seconds(60))
        fanOut = nil
    }

    private func pool(_ simulator: PushSimulator) -> PoolConfiguration {
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: simulator.port))
        pool.dialer.egress.trustedCertificates = simulator.trustedCertificatePath
        return pool
    }

    // MARK: Devices and versions

    static func token(_ number: Int) -> String { String(format: "%064x", number) }

    static func telephone(_ number: Int) -> String { String(13_800_000_000 + number) }

    func register(
        _ numbers: some Collection<Int>, telephone: (Int) -> String? = LiveBench.telephone, version: String = "1.0",
        environment: Channel.Environment = .production
    ) throws {
        let version = try Version(version)
        try store.register(
            numbers.map {
                DeviceRegistration(
                    app: Self.app, token: Self.token($0), telephone: telephone($0), version: version,
                    environment: environment)
            }, at: clock.now)
    }

    func remove(_ number: Int) throws {
        try #require(try store.removeDevice(Self.app, token: Self.token(number)))
    }

    func device(_ number: Int) throws -> DeviceRecord {
        try #require(try store.device(Self.app, token: Self.token(number)))
    }

    /// The number of tokens that were given up.
    func retired() throws -> Int { try bench.retired() }

    func raise(_ version: String = "2.0", canary: [String]? = nil) throws {
        required = try Version(version)
        try bench.raise(version, canary: canary)
        fanOut?.poke()
    }

    // MARK: Campaigns

    func campaign() throws -> CampaignRecord { try bench.campaign() }

    func delivery(_ number: Int) throws -> Delivery {
        try #require(try bench.deliveries().first { $0.token == Self.token(number) })
    }

    func resume() throws {
        try bench.resume()
        fanOut?.poke()
    }

    /// Returns the campaign that `raise` began, once it has come to `state` and none of its pushes is on its way.
    func wait(for state: CampaignState, deadline: Duration = .seconds(60)) throws -> CampaignRecord {
        var found: CampaignRecord?
        func newest() throws -> CampaignRecord? {
            try store.campaigns(before: nil, limit: 1).first { $0.state == state && $0.requirement.version == required }
        }
        let isThere = try until(deadline: deadline) {
            guard let campaign = try newest(), let fanOut,
                fanOut.figures(of: campaign.key).counts(campaign.figures.counts).inFlight == 0
            else { return false }
            // Until the fan-out has looked, it sends one batch after the other: between two, nothing is on its way.
            if state.isFinal, fanOut.campaigns.contains(campaign.key) { return false }
            // Read again: the last batch may have been recorded between the two checks.
            found = try newest()
            return found != nil
        }
        guard isThere, let found else {
            // No `#require`: a campaign that is not there yet is no failure if the caller waits again.
            let figures =
                fanOut.map {
                    "\($0.campaigns) \($0.faults()) \($0.figures(of: (try? campaign().key) ?? CampaignKey(row: 0))) \($0.laneFigures)"
                }
                ?? ""
            throw Timeout(text: "after \(deadline): \(figures) \(try store.campaigns(before: nil, limit: 1))")
        }
        return found
    }

    /// Moves the clock on until the campaign has come to `state`: each step makes the waiting retries due. The clock stands
    /// while pushes are on their way, so that few steps are needed however slow the machine is.
    func passTime(to state: CampaignState, by step: Duration) throws -> CampaignRecord {
        for _ in 0..<60 {
            let isLanded = try until {
                // Right after the raise there is no campaign yet.
                guard let campaign = try store.campaigns(before: nil, limit: 1).first,
                    campaign.requirement.version == required
                else { return false }
                return fanOut?.figures(of: campaign.key).counts(campaign.figures.counts).inFlight == 0
            }
            guard isLanded else { break }
            clock.advance(by: step)
            fanOut?.poke()
            if let end = try? wait(for: state, deadline: .milliseconds(500)) { return end }
        }
        return try wait(for: state)
    }

    /// Returns false when `deadline` passes before `condition` holds.
    func until(deadline: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + deadline
        while ContinuousClock.now < end {
            if try condition() { return true }
            // Most changes of a campaign are logged; the arrival of the last answers is not, and is polled.
            lines.waitForNext(atMost: .milliseconds(20))
        }
        return false
    }

    /// Prints the fault's row of the table in the closing note: tried, lost, sent twice, tokens given up, time until all was
    /// sent.
    func tell(_ fault: String, since began: ContinuousClock.Instant) throws {
        let campaign = try campaign()
        let lost =
            campaign.figures.counts.audience - campaign.figures.counts.filtered - campaign.figures.counts.accepted
        let seconds = ((ContinuousClock.now - began) / .seconds(1) * 100).rounded() / 100
        print("| \(fault) | 1 | \(lost) | \(production.figures.duplicates) | \(try retired()) | \(seconds) s |")
    }

    struct Timeout: Error {
        var text: String
    }
}
