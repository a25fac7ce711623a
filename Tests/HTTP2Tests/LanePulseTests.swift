// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import HTTP2
import OwnThread
import RelayEngine
import Telemetry
import TestPeers
import Testing

/// A judge that does not return until `goOn` is signalled.
private final class StuckJudge: AnswerJudge {
    let asked = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)

    func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        asked.signal()
        goOn.wait()
        return (.keep, AnswerReading())
    }
}

@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LanePulseTests {
    @Test func aStuckLaneIsFoundAndOneThatGoesOnIsWellAgain() throws {
        let judge = StuckJudge()
        let bench = try Workbench(judge: judge) { _ in [.answer(500)] }
        defer { bench.finish() }
        var watchdog = Watchdog(patience: .seconds(30), step: .seconds(20))
        var now = MonotonicTime(nanoseconds: 0)
        /// Forty seconds of the machine's time, none of ours.
        func look() -> [String] {
            now = now + .seconds(20)
            _ = watchdog.look([.init(.init(bench.lane.pulse))], at: now)
            now = now + .seconds(40)
            return watchdog.look([.init(.init(bench.lane.pulse))], at: now)
        }
        bench.send(1)
        #expect(judge.asked.wait(timeout: .now() + 60) == .success)
        #expect(look() == ["test lane"])
        judge.goOn.signal()
        _ = try bench.collector.batches()
        // The batch comes back within the turn, and nothing reports the turn's end, for which the lane's thread needs the
        // processor.
        let deadline = ContinuousClock.now + .seconds(60)
        while !bench.lane.pulse.reading.isAtRest, ContinuousClock.now < deadline { sched_yield() }
        #expect(look().isEmpty)
    }
}
