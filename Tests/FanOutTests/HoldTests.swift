// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Telemetry
import Testing
import Threading
import UpgradeRules

@testable import FanOut
@testable import HTTP2

/// The holds of pushes: their reason, their scope, and how they end.
@Suite struct HoldTests {
    private static let part = "outage:\(FanOutBench.app.app)"

    // MARK: A person does not wait

    @Test func aPersonEndsAnOutagesWaitAndTheNextPushesFindOut() throws {
        let bench = try DispatcherBench()
        try bench.register(1...1_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 503, reason: "ServiceUnavailable"))
        #expect(bench.lane.waiting(at: "production") == 0 && bench.dispatcher.faultTexts[Self.part] != nil)
        bench.turn([.probe(FanOutBench.app)])
        #expect(bench.lane.waiting(at: "production") == OutageHold.probeSize, "at once")
        bench.serve("production")
        #expect(bench.dispatcher.faultTexts.isEmpty)
        #expect(try bench.counts.accepted == 1_000 - 64)
    }

    @Test func aPersonEndsAPauseOfTheKey() throws {
        let bench = try DispatcherBench()
        try bench.register(1...1_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 429, reason: "TooManyProviderTokenUpdates"))
        #expect(bench.lane.waiting(at: "production") == 0)
        let campaign = try bench.bench.campaign().key
        let before = bench.dispatcher.board.read { $0 }
        #expect(before.figures[campaign]?.trouble?.hasPrefix("TooManyProviderTokenUpdates: APNs wants a pause") == true)
        #expect(before.figures[campaign]?.standsStill == true)
        #expect(before.faults["pause:\(FanOutBench.app.app)"] == before.figures[campaign]?.trouble)
        bench.turn([.probe(FanOutBench.app)])
        #expect(bench.lane.waiting(at: "production") == 64, "with few, and the token that there is")
        bench.serve("production")
        bench.pass(.seconds(1_600))
        bench.turn()
        bench.serve("production")
        #expect(try bench.counts.accepted == 1_000)
        #expect(bench.dispatcher.board.read { $0.faults }.isEmpty)
    }

    /// Regression: `resume` of a running campaign ended every wait but this one, and the sandbox's pushes stayed until nothing
    /// else was left.
    @Test func aPersonHasARefusedSandboxTriedAgain() throws {
        let bench = try DispatcherBench()
        try bench.register(1...100, environment: .sandbox)
        try bench.register(101...2_100)
        try bench.raise()
        bench.turn(bench.lane.answer("sandbox", status: 403, reason: "BadEnvironmentKeyInToken"))
        let part = "stopped:\(FanOutBench.app.app)/sandbox"
        #expect(bench.dispatcher.board.read { $0.faults[part] }?.hasPrefix("BadEnvironmentKeyInToken: ") == true)
        bench.turn([.probe(FanOutBench.app)])
        // The pushes on their way come back first; then both services begin again.
        bench.serve("production", turns: 1)
        bench.serve("sandbox")
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 2_100)
        #expect(bench.dispatcher.board.read { $0.faults }.isEmpty)
    }

    /// A campaign that only waits for a retry shows that, and until when.
    @Test func whenTheNextRetryIsIsKnown() throws {
        let bench = try DispatcherBench()
        try bench.register(1...10)
        try bench.raise()
        bench.serve("production") { place, _ in
            TestLane.Reply(status: place == 0 ? 429 : 200, reason: place == 0 ? "TooManyRequests" : "")
        }
        let campaign = try bench.bench.campaign()
        #expect(campaign.figures.counts.retrying == 1 && campaign.figures.counts.accepted == 9)
        let next = try #require(bench.dispatcher.board.read { $0.figures[campaign.key]?.nextRetryAt })
        #expect(next > bench.now && next <= bench.now + .seconds(4))
    }

    // MARK: The pace

    /// PACING.md: pushes per second of the app. Each of its services used to have a pace of its own: with development builds,
    /// or a canary beside the campaign, it was twice as much, with both four times.
    @Test func thePaceIsTheAppsWhicheverServicesSend() throws {
        let bench = try DispatcherBench { $0.pace = Pace(ratePerSecond: 100) }
        try bench.register(1...3_000, environment: .sandbox)
        try bench.register(3_001...6_000)
        try bench.raise()
        let begin = bench.now
        for _ in 0..<500 {
            bench.serve("production", turns: 1)
            bench.serve("sandbox", turns: 1)
            bench.pass(.milliseconds(10))
            bench.turn()
        }
        // Pushes on their way count, too: the first are a probe, and answers come once a turn.
        let sent = Double(try bench.counts.accepted)
        let seconds = (bench.now - begin).seconds
        #expect(seconds > 5 && sent <= seconds * 101 + 20, "\(sent) in \(seconds) s")
        #expect(sent >= seconds * 90 || sent == 6_000, "\(sent) in \(seconds) s")
        let rates = bench.dispatcher.board.read { $0.work.rateLimits }
        #expect(rates[FanOutBench.app] == 100)
    }

    /// Lets the clock go on by hundredths of a second until the campaign is complete.
    ///
    /// - Returns: the seconds that this took.
    private func finish(_ bench: DispatcherBench) throws -> Double {
        let begin = bench.now
        for _ in 0..<2_000 {
            if try bench.bench.campaign().state == .completed { break }
            bench.serve("production", turns: 1)
            bench.pass(.milliseconds(10))
            bench.turn()
        }
        #expect(try bench.bench.campaign().state == .completed)
        return (bench.now - begin).seconds
    }

    @Test func retriesTakeFromTheSameBucket() throws {
        let bench = try DispatcherBench { $0.pace = Pace(ratePerSecond: 40) }
        try bench.register(1...60)
        try bench.raise()
        for _ in 0..<300 {
            if try bench.counts.retrying == 60 { break }
            bench.serve("production", status: 429, reason: "TooManyRequests", turns: 1)
            bench.pass(.milliseconds(10))
            bench.turn()
        }
        #expect(try bench.counts.retrying == 60)
        bench.pass(.seconds(60))
        let seconds = try finish(bench)
        #expect(try bench.counts.accepted == 60)
        #expect(seconds >= 1.35, "60 retries at 40 a second took \(seconds) s")
    }

    @Test func aSlowPaceDoesNotWriteForEachFilteredDevice() throws {
        let bench = try DispatcherBench { $0.pace = Pace(ratePerSecond: 50) }
        // Nineteen of twenty have no user.
        try bench.register(1...2_000) { $0 % 20 == 0 ? LiveBench.telephone($0) : nil }
        let before = bench.bench.store.figures().commits.count
        try bench.raise()
        let seconds = try finish(bench)
        let counts = try bench.counts
        #expect(counts.accepted == 100 && counts.filtered == 1_900)
        #expect(seconds >= 1.85, "a hundred pushes at 50 a second took \(seconds) s")
        let commits = bench.bench.store.figures().commits.count - before
        #expect(commits < 100, "\(commits): about one for each batch, not for each device")
    }

    // MARK: Devices of the other environment

    /// Answers as if `share` in a hundred tokens were the sandbox's. Returns how many devices were moved there.
    private func moved(_ share: Int, of count: Int) throws -> (moved: Int, bench: DispatcherBench) {
        let bench = try DispatcherBench { $0.triesOtherEnvironment = true }
        try bench.register(1...count)
        try bench.raise()
        for _ in 0..<100 {
            bench.serve("production", turns: 1) { place, _ in
                place % 100 < share ? TestLane.Reply(status: 400, reason: "BadDeviceToken") : TestLane.Reply()
            }
            bench.serve("sandbox", turns: 1)
        }
        let devices = try bench.bench.store.devices(of: FanOutBench.app, after: 0, limit: 10_000)
        return (devices.count { $0.registration.environment == .sandbox }, bench)
    }

    /// Regression: 5,000 of 5,000 devices were moved when production itself was wrong.
    @Test func whereNearlyAllAreOfTheOtherEnvironmentNoDeviceIsMoved() throws {
        let (count, bench) = try moved(100, of: 2_000)
        #expect(count == 0)
        #expect(try bench.counts.accepted == 2_000, "they are pushed to all the same")
    }

    @Test func developersBuildsAreMoved() throws {
        let (count, _) = try moved(5, of: 2_000)
        #expect(count >= 90 && count <= 105, "\(count)")
    }

    @Test func aSmallTeamIsMoved() throws {
        #expect(try moved(100, of: 10).moved == 10)
    }

    /// The few devices that are left to the next life of the process, or to a small campaign, are too few to judge by alone.
    @Test(arguments: [true, false])
    func thatNearlyAllAreOfTheOtherEnvironmentIsRemembered(isRestarted: Bool) throws {
        let (count, bench) = try moved(100, of: 40)
        #expect(count == 0)
        #expect(try bench.bench.campaign().state == .completed)
        if isRestarted { try bench.restart() }
        for number in 1...35 {
            #expect(try bench.bench.store.removeDevice(FanOutBench.app, token: LiveBench.token(number)))
        }
        try bench.raise("3.0")
        for _ in 0..<100 {
            bench.serve("production", turns: 1) { _, _ in TestLane.Reply(status: 400, reason: "BadDeviceToken") }
            bench.serve("sandbox", turns: 1)
        }
        #expect(try bench.bench.campaign().state == .completed && bench.counts.accepted == 5)
        let devices = try bench.bench.store.devices(of: FanOutBench.app, after: 0, limit: 100)
        #expect(devices.map(\.registration.environment) == Array(repeating: .production, count: 5))
    }

    /// Its own environment takes it again before enough answers have come to believe that it is of the other one.
    @Test func whomItsOwnEnvironmentTakesAgainIsNotMoved() throws {
        let bench = try DispatcherBench { $0.triesOtherEnvironment = true }
        try bench.register(1...5)
        try bench.raise()
        for _ in 0..<10 {
            bench.serve("production", turns: 1) { place, _ in
                place < 2
                    ? TestLane.Reply(status: 400, reason: "BadDeviceToken")
                    : TestLane.Reply(status: 503, reason: "ServiceUnavailable")
            }
            bench.serve("sandbox", turns: 1)
        }
        #expect(try bench.counts.accepted == 2 && bench.counts.retrying == 3)
        try bench.register(6...35)
        try bench.raise("3.0")
        bench.pass(.seconds(60))
        bench.turn()
        // One of the two belongs to production, after all.
        for _ in 0..<100 {
            bench.serve("production", turns: 1) { place, _ in
                place == 0 ? TestLane.Reply(status: 400, reason: "BadDeviceToken") : TestLane.Reply()
            }
            bench.serve("sandbox", turns: 1)
        }
        #expect(try bench.bench.campaign().state == .completed)
        let devices = try bench.bench.store.devices(of: FanOutBench.app, after: 0, limit: 100)
        #expect(devices.count { $0.registration.environment == .sandbox } == 1)
    }

    @Test func theOperatorIsToldWhyNobodyIsMoved() throws {
        let bench = try DispatcherBench { $0.triesOtherEnvironment = true }
        try bench.register(1...3_000)
        try bench.raise()
        bench.serve("production", turns: 1) { _, _ in TestLane.Reply(status: 400, reason: "BadDeviceToken") }
        bench.serve("sandbox", turns: 1)
        let text = bench.dispatcher.faultTexts["environment:\(FanOutBench.app.app)"]
        #expect(text?.contains("are taken by sandbox and not by production") == true, "\(text ?? "")")
    }
}
