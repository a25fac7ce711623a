// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry
import Testing
import Threading
import UpgradeRules

@testable import FanOut

/// The look that makes a campaign which a requirement does not have yet.
@Suite(.ownThread) struct LookTests {
    @Test("A campaign that is made late waits for what the app's store says, and begins when that lets it")
    func storesDecide() throws {
        let bench = try FanOutBench()
        defer { bench.store.close() }
        let (app, clock) = (FanOutBench.app, bench.clock)
        let isOpen = Mutex(false)
        @Sendable func surroundings(_ draft: CampaignDraft?, _ now: Timestamp) -> RequirementMachine.Surroundings {
            RequirementMachine.Surroundings(now: now, gate: "appStore", draft: draft, known: nil) { _ in
                isOpen.withLock(\.self) ? GateVerdict(.open, "shown") : GateVerdict(.closed, "in review")
            }
        }
        try bench.register(3)
        let bump = VersionBump(app: app, required: try Version("2.0"))
        try bench.store.decide(
            app, .asked(bump), by: Signature(by: "ann", via: "api", at: clock.now), in: surroundings(nil, clock.now))
        #expect(try bench.store.openCampaigns().isEmpty, "the app has no push service")
        let route = bench.route(PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "production")))
        var dispatcher = Dispatcher(
            store: bench.store, routes: [route], lanes: LaneSet([TestLane()], mailbox: try Mailbox()),
            configuration: FanOut.Configuration(), board: FanOut.Board.Shared(), pulse: Pulse("test"),
            log: Log(minimum: .error) { _, _, _ in }, clock: { Moment(wall: clock.now, tick: clock.tick) },
            surroundings: { surroundings($1, $2) }, onVersions: { _ in })
        _ = dispatcher.turn([.poke])
        let waiting = try #require(try bench.store.openCampaigns().first)
        #expect(waiting.state == .waiting)
        #expect(waiting.facts.reason == "in review")
        isOpen.withLock { $0 = true }
        _ = dispatcher.turn([.poke])
        let begun = try #require(try bench.store.campaign(waiting.key))
        #expect(begun.state == .running)
        #expect(begun.requirement.inForceBy == "appStore")
    }
}
