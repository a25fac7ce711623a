// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct CanaryTests {
    private static let end = Timestamp(seconds: 1_800_000_000)
    private let done = CampaignCanary(.alone, endedAt: end)

    @Test func itIsReleasedByRulesAloneAndOnlyWhereAPushArrived() {
        let rules = WaveRules(pause: .seconds(600))
        #expect(done.releaseAt(rules, accepted: 1) == Self.end + .seconds(600))
        #expect(done.releaseAt(rules, accepted: 0) == nil)
        #expect(done.releaseAt(nil, accepted: 1) == nil)
        #expect(done.releaseAt(WaveRules(pause: .zero), accepted: 1) == nil, "waves without anything between them")
        #expect(CampaignCanary(.alone).releaseAt(rules, accepted: 1) == nil)
        #expect(CampaignCanary(.released, endedAt: Self.end).releaseAt(rules, accepted: 1) == nil)
    }

    @Test func whatWouldHoldAWaveHoldsTheRest() {
        let rules = WaveRules(pause: .zero, needsApproval: true, failedShare: 0.25)
        #expect(
            done.verdict(rules, accepted: 2, failed: 1)
                == .hold(
                    reason: "WaveFailed: 1 of 3 pushes of the canary failed, more than 25 percent; release sends to "
                        + "everybody"))
        #expect(
            done.verdict(rules, accepted: 3, failed: 1)
                == .hold(
                    reason: "WaveDone: the canary is done and the rest waits for approval; release sends to everybody"))
        #expect(done.verdict(WaveRules(pause: .seconds(9)), accepted: 1, failed: 9) == .begin)
    }

    @Test func aCanaryIsNeverComplete() {
        var machine = CampaignMachine(isCanary: true)
        typealias Progress = CampaignMachine.Progress
        let retrying = Progress(areShardsDone: true, isDone: false)
        let done = Progress(areShardsDone: true, isDone: true)
        #expect(machine.next([retrying], at: Self.end) == .wait(until: nil))
        #expect(
            machine.next([Progress(areShardsDone: true, isDone: false, stopReason: "bad")], at: Self.end)
                == .suspend(reason: "bad"))
        #expect(machine.next([done], at: Self.end) == .endWave)
        #expect(machine.next([], at: Self.end) == .endWave, "nobody is in it")
        machine.waveEnded(next: nil)
        #expect(machine.next([done], at: Self.end) == .wait(until: nil))
        machine.waveEnded(next: Self.end)
        #expect(machine.next([done], at: Self.end - .seconds(1)) == .wait(until: Self.end))
        #expect(machine.next([done], at: Self.end) == .beginWave)
    }
}
