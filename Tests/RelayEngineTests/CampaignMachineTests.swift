// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// When waves end and begin, and when a campaign is complete, by how far its services are.
@Suite struct CampaignMachineTests {
    private typealias Progress = CampaignMachine.Progress

    private let start = Timestamp(seconds: 1_000)
    private let working = Progress(areShardsDone: false, isDone: false)
    private let retrying = Progress(areShardsDone: true, isDone: false)
    private let done = Progress(areShardsDone: true, isDone: true)
    private let stuck = Progress(areShardsDone: false, isDone: false, isInTrouble: true)
    private let stopped = Progress(areShardsDone: false, isDone: false, isInTrouble: true, stopReason: "Forbidden: …")

    @Test func aCampaignIsCompleteWhenEveryServiceIs() {
        let machine = CampaignMachine()
        #expect(machine.next([], at: start) == .complete, "nobody to send to")
        #expect(machine.next([done], at: start) == .complete)
        for other in [working, retrying, stuck] {
            #expect(machine.next([done, other], at: start) == .wait(until: nil))
            #expect(machine.next([other, done], at: start) == .wait(until: nil))
        }
    }

    @Test func aServiceThatWasStoppedSuspendsTheCampaignWhenNothingElseIsLeft() {
        let machine = CampaignMachine()
        #expect(machine.next([working, stopped], at: start) == .wait(until: nil))
        #expect(machine.next([retrying, stopped], at: start) == .wait(until: nil))
        #expect(machine.next([done, stopped], at: start) == .suspend(reason: "Forbidden: …"))
    }

    @Test func aWaveWaitsForTheMainServiceAndForOthersThatAreWell() {
        let machine = CampaignMachine(hasMoreWaves: true)
        #expect(machine.next([working], at: start) == .wait(until: nil))
        #expect(machine.next([stuck, done], at: start) == .wait(until: nil), "the main one's trouble is the wave's")
        #expect(machine.next([done, working], at: start) == .wait(until: nil))
        #expect(machine.next([done, stuck], at: start) == .endWave, "another one's is not")
        #expect(machine.next([retrying, retrying], at: start) == .endWave, "who is to be tried again has an outcome")
    }

    @Test func theNextWaveBeginsWhenItsTimeHasCome() {
        var machine = CampaignMachine(hasMoreWaves: true)
        machine.waveEnded(next: start + .seconds(60))
        #expect(machine.next([done], at: start) == .wait(until: start + .seconds(60)))
        machine.waveEnded(next: start)
        #expect(machine.next([done], at: start) == .beginWave)
        machine.waveBegan(hasMore: false)
        #expect(machine.next([working], at: start) == .wait(until: nil))
        #expect(machine.next([done], at: start) == .complete)
        machine.waveEnded(next: start)
        #expect(machine.next([done], at: start) == .complete, "the last wave has no next")
    }

    @Test func afterAHaltNothingBegins() {
        var machine = CampaignMachine()
        machine.halt()
        #expect(machine.next([done], at: start) == .wait(until: nil))
    }

    // MARK: Sent again

    @Test func devicesArePutInLineBeforeAnythingElseAndTheCampaignIsNotCompleteBefore() {
        var machine = CampaignMachine(gathers: true)
        #expect(machine.next([], at: start) == .gather)
        machine.gathered(.more)
        #expect(machine.next([done], at: start) == .gather, "all that is in line is sent")
        machine.gathered(.done)
        #expect(machine.next([retrying], at: start) == .wait(until: nil))
        #expect(machine.next([done], at: start) == .complete)
    }

    @Test func noMoreArePutInLineThanThereIsRoomForUntilSomeHaveAnOutcome() {
        var machine = CampaignMachine(gathers: true)
        machine.gathered(.full)
        #expect(machine.next([done], at: start) == .wait(until: nil), "not complete: others are to come")
        #expect(machine.next([retrying, stopped], at: start) == .wait(until: nil))
        #expect(machine.next([done, stopped], at: start) == .suspend(reason: "Forbidden: …"))
        machine.retriesEnded()
        #expect(machine.next([retrying], at: start) == .gather)
        machine.gathered(.done)
        machine.retriesEnded()
        machine.gathered(.more)
        #expect(machine.next([done], at: start) == .complete, "done is done")
    }

    @Test func aCampaignThatIsNotOpenedAgainPutsNobodyInLine() {
        var machine = CampaignMachine()
        machine.retriesEnded()
        #expect(machine.next([done], at: start) == .complete)
    }
}
