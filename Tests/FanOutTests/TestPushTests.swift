// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Testing

@testable import FanOut
@testable import PushSimulator

/// One push that tries the keys, by the real provider and transport.
@Suite(.ownThread) struct TestPushTests {
    private func push(_ bench: FanOutBench, to simulator: PushSimulator, _ number: Int) -> TestPushResult {
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: simulator.port))
        pool.dialer.egress.trustedCertificates = simulator.trustedCertificatePath
        return TestPush(
            route: bench.route(pool), token: LiveBench.token(number), telephone: "13800138000",
            channel: .production,
            message: nil, downloadURL: "https://apps.apple.com/app/id1"
        ).send { bench.clock.now }
    }

    @Test func aPushIsAcceptedAndArrivesAsACampaignsWould() throws {
        let bench = try FanOutBench()
        let simulator = try LiveBench.simulator(bench, "production", FaultScript()) { _ in }
        defer { simulator.stop() }
        let result = push(bench, to: simulator, 1)
        #expect(result.state == .accepted && result.status == 200, "\(result)")
        #expect(result.reason == nil && result.remedy == nil)
        #expect(simulator.figures.accepted == 1)
        #expect(result.pushID.count == PushID.length)
    }

    @Test(arguments: [
        (
            "BadDeviceToken", TestPushResult.State.rejected, 400,
            "the environment that the devices were registered with"
        ),
        ("Forbidden", .failed, 403, "it must have the Apple Push Notifications service enabled"),
        ("InvalidProviderToken", .failed, 403, "must belong together"),
        ("DeviceTokenNotForTopic", .rejected, 400, "these tokens are of another app than the topic"),
        ("InternalServerError", .failed, 500, "try again later"),
    ])
    func aRefusalIsToldWithItsRemedy(
        reason: String, state: TestPushResult.State, status: Int, remedy: String
    ) throws {
        let bench = try FanOutBench()
        var script = FaultScript()
        switch reason {
        case "BadDeviceToken": script.badTokens = [LiveBench.token(2)]
        case "DeviceTokenNotForTopic": script.otherTopicTokens = [LiveBench.token(2)]
        default: script.refusals = .init(afterN: 0, reason: reason)
        }
        let simulator = try LiveBench.simulator(bench, "production", script) { _ in }
        defer { simulator.stop() }
        let result = push(bench, to: simulator, 2)
        #expect(result.state == state, "\(result)")
        #expect(result.status == status)
        #expect(result.reason == reason)
        #expect(result.remedy?.contains(remedy) == true, "\(result.remedy ?? "")")
        #expect(result.remedy?.contains("campaigns resume") == false)
        #expect(simulator.figures.requests == 1)
    }

    @Test func whereNobodyAnswersItSaysSo() throws {
        let bench = try FanOutBench()
        let simulator = try LiveBench.simulator(bench, "production", FaultScript()) { _ in }
        let port = simulator.port
        let certificates = simulator.trustedCertificatePath
        simulator.stop()
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: port))
        pool.dialer.egress.trustedCertificates = certificates
        let result = TestPush(
            route: bench.route(pool), token: LiveBench.token(1), telephone: "", channel: .production, message: nil,
            downloadURL: "https://apps.apple.com/app/id1"
        ).send { bench.clock.now }
        #expect(result.state == .failed && result.status == nil)
        #expect(result.remedy?.contains("was not reached") == true)
    }
}
