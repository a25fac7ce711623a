// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FanOut
import FaultInjection
import Foundation
import HTTP2
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestStores

/// A fan-out between a store whose files can fail and the simulator.
final class StoreFaultBench {
    let simulator: PushSimulator
    private let bench: FanOutBench

    init(_ configure: (inout SimulatorConfiguration) -> Void = { _ in }) throws {
        bench = try FanOutBench()
        var configuration = SimulatorConfiguration(
            topics: [FanOutBench.app.app], teamID: FanOutBench.teamID, keys: [FanOutBench.keyID: bench.key.publicKey])
        configuration.certificate = .generated(directory: bench.folder.path)
        configure(&configuration)
        simulator = try PushSimulator(configuration)
        try simulator.start()
        // A lock that a fault pretends is not worth waiting for.
        try bench.store.administer("PRAGMA busy_timeout = 1")
    }

    deinit {
        simulator.stop()
        bench.store.close()
        try? FileManager.default.removeItem(at: bench.folder)
    }

    var faults: StoreFaults { bench.faults }
    var store: any TestStore { bench.store }
    var lines: LogLines { bench.lines }
    var clock: FanOutBench.TestClock { bench.clock }
    var path: String { bench.folder.appending(path: "relay.db").path }

    /// Small batches of small shards make many commits; the store's rest is short so that many faults fit into a second.
    ///
    /// - Parameter onClock: called on the fan-out's own thread each time that it looks at the clock.
    func fanOut(
        probe: Int = 4, onClock: @escaping @Sendable () -> Void = {},
        change: (inout FanOut.Configuration) -> Void = { _ in }
    ) throws -> FanOut {
        var configuration = FanOut.Configuration()
        configuration.limits.batchSize = 10
        configuration.limits.probeSize = probe
        configuration.limits.batchesAtOnce = 4
        configuration.largestShard = 20
        configuration.watchInterval = .milliseconds(2)
        configuration.storeRest = .milliseconds(3)
        change(&configuration)
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: simulator.port))
        pool.dialer.egress.trustedCertificates = simulator.trustedCertificatePath
        return try bench.fanOut(pool, timeToLive: .seconds(3_600), configuration: configuration, onClock: onClock)
    }

    func register(_ count: Int) throws { try bench.register(count) }

    func raise(_ version: String) throws { try bench.raise(version) }

    /// The newest campaign; nil if there is none, or the store cannot be read.
    func campaign() -> CampaignRecord? { (try? bench.store.campaigns(before: nil, limit: 1))?.first }

    /// Checks at each line of the log, and every 5 ms, because faults of the files are not logged there. Returns false when
    /// `deadline` passes before `condition` holds.
    func wait(_ deadline: Duration = .seconds(60), until condition: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + deadline
        while try !condition() {
            guard ContinuousClock.now < end else { return false }
            lines.waitForNext(atMost: .milliseconds(5))
        }
        return true
    }
}
