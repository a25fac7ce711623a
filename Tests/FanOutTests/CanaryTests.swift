// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing

@testable import FanOut
@testable import HTTP2

/// The pushes of a canary, service by service.
@Suite struct CanaryTests {
    private static let users = [5, 6].map(LiveBench.telephone)

    /// FAULTS 1.19: the addition was stored and shown, but no device was pushed to.
    @Test func whoIsAddedToARunningCanaryIsPushedToAndNobodyTwice() throws {
        let bench = try DispatcherBench()
        try bench.register(1...10)
        try bench.raise(canary: Self.users)
        bench.serve("production")
        #expect(try bench.counts.accepted == 2)
        try bench.raise(canary: Self.users + [LiveBench.telephone(7)])
        var sent = 0
        bench.serve("production") { _, _ in
            sent += 1
            return TestLane.Reply()
        }
        #expect(sent == 1)
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .running && campaign.isCanary && campaign.figures.counts.accepted == 3)
        #expect(campaign.figures.counts.pending == 7)
        #expect(Set(try bench.bench.deliveries().filter { $0.state == .accepted }.map(\.device)).count == 3)
    }

    /// FAULTS 1.27: they were sent by the service of the campaign for everybody, and counted there.
    @Test func secondTriesOfACanaryGoByItsOwnService() throws {
        let bench = try DispatcherBench { $0.triesOtherEnvironment = true }
        try bench.register(1...10)
        try bench.register(11...400, environment: .sandbox)
        try bench.raise()
        bench.serve("production")
        #expect(bench.lane.waiting(at: "sandbox") > 0, "the ordinary campaign is under way there")
        try bench.raise("2.1", canary: Self.users)
        #expect(bench.lane.waiting(at: "production") == 2)
        bench.turn(bench.lane.answer("production", status: 400, reason: "BadDeviceToken"))
        let owners = bench.dispatcher.owners.values.filter { $0.1 }
        #expect(owners.map(\.0.key.track) == [.staged])
    }
}
