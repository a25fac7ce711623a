// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Testing

@testable import FanOut

/// A service that answers late, and one that does not, over real TLS: the number of connections that the relay opens for each.
@Suite(.serialized, .ownMachine) struct LatencyLiveTests {
    @Test func connectionsGrowByThemselvesUntilTheLatencyIsHidden() throws {
        let latency = Duration.milliseconds(200)
        let bench = try LiveBench(latency: latency, maximumStreams: 50)
        try bench.register(1...3000)
        try bench.start { $0.production.maximumConnections = 8 }
        let began = ContinuousClock.now
        try bench.raise()
        let end = try bench.wait(for: .completed, deadline: .seconds(60))
        let time = ContinuousClock.now - began
        #expect(end.figures.counts.accepted == 3000)
        #expect(bench.production.figures.connectionsOpened == 8, "all that it may have")
        #expect(bench.production.figures.duplicates == 0)
        let stretches = try bench.store.latency(of: end.key)
        var answers = LatencyHistogram()
        for stretch in stretches { answers.add(stretch.latency) }
        #expect(answers.count == 3000, "each answer is recorded with its outcome")
        #expect(try #require(answers.quantile(0.01)) > latency / 2, "\(stretches)")
        #expect(stretches.allSatisfy { $0.from >= end.begunAt - $0.length && $0.length <= .seconds(10) })
        // Little's law: one connection carries 50 requests in 200 ms.
        if Patience.isShort {
            #expect(time < latency * (3000 / 50) / 2, "twice as fast as one connection could be, at least")
        }
        #expect(bench.fanOut?.laneFigures.allSatisfy { $0.retirements[0] == 0 } == true)
    }

    @Test func aQuickServiceGetsNoMoreThanOneStep() throws {
        let bench = try LiveBench()
        try bench.register(1...20_000)
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed, deadline: .seconds(60))
        #expect(end.figures.counts.accepted == 20_000)
        // Sixteen are allowed. Four may open if the machine was so busy that even the quickest answer of a thousand took long.
        // If the answers took long on average, the service was not quick.
        let answers = try #require(bench.fanOut).laneFigures[0].latency
        let isQuick = answers.seconds / Double(answers.count) < 0.01
        let opened = bench.production.figures.connectionsOpened
        #expect([1, 4].contains(opened) || !isQuick, "\(opened)")
    }

    @Test func twoLanesFindTheirOwn() throws {
        let bench = try LiveBench(latency: .milliseconds(200), maximumStreams: 50)
        try bench.register(1...3000)
        try bench.start(lanes: 2) { $0.production.maximumConnections = 4 }
        try bench.raise()
        let end = try bench.wait(for: .completed, deadline: .seconds(60))
        #expect(end.figures.counts.accepted == 3000)
        let opened = try #require(bench.fanOut).laneFigures.map(\.connectionsOpened)
        #expect(opened == [4, 4], "half of the shards each")
    }
}
