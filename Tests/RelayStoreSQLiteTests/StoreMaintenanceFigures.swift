// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import TestPeers
import Testing
import UpgradeRules
import WireFormat

@testable import RelayStoreSQLite

/// The duration of a fan-out's commit beside a backup and a pruning of a large store.
/// `make measure-maintenance`, or `MAINTENANCE_DEVICES=1000000 swift test --filter StoreMaintenanceFigures`.
@Suite("Figures of the store's maintenance", .ownThread)
struct StoreMaintenanceFigures {
    private static let devices = ProcessInfo.processInfo.environment["MAINTENANCE_DEVICES"].flatMap { Int($0) }

    /// A fan-out's writer: batches of 500 rows of a campaign, one after the other, each commit timed.
    private final class Writer: Sendable {
        private let times = Watched<[Duration]>([])
        private let bell = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        init(_ fixture: StoreFixture, _ campaign: CampaignKey) {
            Thread.detachNewThread { [self] in
                var devices = DeviceRows()
                var after: Int64 = 0
                guard var shard = try? fixture.store.firstShard(of: campaign),
                    var lease = try? fixture.store.claimRun(campaign)
                else { fatalError("the campaign has no shard, or does not run") }
                // At the speed of a push service, not of the disk.
                while bell.wait(timeout: .now() + .milliseconds(2)) == .timedOut {
                    try? fixture.store.readDevices(
                        fixture.app, channel: .production, after: after, through: .max, limit: 500, into: &devices)
                    let rows = devices.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 1) }
                    let commit = LedgerCommit(
                        campaign: campaign, shard: shard, cursor: devices.rows.last?.id ?? after, shardDone: false,
                        rows: rows, devices: devices, retirements: [])
                    let start = ContinuousClock.now
                    if (try? fixture.store.commit([commit], of: lease, at: fixture.now)) == true { lease.commits += 1 }
                    shard = commit.advanced ?? shard
                    let time = ContinuousClock.now - start
                    times.change { $0.append(time) }
                    after = devices.rows.last?.id ?? after
                }
                ended.signal()
            }
        }

        /// Runs `body` and prints the durations of the commits beside it.
        @discardableResult
        func measured<R>(_ name: String, _ body: () throws -> R) rethrows -> R {
            times.change { $0.removeAll() }
            let start = ContinuousClock.now
            let result = try body()
            let time = ContinuousClock.now - start
            let sorted = times.now.sorted()
            guard !sorted.isEmpty else { return result }
            func milliseconds(_ duration: Duration) -> String {
                String(format: "%.1f", Double(duration.nanoseconds) / 1e6)
            }
            print(
                "\(name): \(milliseconds(time)) ms; \(sorted.count) commits of 500 beside it, ms: "
                    + "median \(milliseconds(sorted[sorted.count / 2])), "
                    + "99th \(milliseconds(sorted[sorted.count * 99 / 100])), "
                    + "longest \(milliseconds(sorted[sorted.count - 1]))")
            return result
        }

        func waitForCommits(_ count: Int) { _ = times.wait { $0.count >= count } }

        func stop() {
            bell.signal()
            ended.wait()
        }
    }

    @Test(.enabled(if: devices != nil))
    func figures() throws {
        let count = Self.devices ?? 0
        let fixture = try StoreFixture()
        for start in stride(from: 0, to: count, by: 50_000) {
            try fixture.registerDevices(start..<min(start + 50_000, count))
        }
        try fixture.campaign("1", at: fixture.now)
        try fixture.bump(required: "2")
        let campaign = try #require(
            try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now + .seconds(1)).campaign)
        try fixture.store.planShards(campaign.key, shardSize: 10_000_000, waves: nil, at: fixture.now)
        try fixture.store.administer("PRAGMA wal_checkpoint(TRUNCATE)")
        print("\(count) devices, \(count) deliveries: \(try fixture.size()) bytes")
        let writer = Writer(fixture, campaign.key)
        writer.measured("alone") { writer.waitForCommits(1_000) }
        let snapshot = try writer.measured("backup") { try fixture.store.snapshot { _ in true } }
        print("backup: \(snapshot.size) bytes")
        let faults = try writer.measured("check") { try fixture.store.check { _ in true } }
        #expect(faults == [])
        let late = fixture.now + .seconds(90 * 86_400)
        let report = try writer.measured("prune") {
            try fixture.store.prune(before: late, at: late) { _ in true }
        }
        writer.stop()
        #expect(report.deliveries == Int64(count))
        try fixture.store.administer("PRAGMA wal_checkpoint(TRUNCATE)")
        print(
            "prune: \(report.deliveries) deliveries, \(report.freed) bytes given back, longest transaction "
                + "\(report.longestPause); now \(try fixture.size()) bytes")
    }
}
