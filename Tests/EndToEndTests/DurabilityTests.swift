// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

@testable import Demo

/// Signals, crashes and bad credentials: the records match what happened.
@Suite(.serialized, .ownThread) struct DurabilityTests {
    @Test func sigtermFinishesWhatIsInFlightAndTheNextStartGoesOn() throws {
        let bench = try Workbench { $0.latency = .milliseconds(500) }
        try bench.start()
        try bench.register(Fleet(count: 8_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["inFlight"] ?? 0 > 500 }
        let relay = try #require(bench.relay)
        let start = ContinuousClock.now
        relay.send(SIGTERM)
        let exit = relay.wait()
        #expect(exit.status == 0)
        #expect(!exit.wasKilled)
        #expect(ContinuousClock.now - start < .seconds(30))
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 8_000)
        #expect(bench.simulator.figures.duplicates == 0, "an orderly stop sends nothing twice")
    }

    /// The conductor has nothing to do while it waits for slow answers: it must sleep, not poll.
    @Test func aDaemonThatWaitsForItsLastAnswersUsesNoProcessor() throws {
        let bench = try Workbench { $0.latency = .seconds(7) }
        let stand = try ServiceStand(in: bench.folder)
        try stand.start(configuration: bench.path("config.json5"))
        #expect(stand.message("READY") != nil)
        try bench.register(Fleet(count: 100))
        let bump = Array(#"{"required":"2.0.0"}"#.utf8)
        _ = try bench.campaign(of: bench.api("PUT", "/v1/apps/\(Workbench.app)/ios/version", body: bump))
        // The requests must be on a connection: those that still wait for one would come back at once.
        try #require(bench.simulator.wait(forRequests: 1, deadline: .seconds(60)))
        stand.send(SIGTERM)
        try #require(stand.log?.line(containing: " stopping", within: .seconds(60)) != nil)
        let begin = ContinuousClock.now
        let before = try Self.processorTime(of: stand.identifier)
        #expect(stand.wait() == 0)
        let (used, waited) = (stand.processorTime - before, ContinuousClock.now - begin)
        #expect(waited > .seconds(1), "the answers took seven seconds")
        // A daemon that polls uses all of it.
        #expect(used < waited / 4, "\(used) of processor time in \(waited) of waiting")
        print("waiting \(waited) for the last answers took \(used) of processor time")
    }

    /// The processor time of all of the process's threads (clock_getcpuclockid(3)).
    private static func processorTime(of process: pid_t) throws -> Duration {
        var (clock, time) = (clockid_t(), timespec())
        try #require(clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &time) == 0)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// A campaign begins with a dial on a thread of its own, which no other thread waits for.
    @Test func anEndInTheMiddleOfADialIsInOrder() throws {
        let bench = try Workbench { $0.latency = .seconds(1) }
        try bench.start()
        try bench.register(Fleet(count: 2_000))
        _ = try bench.campaign(of: bench.bump("2.0.0"))
        bench.kill()
        for _ in 1...8 {
            let result = try CommandResult.of(["serve", "--config", bench.path("config.json5"), "--stop-at-eof"])
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test func aSecondSigtermEndsAtOnce() throws {
        let bench = try Workbench { $0.latency = .seconds(60) }
        // It exits before it has joined threads that already ended, which Thread Sanitizer would report as leaks.
        let options = ProcessInfo.processInfo.environment["TSAN_OPTIONS"]
        try bench.launch(environment: options.map { ["TSAN_OPTIONS": "\($0) report_thread_leaks=0"] } ?? [:])
        let relay = try #require(bench.relay)
        try relay.waitUntilReady()
        try bench.register(Fleet(count: 100))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["inFlight"] ?? 0 > 0 }
        relay.send(SIGTERM)
        #expect(relay.waitForLine(" stopping", within: .seconds(60)) != nil)
        let start = ContinuousClock.now
        relay.send(SIGTERM)
        #expect(relay.wait().status == 128 + SIGTERM)
        #expect(ContinuousClock.now - start < .seconds(20), "the answers take a minute")
    }
}
