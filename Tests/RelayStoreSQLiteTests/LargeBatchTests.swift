// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Synchronization
import Testing
import UpgradeRules

@testable import RelayStoreSQLite
@testable import Telemetry

@Suite("Large batches of devices beside other writers", .timeLimit(.minutes(60)), .ownThread)
struct LargeBatchTests {
    /// Runs `body` on a thread of its own. Signals at its end.
    private func start(_ body: @escaping @Sendable () throws -> Void) -> DispatchSemaphore {
        let done = DispatchSemaphore(value: 0)
        Thread {
            do { try body() } catch { Issue.record(error) }
            done.signal()
        }.start()
        return done
    }

    private func ends(_ done: DispatchSemaphore) -> Bool {
        done.wait(timeout: .now() + .seconds(60 * Patience.factor)) == .success
    }

    private func waits(_ count: Int, in queue: WriteQueue) throws {
        let end = ContinuousClock.now + .seconds(60 * Patience.factor)
        while queue.length < count {
            try #require(ContinuousClock.now < end)
            sched_yield()
        }
    }

    private func batch(_ count: Int, of app: AppKey, version: String? = nil) throws -> RegistrationBatch {
        var batch = RegistrationBatch(app: app)
        let version = try version.map { try Version($0) }
        for number in 0..<count {
            batch.append(
                DeviceRegistration(app: app, token: "ab\(number)", telephone: "138\(number)", version: version))
        }
        return batch
    }

    @Test("Everybody has their turn in the order in which they came")
    func order() throws {
        let queue = WriteQueue()
        let came = Arrivals()
        queue.enter()
        let ends = try (1...4).map { number in
            let end = start {
                queue.enter()
                came.add(number)
                queue.leave()
            }
            try waits(number, in: queue)
            return end
        }
        queue.leave()
        for end in ends { #expect(self.ends(end)) }
        #expect(came.all == [1, 2, 3, 4])
        #expect(queue.length == 0)
        queue.enter()
        queue.leave()
    }

    @Test("Who wants to write while a large batch is registered comes in between, and nobody makes it one transaction")
    func turns() throws {
        let fixture = try StoreFixture()
        let parts = try storedParts(of: batch(5000, of: fixture.app), fixture)
        #expect(parts == [1000, 4000], "what is told adds up, and is told in two parts")
        #expect(try fixture.store.inspect("SELECT count(*), max(devices) FROM device, app") == [["5000", "5000"]])
    }

    @Test("A batch of devices that come up to many campaigns lets others write sooner: each look into a ledger counts")
    func upgrades() throws {
        let fixture = try StoreFixture()
        let campaigns = 30
        try fixture.store.register(batch(200, of: fixture.app, version: "1.0"), at: fixture.now) { _ in }
        for number in 2..<2 + campaigns { try fixture.campaign("\(number)", at: fixture.now) }
        let parts = try storedParts(of: batch(200, of: fixture.app, version: "99.0"), fixture)
        // A device costs itself and three looks for each of thirty campaigns: the eleventh brings the work to a thousand.
        #expect(parts == [11, 189])
        #expect(
            try fixture.store.inspect("SELECT DISTINCT upgraded FROM campaign") == [["200"]], "in each campaign")
    }

    /// Registers a batch while another writer waits, and returns the number of devices in each transaction.
    private func storedParts(of large: RegistrationBatch, _ fixture: StoreFixture) throws -> [Int] {
        let (inside, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let bump = VersionBump(
            app: AppKey(app: "another", platform: .ios), latest: try Version("1.0"), required: nil)
        let holder = start {
            _ = try fixture.store.apply(bump, actor: "a", source: "b", at: fixture.now, draft: nil, receipt: nil) {
                _ in
                inside.signal()
                goOn.wait()
                return StoredAnswer(status: 200, body: [])
            }
        }
        #expect(ends(inside))
        let stored = Arrivals()
        let registering = start { try fixture.store.register(large, at: fixture.now) { stored.add($0.devices) } }
        try waits(1, in: fixture.store.writeQueue)
        let between = start {
            try fixture.store.checkWritable()
            stored.add(-1)
        }
        try waits(2, in: fixture.store.writeQueue)
        goOn.signal()
        for end in [holder, registering, between] { #expect(ends(end)) }
        return stored.all.filter { $0 > 0 }
    }

    @Test("Alone, it is one transaction, in the order of the index over tokens")
    func alone() throws {
        let fixture = try StoreFixture()
        let stored = Arrivals()
        let before = fixture.store.pulse.reading
        try fixture.store.register(batch(5000, of: fixture.app), at: fixture.now) { stored.add($0.devices) }
        #expect(stored.all == [5000])
        #expect((fixture.store.pulse.reading.state - before.state) / 2 > 10, "it is not taken for stuck")
        #expect(
            try fixture.store.inspect(
                "SELECT count(*) FROM device AS a JOIN device AS b ON b.id = a.id + 1 WHERE b.token_hash < a.token_hash"
            ) == [["0"]])
    }
}

private final class Arrivals: Sendable {
    private let numbers = Mutex<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
}
