// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct CanaryTests {
    private static let end = Timestamp(seconds: 1_800_000_000)

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
