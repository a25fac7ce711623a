// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Testing

/// Two owners, one after the other, keep to the limits of one.
extension RelayFleetTests {
    /// The times at which the push service got pushes, in order.
    private func times(of record: URL) throws -> [Date] {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try String(contentsOf: record, encoding: .utf8).split(separator: "\n").compactMap { line in
            let push = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try Date(#require(push?["at"] as? String, "\(line)"), strategy: style)
        }.sorted()
    }

    /// The largest number of pushes within any `seconds`.
    private func most(of times: [Date], within seconds: TimeInterval) -> Int {
        var (most, end) = (0, 0)
        for first in times.indices {
            while end < times.count, times[end].timeIntervalSince(times[first]) < seconds { end += 1 }
            most = max(most, end - first)
        }
        return most
    }

    @Test(Self.inFull) func aPaceHoldsOverATakeOver() throws {
        let (devices, seconds) = (4_000, 20)
        let trial = try RelayTrial(devices: devices, seconds: seconds)
        let (campaign, owner) = try trial.beginCampaign()
        trial.kill(owner)
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        try trial.judge(
            "a pace over a take-over", [(campaign, trial.fleet.devices)], by: 1 - owner, interruptions: 1)
        let record = try times(of: trial.bench.folder.appending(path: "record.ndjson"))
        let most = most(of: record, within: 5)
        // The pace's share of 5 s, and a second's share that may have been saved up.
        #expect(most <= 6 * devices / seconds, "\(most) in 5 s")
        print("| the most in 5 s, of \(5 * devices / seconds) that the pace allows | \(most) |")
    }

    /// The new owner begins as if the project had just sent all that it may.
    @Test(Self.inFull) func aQuotaHoldsOverATakeOver() throws {
        let (devices, quota) = (3_000, 1_800)
        let trial = try RelayTrial(devices: devices, seconds: 1, quotaPerMinute: quota)
        try trial.startAll()
        try trial.register(trial.fleet.devices, platform: "android")
        let campaign = try trial.bump(platform: "android")
        let owner = try trial.awaitOwner(of: campaign)
        try #require(trial.fcm.wait(forRequests: 600, deadline: .seconds(120)))
        trial.kill(owner)
        let view = try trial.finish(campaign, by: 1 - owner, within: .seconds(300))
        #expect(view.state == "completed" && view.addsUp && view.counts["accepted"] == devices, "\(view)")
        let record = try times(of: trial.bench.folder.appending(path: "fcm/record.ndjson"))
        let most = most(of: record, within: 60)
        #expect(most <= quota, "\(most) in a minute")
        print("| the most in a minute, of \(quota) that the quota allows | \(most) of \(record.count) |")
    }
}
