// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import FanOut
@testable import PushSimulator

/// The fault table of Android (PROTOCOLS 2.3), against the simulator: something goes wrong in mid-campaign, and afterwards
/// nothing is lost, nothing was sent twice, and only tokens that FCM called unregistered were given up.
@Suite(.ownThread) struct FCMFaultTests {
    private static let devices = 2_000

    struct Line: Sendable, CustomTestStringConvertible {
        var name: String
        var script = FaultScript()
        /// The reason with which the campaign is suspended, if it is; the fault is then repaired.
        var suspends: String?
        /// The trouble that the campaign shows while it waits, if it does; the fault is then repaired.
        var waits: String?
        /// The number of pushes that are never taken.
        var refused = 0
        var testDescription: String { name }

        init(_ name: String, refused: Int = 0, _ change: (inout FaultScript) -> Void) {
            (self.name, self.refused) = (name, refused)
            change(&script)
        }

        /// FCM gives this answer to all pushes from the middle of the campaign on.
        init(
            _ reason: RejectionReason, count: Int = .max, retryAfter: Int? = nil, suspends: String? = nil,
            waits: String? = nil
        ) {
            name = reason.rawValue + (count == .max ? "" : " to \(count)")
            if let retryAfter { name += ", Retry-After \(retryAfter)" }
            script.refusals = .init(afterN: 700, count: count, reason: reason.rawValue, retryAfter: retryAfter)
            (self.suspends, self.waits) = (suspends, waits)
        }
    }

    private static func tokens(_ numbers: some Sequence<Int>) -> Set<String> { Set(numbers.map(FCMBench.token)) }

