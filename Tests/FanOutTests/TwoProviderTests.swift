// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import Telemetry
import Testing
import UpgradeRules

@testable import FanOut

/// An iOS app whose phones are reached by APNs and by FCM: one campaign goes to all of them, and each service has its own trouble.
@Suite struct TwoProviderTests {
    private static let fcm = Channel(.fcm, on: .ios)

    private func bench(hasFCM: Bool = true, _ change: (inout AppRoute) -> Void = { _ in }) throws -> DispatcherBench {
        let tokens = FCMTokenSource(
            account: try FCMBench.account(), clock: { Timestamp(seconds: 1_800_000_000) },
            exchange: { _, _, _ in .answered(.granted(token: "t", lifetime: .seconds(400_000)), retryAfter: nil) },
            start: { $0() }, onChange: {})
        var settings = FCMProvider.Settings(
            project: "example-project", quotaPerMinute: 600_000_000, avoidsQuarterHours: false)
        settings.iPhones = .init(topic: FanOutBench.app.app, priority: 10)
        let provider = FCMProvider(settings: settings, tokens: tokens)
        return try DispatcherBench { route in
            if hasFCM {
                route.add(
                    .fcm,
                    ChannelRoute(provider, PoolConfiguration(.fcm, egress: .direct, origin: Origin(host: "fcm"))))
            }
            change(&route)
        }
    }

    private func registerByFCM(
        _ numbers: ClosedRange<Int>, _ environment: Channel.Environment = .production, in bench: DispatcherBench
    ) throws {
        let version = try Version("1.0")
        try bench.bench.store.register(
            numbers.map {
                DeviceRegistration(
                    app: FanOutBench.app, token: FCMBench.token($0), telephone: LiveBench.telephone($0),
                    version: version, environment: environment)
            }, at: bench.now)
    }

    /// The first look at FCM asks for an access token, which is there at the next; and its rate begins at nothing.
    private func raise(in bench: DispatcherBench) throws {
        try bench.raise()
        bench.turn([.poke])
        bench.pass(.seconds(2))
        bench.turn()
    }

    /// Answers everything that waits, also at FCM, whose rate rises within a minute.
    private func serve(_ bench: DispatcherBench) {
        for _ in 0..<100 {
            for host in ["production", "sandbox", "fcm"] { bench.serve(host) }
            bench.pass(.seconds(1))
            bench.turn()
        }
    }

    @Test func eachPhoneIsReachedByTheServiceOfItsToken() throws {
        let bench = try bench()
        try bench.register(1...300)
        try bench.register(301...400, environment: .sandbox)
        try registerByFCM(401...600, in: bench)
        try registerByFCM(601...650, .sandbox, in: bench)
        try raise(in: bench)
        let channels = bench.dispatcher.services.inOrder.map(\.key.channel)
        #expect(channels == [.production, .sandbox, Self.fcm, Self.fcm.other])
        var sent: [String: Int] = [:]
        for _ in 0..<100 {
            for host in ["production", "sandbox", "fcm"] {
                sent[host, default: 0] += bench.lane.waiting(at: host)
                bench.turn(bench.lane.answer(host, status: 200))
            }
        }
        #expect(sent == ["production": 300, "sandbox": 100, "fcm": 250])
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 650)
        let answers = end.figures.answersOfChannels
        #expect(answers.map(\.channel) == [.production, .sandbox, Self.fcm, Self.fcm.other])
        #expect(answers.map { $0.answers[.accepted] } == [300, 100, 200, 50])
    }

    /// Known by the body: FCM's own key for APNs, which no token is to blame for.
    @Test func aWrongKeyOfFCMStopsFCMAlone() throws {
        let bench = try bench()
        try bench.register(1...1_000)
        try registerByFCM(1_001...1_100, in: bench)
        try raise(in: bench)
        let body =
            #"{"error":{"status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/"#
            + #"google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"}]}}"#
        bench.turn(bench.lane.answer("fcm") { _, _ in .init(status: 401, body: body) })
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.figures.counts.accepted == 1_000 && end.figures.counts.rejected == 0, "\(end.figures.counts)")
        #expect(end.state == .suspended, "and the operator hears of it when nothing else is left")
        #expect(end.facts.reason?.hasPrefix("THIRD_PARTY_AUTH_ERROR: APNs refuses the key that FCM has") == true)
        try #require(try bench.bench.store.move(end.key, .resumed, at: end.facts.createdAt + .seconds(60)))
        bench.turn([.poke])
        serve(bench)
        #expect(try bench.bench.campaign().state == .completed)
        #expect(try bench.counts.accepted == 1_100)
    }

    @Test func anOutageOfOneIsNoneOfTheOthers() throws {
        let bench = try bench()
        try bench.register(1...500)
        try registerByFCM(501...1_000, in: bench)
        try raise(in: bench)
        bench.turn(bench.lane.answer("fcm", status: 503))
        bench.serve("production")
        #expect(try bench.counts.accepted == 500)
        #expect(bench.dispatcher.faultTexts.keys.sorted() == ["outage:\(FanOutBench.app.app)/fcm"])
        bench.pass(.seconds(13))
        bench.turn()
        bench.serve("fcm")
        bench.pass(.seconds(1_200))
        bench.turn()
        serve(bench)
        #expect(try bench.bench.campaign().state == .completed)
        #expect(try bench.counts.accepted == 1_000)
    }

    /// A token that APNs calls bad is tried in its other environment; FCM has no such thing.
    @Test func secondTriesAreOfAPNsAlone() throws {
        let bench = try bench { $0.triesOtherEnvironment = true }
        try registerByFCM(1...100, in: bench)
        try raise(in: bench)
        serve(bench)
        #expect(bench.dispatcher.services.inOrder.map(\.key.channel) == [Self.fcm])
        #expect(try bench.bench.campaign().state == .completed)
    }

    @Test func phonesOfAProviderThatIsNotConfiguredAreRefusedAndSaidSo() throws {
        let bench = try bench(hasFCM: false)
        try bench.register(1...200)
        try registerByFCM(201...250, in: bench)
        try raise(in: bench)
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed, "\(end)")
        #expect(end.figures.counts.accepted == 200 && end.figures.counts.rejected == 50)
        let refused = try bench.bench.store.deliveries(
            of: end.key, DeliveryFilter(state: .rejected), after: 0, limit: 100)
        #expect(Set(refused.map(\.reason)) == ["ProviderNotConfigured"] && refused.allSatisfy { $0.attempts == 0 })
    }
}
