// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import FanOut

/// A reload disturbs what it changes, and nothing else.
@Suite(.serialized, .ownThread) struct ReloadLiveTests {
    /// A campaign of some seconds, at a pace that a ramp slows down at first.
    private func bench(_ change: (inout AppRoute) -> Void = { _ in }) throws -> (bench: LiveBench, route: AppRoute) {
        let bench = try LiveBench(latency: .milliseconds(400), maximumStreams: 100)
        try bench.register(1...3_000)
        var route: AppRoute?
        try bench.start {
            $0.production.maximumConnections = 2
            change(&$0)
            route = $0
        }
        return (bench, try #require(route))
    }

    @Test func aReloadThatChangesNothingDisturbsNothing() throws {
        let (bench, route) = try bench()
        try bench.raise()
        try #require(bench.production.wait(forRequests: 300, deadline: .seconds(60)))
        let campaign = try bench.campaign().key
        for _ in 0..<20 {
            bench.fanOut?.reroute([route])
            #expect(bench.lines.count(of: "sending") == 1)
        }
        let end = try bench.wait(for: .completed)
        #expect(end.key == campaign && end.figures.counts.accepted == 3_000)
        #expect(bench.lines.count(of: "sending") == 1, "the campaign began once")
        let figures = bench.production.figures
        #expect(figures.connectionsOpened <= 2, "\(figures.connectionsOpened) connections")
        #expect(figures.requests == 3_000 && figures.duplicates == 0)
    }

    /// The text for the app's users changes, and the way to reach them does not: the campaign begins anew on its connections.
    @Test func aReloadThatChangesTheTextKeepsTheConnections() throws {
        let (bench, route) = try bench()
        try bench.raise()
        try #require(bench.production.wait(forRequests: 300, deadline: .seconds(60)))
        var other = route
        other.words.body = "Another text"
        bench.fanOut?.reroute([other])
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 3_000)
        #expect(bench.lines.count(of: "sending") == 2)
        let figures = bench.production.figures
        #expect(figures.connectionsOpened <= 2, "\(figures.connectionsOpened) connections")
        #expect(figures.requests == 3_000 && figures.duplicates == 0)
    }

    /// Another app's reload, or its end, does not concern this app.
    @Test func anotherAppsReloadDisturbsNothing() throws {
        let (bench, route) = try bench()
        var other = route
        other.app = AppKey(app: "com.example.other", platform: .ios)
        try bench.raise()
        try #require(bench.production.wait(forRequests: 300, deadline: .seconds(60)))
        bench.fanOut?.reroute([route, other])
        try #require(bench.production.wait(forRequests: 900, deadline: .seconds(60)))
        bench.fanOut?.reroute([route])
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 3_000)
        #expect(bench.lines.count(of: "sending") == 1)
        #expect(bench.production.figures.connectionsOpened <= 2)
    }
}
