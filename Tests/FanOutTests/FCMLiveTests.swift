// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing
import UpgradeRules

@testable import FanOut

/// Android's campaigns over real TLS and HTTP/2: FCM's answers, and their effect on pushes and tokens.
@Suite(.ownThread) struct FCMLiveTests {
    static let devices = 2_000

    func bench(_ devices: Int = Self.devices) throws -> FCMBench {
        let bench = try FCMBench()
        try bench.register(1...devices)
        return bench
    }

    // MARK: Without faults

    @Test func everyDeviceGetsItsOwnOnce() throws {
        let bench = try bench()
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        let seen = bench.seen
        #expect(seen.taken.count == Self.devices && bench.repeats == 0)
        #expect(seen.complaints == [])
        #expect(seen.telephones[FCMBench.token(7)] == LiveBench.telephone(7))
        #expect(seen.tokensAsked == 1)
        #expect(bench.peer.state.now.widest <= 100, "as many streams as SETTINGS allow")
    }

    /// The service announces no limit of streams: a hundred all the same.
    @Test func noConnectionHasMoreThanAHundredStreams() throws {
        let bench = try FCMBench(maximumStreams: nil)
        try bench.register(1...Self.devices)
        // An answer takes long compared with the time that a slow machine needs for a hundred: a second connection is worth it
        // there, too, and each hundred answers are another look at it.
        let taken = Step.answer(200, [:], FCMBench.Reply().body)
        bench.rule { _ in FCMBench.Reply(steps: [.after(.milliseconds(300), taken)], isTaken: true) }
        try bench.start()
        try bench.raise()
        try #require(
            bench.until { bench.peer.state.now.widest >= 100 && bench.peer.state.now.connections > 1 },
            "latency is hidden by more connections")
        bench.rule { _ in nil }
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.peer.state.now.widest == 100)
    }

    // MARK: Tokens

    @Test func onlyUnregisteredTokensAreGivenUp() throws {
        let bench = try bench()
        let began = ContinuousClock.now
        bench.rule { push in
            switch Int(push.target.dropFirst().prefix(21)).map({ $0 % 20 }) {
            case 1: .unregistered
            case 2: .badToken
            case 3: .refusal(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH")
            case 4: .refusal(400, "INVALID_ARGUMENT", fields: ["message.data[0].value"])
            case 5: .refusal(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR")
            case 6: .refusal(404, "NOT_FOUND")
            default: nil
            }
        }
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        let part = Int64(Self.devices / 20)
        #expect(end.figures.counts.accepted == 14 * part)
        #expect(
            end.figures.counts.unregistered == 3 * part, "UNREGISTERED, a bad token beside good ones, and NOT_FOUND")
        #expect(end.figures.counts.rejected == 3 * part)
        for number in [1, 2, 3, 4, 5, 6, 7] {
            let device = try #require(try bench.store.device(FCMBench.app, token: FCMBench.token(number)))
            #expect((device.retiredAt != nil) == (number == 1 || number == 2), "\(number)")
        }
        #expect(try bench.retired() == 2 * Int(part))
        #expect(bench.seen.tokensAsked == 1, "a 401 of APNs' key is not one of ours")
        try bench.tell(
            "one in twenty each: UNREGISTERED, bad token, mismatch, payload, APNs key, NOT_FOUND", since: began)
    }

    /// FCM does not date a token's death: a device that registers while its push is on its way stays.
    @Test func aDeviceThatRegistersMeanwhileStays() throws {
        let bench = try bench(100)
        let (store, clock) = (bench.store, bench.clock)
        bench.rule { push in
            guard push.target == FCMBench.token(5) else {
                return push.target == FCMBench.token(6) ? .unregistered : nil
            }
            clock.advance(by: .seconds(1))
            _ = try? store.register(
                [DeviceRegistration(app: FCMBench.app, token: push.target, telephone: "9", version: nil)], at: clock.now
            )
            return .unregistered
        }
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.unregistered == 2)
        #expect(try bench.store.device(FCMBench.app, token: FCMBench.token(5))?.retiredAt == nil)
        #expect(try bench.store.device(FCMBench.app, token: FCMBench.token(6))?.retiredAt != nil)
    }

    @Test(arguments: [
        (FCMBench.Reply.refusal(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), "SENDER_ID_MISMATCH"),
        (.badToken, "INVALID_ARGUMENT"),
        (.refusal(400, "INVALID_ARGUMENT", fields: ["message.data[0].value"]), "INVALID_ARGUMENT"),
        (.refusal(403, "PERMISSION_DENIED"), "PERMISSION_DENIED"),
        (.refusal(403, "PERMISSION_DENIED", info: "SERVICE_DISABLED"), "SERVICE_DISABLED"),
        (.refusal(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"), "THIRD_PARTY_AUTH_ERROR"),
        (.unregistered, "UNREGISTERED"),
        (FCMBench.Reply(status: 404, body: "<html>"), "HTTP 404"),
    ])
    func whatConcernsAllSuspendsAndNoTokenIsLost(reply: FCMBench.Reply, reason: String) throws {
        let bench = try bench()
        bench.rule { _ in reply }
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        #expect(stopped.facts.reason?.hasPrefix("\(reason): ") == true, "\(stopped.facts.reason ?? "")")
        #expect(stopped.facts.reason?.hasSuffix("upgrade-relay campaigns resume \(stopped.id)") == true)
        #expect(stopped.figures.counts.accepted == 0 && stopped.figures.counts.rejected == 0)
        #expect(bench.seen.requests < 400, "\(bench.seen.requests)")
        #expect(try bench.retired() == 0)
        bench.rule { _ in nil }
        let repaired = ContinuousClock.now
        bench.clock.advance(by: .seconds(3))
        try bench.resume()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.repeats == 0)
        #expect(try bench.retired() == 0)
        try bench.tell("\(reason) to all, then repaired", since: repaired)
    }

    // MARK: Trouble that passes

    @Test(
        arguments: [
            (503, "UNAVAILABLE", nil, Duration.seconds(10)), (500, "INTERNAL", nil, .seconds(10)),
            (503, "UNAVAILABLE", "30", .seconds(30)), (429, "QUOTA_EXCEEDED", nil, .seconds(60)),
            (429, "QUOTA_EXCEEDED", "20", .seconds(20)),
        ] as [(Int, String, String?, Duration)])
    func aPushThatFailsForNowGoesOutLater(status: Int, code: String, retryAfter: String?, wait: Duration) throws {
        let bench = try bench(300)
        let refused = FCMBench.token(7)
        bench.rule { push in
            push.target == refused ? .refusal(status, code, code: code, retryAfter: retryAfter) : nil
        }
        try bench.start()
        try bench.raise()
        try #require(
            try bench.until {
                try bench.campaign().map { $0.figures.counts.accepted == 299 && $0.figures.counts.retrying == 1 }
                    ?? false
            })
        let key = try #require(try bench.campaign()).key
        let deliveries = try bench.store.deliveries(of: key, DeliveryFilter(), after: 0, limit: 1_000)
        let delivery = try #require(deliveries.first { $0.token == refused })
        #expect(delivery.reason == code)
        let next = try #require(delivery.nextAttemptAt)
        let due = next - bench.clock.now
        #expect(due >= wait && due <= wait * 1.25 + .milliseconds(200), "\(due)")
        bench.rule { _ in nil }
        let began = ContinuousClock.now
        bench.clock.advance(by: due)
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 300)
        #expect(bench.repeats == 0)
        try bench.tell(
            "\(status) \(code)\(retryAfter.map { ", Retry-After \($0)" } ?? ""), one device", since: began, waited: due)
    }

    @Test func anOutageIsWaitedFor() throws {
        let bench = try bench()
        bench.rule { $0.number > 300 ? .refusal(503, "UNAVAILABLE", code: "UNAVAILABLE") : nil }
        try bench.start()
        try bench.raise()
        try #require(bench.lines.wait(for: "the push service answers 5xx: sending is held", deadline: .seconds(60)))
        #expect(bench.until { bench.fanOut?.faults()["outage:com.example.app/android"] != nil })
        bench.rule { _ in nil }
        let began = ContinuousClock.now
        let from = bench.clock.now
        let end = try bench.passTime(to: .completed, by: .seconds(5))
        #expect(end.figures.counts.accepted == Int64(Self.devices) && bench.repeats == 0)
        #expect(try bench.retired() == 0)
        try bench.tell("503 to all for a while", since: began, waited: bench.clock.now - from)
    }

    @Test func theQuotaThatIsReachedHoldsTheProject() throws {
        let bench = try bench()
        bench.rule { $0.number > 300 ? .refusal(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED") : nil }
        // Slow enough that answers come before all devices are sent to.
        try bench.start(bench.route(try bench.tokens(), quota: 6_000_000))
        try bench.raise()
        try #require(
            bench.lines.wait(
                for: "the project's quota is reached: nothing of the app is sent for a while", deadline: .seconds(60)))
        try #require(
            bench.until {
                bench.trouble?.hasPrefix("the quota of the project is reached (FCM/example-project)") ?? false
            })
        let requests = bench.seen.requests
        #expect(requests < 300 + 1_700, "not everybody was sent in vain: \(requests)")
        bench.rule { _ in nil }
        let began = ContinuousClock.now
        let from = bench.clock.now
        let end = try bench.passTime(to: .completed, by: .seconds(5))
        #expect(end.figures.counts.accepted == Int64(Self.devices) && bench.repeats == 0)
        #expect(try bench.retired() == 0)
        try bench.tell("429 to all for a while", since: began, waited: bench.clock.now - from)
    }

    @Test func aGOAWAYCostsNothing() throws {
        let bench = try bench()
        bench.rule { push in
            guard push.number % 400 == 0 else { return nil }
            let goAway = Step.goAway(lastStreamID: .max)
            return FCMBench.Reply(steps: [.answer(200, [:], "{}"), goAway], isTaken: true)
        }
        try bench.start()
        let began = ContinuousClock.now
        try bench.raise()
        let end = try bench.passTime(to: .completed, by: .seconds(2))
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.repeats == 0)
        #expect(try bench.retired() == 0)
        try bench.tell("GOAWAY every 400 requests", since: began)
        #expect(bench.peer.state.now.connections > 1)
    }

    // MARK: Google's limits

    @Test func theProjectsQuotaIsARamp() throws {
        let bench = try bench(500)
        try bench.start(bench.route(try bench.tokens(), quota: 60_000))
        try bench.raise()
        try #require(bench.service.state.wait { $0.requests >= 1 })
        // A thousand a second after a minute: in the first two seconds about sixty pass as a probe, which is more than the ramp
        // allows.
        let began = ContinuousClock.now
        #expect(!bench.service.state.wait(seconds: 1) { $0.requests > 100 })
        while bench.seen.requests < 500, ContinuousClock.now - began < .seconds(60) {
            bench.clock.advance(by: .seconds(1))
            bench.fanOut?.poke()
            _ = bench.service.state.wait(seconds: 0, milliseconds: 200) { $0.requests >= 500 }
        }
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 500 && bench.repeats == 0)
    }

    @Test func noCampaignBeginsAroundAQuarterOfAnHour() throws {
        let bench = try bench(100)
        let past = bench.clock.now.milliseconds % 900_000
        bench.clock.advance(by: .milliseconds(900_000 - past - 30_000))
        try bench.start(bench.route(try bench.tokens(), avoidsQuarterHours: true))
        try bench.raise()
        try #require(bench.until { bench.trouble?.contains("around a quarter of an hour") ?? false })
        bench.clock.advance(by: .seconds(89))
        bench.fanOut?.poke()
        #expect(!bench.service.state.wait(seconds: 0, milliseconds: 300) { $0.requests > 0 })
        bench.clock.advance(by: .seconds(1))
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 100)
    }

    // MARK: One push

    @Test func aTestPushAsksForItsToken() throws {
        let bench = try bench(1)
        func send(_ token: String) throws -> TestPushResult {
            let clock = bench.clock
            return TestPush(
                route: bench.route(try bench.tokens()), token: token, telephone: "138", channel: .production,
                message: nil, downloadURL: "https://example.com"
            ).send { clock.now }
        }
        #expect(try send(FCMBench.token(1)).state == .accepted)
        bench.rule { _ in .refusal(403, "PERMISSION_DENIED", info: "SERVICE_DISABLED") }
        let failed = try send(FCMBench.token(1))
        #expect(failed.state == .failed && failed.reason == "SERVICE_DISABLED" && failed.status == 403)
        #expect(failed.remedy?.contains("is not enabled in the project") == true)
        bench.rule { _ in .badToken }
        #expect(try send("x").remedy?.contains("no tokens of FCM") == true)
        bench.service.state.change { $0.grant = .answered(.refused("Google refuses; set the clock"), retryAfter: nil) }
        let refused = try send("x")
        #expect(refused.state == .failed && refused.reason?.contains("set the clock") == true)
        #expect(refused.remedy?.contains(#"Check apps["com.example.app"].android.fcm.serviceAccount"#) == true)
    }
}