    static let lines: [Line] = [
        Line("nothing") { _ in },
        Line("UNREGISTERED, one in twenty", refused: 100) {
            $0.deadTokens = tokens(stride(from: 20, through: devices, by: 20))
        },
        Line("INVALID_ARGUMENT for one token in forty", refused: 50) {
            $0.badTokens = tokens(stride(from: 40, through: devices, by: 40))
        },
        Line("SENDER_ID_MISMATCH, one in forty", refused: 50) {
            $0.otherTopicTokens = tokens(stride(from: 40, through: devices, by: 40))
        },
        Line(.fcmBadRequest, suspends: "INVALID_ARGUMENT"),
        Line(.fcmPermissionDenied, suspends: "IAM_PERMISSION_DENIED"),
        Line(.fcmScopeInsufficient, suspends: "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        Line(.fcmUnauthenticated, suspends: "UNAUTHENTICATED"),
        Line(.fcmQuotaExceeded, retryAfter: 5, waits: "the quota of the project is reached"),
        Line(.fcmUnavailable, waits: "the push service answers 503 UNAVAILABLE"),
        Line(.fcmUnavailable, retryAfter: 20, waits: "the push service answers 503 UNAVAILABLE"),
        Line(.fcmInternal, waits: "the push service answers 500 INTERNAL"),
        Line(.fcmBadGateway, waits: "the push service answers 502"),
        Line("access tokens revoked in mid-campaign") { $0.accessRevokedAfter = 700 },
        Line("token endpoint 503, twice") { $0.tokenEndpoint = .init(count: 2, status: 503) },
        refusedKey,
        Line("quota of 500 in 2 s") { $0.quota = .init(requests: 500, seconds: 2, retryAfter: 2) },
        Line("GOAWAY every 300 requests") { $0.goAwayAfter = 300 },
        Line("GOAWAY, too many streams") {
            $0.goAwayAfter = 300
            $0.goAwayReason = "exceeded_max_concurrent_streams"
        },
        Line("cut connections") {
            $0.cutAfter = 300
            $0.cutTimes = 3
        },
        Line("SETTINGS shrinks to 10 streams") { $0.shrinkSettings = .init(afterN: 200, to: 10) },
        Line("one in 37 REFUSED_STREAM") { $0.refuseEvery = 37 },
    ]

    private static var refusedKey: Line {
        var line = Line("token endpoint refuses") {
            $0.tokenEndpoint = .init(status: 400, error: "invalid_grant", description: "Invalid JWT Signature.")
        }
        line.suspends = UnusableCredential.refusalWord
        return line
    }

    @Test(arguments: lines) func nothingIsLost(line: Line) throws {
        let bench = try FCMBench(line.script, latency: .milliseconds(5))
        try bench.register(1...Self.devices)
        // Slowly enough that the middle of the campaign is not its end.
        try bench.start(bench.route(try bench.tokens(), quota: 6_000_000))
        let (began, from) = (ContinuousClock.now, bench.clock.now)
        try bench.raise()
        let simulator = try #require(bench.simulator)
        var repaired = (at: began, clock: from)
        if let reason = line.suspends {
            let stopped = try bench.wait(for: .suspended)
            #expect(stopped.facts.reason?.hasPrefix("\(reason): ") == true, "\(stopped.facts.reason ?? "")")
            #expect(stopped.figures.counts.rejected == 0)
            try simulator.play(FaultScript())
            repaired = (.now, bench.clock.now)
            // Pushes that were in doubt before the breaker tripped wait for their second attempt.
            bench.clock.advance(by: .seconds(2))
            try bench.resume()
        }
        if let text = line.waits {
            try #require(bench.until { bench.trouble?.hasPrefix(text) ?? false }, "\(bench.trouble ?? "")")
            try simulator.play(FaultScript())
            repaired = (.now, bench.clock.now)
        }
        let end = try bench.passTime(to: .completed, by: .seconds(1))
        #expect(end.figures.counts.accepted == Int64(Self.devices - line.refused))
        #expect(simulator.figures.distinctTokens == Self.devices - line.refused)
        // A cut connection's answers are lost: those pushes are sent again, with the same id.
        if line.name != "cut connections" { #expect(bench.repeats == 0) }
        let named =
            try bench.store.devices(of: FCMBench.app, after: 0, limit: 10_000).filter { $0.retiredAt != nil }.count
        let dead = line.name.hasPrefix("UNREGISTERED") || line.name.hasPrefix("INVALID_ARGUMENT for")
        #expect(named == (dead ? line.refused : 0))
        #expect(simulator.figures.peakStreams <= 100)
        try bench.tell(line.name, since: repaired.at, waited: bench.clock.now - repaired.clock)
    }

    /// Two of a hundred devices are over their own rate. That does not concern the project's quota and holds no other device
    /// up: neither while the first tries go out nor while those few are tried again, which is all that is sent then.
    @Test func devicesOverTheirOwnRateHoldNobodyElse() throws {
        let devices = 10_000
        var script = FaultScript()
        script.busyShare = 0.02
        let bench = try FCMBench(script)
        try bench.register(1...devices)
        try bench.start()
        let (began, from) = (ContinuousClock.now, bench.clock.now)
        try bench.raise()
        try #require(
            try bench.until {
                try bench.campaign().map { $0.figures.counts.accepted + $0.figures.counts.retrying == Int64(devices) }
                    ?? false
            })
        // On a busy machine requests run out of time, and their devices are tried again as well: their number does not matter here.
        let campaign = try #require(try bench.campaign())
        let again = try bench.store.deliveries(
            of: campaign.key, DeliveryFilter(state: .retrying), after: 0, limit: devices)
        let busy = again.count { $0.reason == "QUOTA_EXCEEDED" }
        #expect(
            (100..<400).contains(busy), "\(busy) of \(Dictionary(grouping: again, by: \.reason).mapValues(\.count))")
        #expect(bench.clock.now == from, "no time had to pass for those who may be pushed to")
        let end = try bench.passTime(to: .completed, by: .seconds(5))
        #expect(end.figures.counts.accepted == Int64(devices) && bench.repeats == 0)
        #expect(bench.lines.count(of: "the project's quota is reached: nothing of the app is sent for a while") == 0)
        // Each of them is refused twice: a minute, then two (PROTOCOLS 2.3), a quarter more at most, and the turn of each.
        let waited = bench.clock.now - from
        #expect(waited <= .seconds(300), "\(waited)")
        try bench.tell("QUOTA_EXCEEDED to one device in fifty, twice", since: began, waited: waited)
    }

    /// A process that dies in mid-campaign, as the store sees it: its shards and cursors stay as they were last recorded.
    @Test func afterARestartNothingIsLost() throws {
        let bench = try FCMBench(FaultScript(), latency: .milliseconds(20))
        try bench.register(1...Self.devices)
        try bench.start(bench.route(try bench.tokens(), quota: 6_000_000))
        try bench.raise()
        let simulator = try #require(bench.simulator)
        try #require(simulator.wait(forRequests: 500, deadline: .seconds(60)))
        bench.fanOut?.stop(within: .zero)
        let began = ContinuousClock.now
        try bench.start(bench.route(try bench.tokens()))
        bench.clock.advance(by: .seconds(2))
        let end = try bench.passTime(to: .completed, by: .seconds(1))
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(simulator.figures.distinctIDs == Self.devices, "what was sent again had the same id")
        #expect(try bench.retired() == 0)
        try bench.tell("stopped in mid-campaign, started anew", since: began)
    }
}
