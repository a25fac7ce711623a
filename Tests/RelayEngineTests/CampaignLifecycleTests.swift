// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// The progress of the services decides when waves end and begin, and when a campaign is complete.
@Suite struct CampaignLifecycleTests {
    private typealias Progress = CampaignLifecycle.Progress

    private let start = Timestamp(seconds: 1_000)
    private var end: Timestamp { start + .seconds(3_600) }
    private let forbidden = CampaignLifecycle.Suspension(.credential, "Forbidden: …")
    private let terms = CampaignLifecycle.Terms(
        isCanary: false, telephones: nil, rounds: 0, message: nil, downloadURL: "https://example.com")
    private var seen: CampaignLifecycle.Seen { CampaignLifecycle.Seen(terms, expiresAt: end) }

    private func begun(hasMoreWaves: Bool = false, gathers: Bool = false) -> Subject {
        let machine = Subject(seen)
        machine.begun(hasMoreWaves: hasMoreWaves, gathers: gathers)
        return machine
    }

    /// The lifecycle for expectations, which call no mutating members.
    @dynamicMemberLookup
    private final class Subject {
        private var machine: CampaignLifecycle

        init(_ seen: CampaignLifecycle.Seen) { machine = CampaignLifecycle(seen) }

        subscript<Value>(dynamicMember path: KeyPath<CampaignLifecycle, Value>) -> Value { machine[keyPath: path] }

        func begun(hasMoreWaves: Bool = false, gathers: Bool = false) {
            machine.begun(hasMoreWaves: hasMoreWaves, gathers: gathers)
        }
        func looked(_ seen: CampaignLifecycle.Seen?, at now: Timestamp) -> CampaignLifecycle.Action {
            machine.looked(seen, at: now)
        }
        func next(_ services: [Progress], at now: Timestamp) -> CampaignLifecycle.Action {
            machine.next(services, at: now)
        }
        func halt() -> CampaignLifecycle.Action { machine.halt() }
        func refused(isMain: Bool, _ suspension: CampaignLifecycle.Suspension) -> Bool {
            machine.refused(isMain: isMain, suspension)
        }
        func suspended() { machine.suspended() }
        func batchLeft() { machine.batchLeft() }
        func batchRecorded(ofRetries: Bool) { machine.batchRecorded(ofRetries: ofRetries) }
        func gathered(_ gathering: CampaignLifecycle.Gathering) { machine.gathered(gathering) }
        func waveEnded(next: Timestamp?) { machine.waveEnded(next: next) }
        func waveBegan(hasMore: Bool, expiresAt: Timestamp) {
            machine.waveBegan(hasMore: hasMore, expiresAt: expiresAt)
        }
    }

    private let working = Progress(areShardsDone: false, isDone: false)
    private let retrying = Progress(areShardsDone: true, isDone: false)
    private let done = Progress(areShardsDone: true, isDone: true)
    private let stuck = Progress(areShardsDone: false, isDone: false, isInTrouble: true)
    private let stopped = Progress(areShardsDone: false, isDone: false, isInTrouble: true, isStopped: true)

    @Test func aCampaignIsCompleteWhenEveryServiceIs() {
        let machine = begun()
        #expect(machine.next([], at: start) == .complete, "nobody to send to")
        #expect(machine.next([done], at: start) == .complete)
        for other in [working, retrying, stuck] {
            #expect(machine.next([done, other], at: start) == .wait(until: end))
            #expect(machine.next([other, done], at: start) == .wait(until: end))
        }
    }

    // MARK: Begin and halt

    @Test func whatRunsBeginsUnlessItsTimeIsOver() {
        let machine = Subject(seen)
        #expect(machine.next([done], at: start) == .wait(until: nil), "idle: nothing before it has begun")
        #expect(machine.looked(seen, at: start) == .begin)
        #expect(machine.looked(seen, at: end) == .expire)
        #expect(machine.looked(nil, at: start) == .forget)
        machine.begun()
        #expect(machine.isSending)
        #expect(machine.looked(seen, at: start) == .wait(until: nil), "nothing new")
    }

    @Test func whatDoesNotRunAnyMoreOrRunsOnOtherTermsHalts() {
        var changes = [CampaignLifecycle.Seen?.none]
        let alter: [(inout CampaignLifecycle.Terms) -> Void] = [
            { $0.isCanary = true }, { $0.telephones = ["+491"] }, { $0.rounds = 1 }, { $0.message = "Please" },
            { $0.downloadURL = "https://example.org" },
        ]
        for change in alter {
            var other = terms
            change(&other)
            changes.append(CampaignLifecycle.Seen(other, expiresAt: end))
        }
        for change in changes {
            let machine = begun()
            machine.batchLeft()
            #expect(machine.looked(change, at: start) == .halt)
            #expect(!machine.isSending && !machine.isStopped, "a batch is on its way")
            #expect(machine.looked(seen, at: start) == .wait(until: nil), "it does not go on as it was")
            machine.batchRecorded(ofRetries: false)
            #expect(machine.isStopped)
            #expect(machine.looked(seen, at: start) == .forget, "and begins anew")
        }
    }

    @Test func itHaltsWhenItsTimeIsOverAndHasMoreWhereTheStoreSaysSo() {
        var machine = begun()
        #expect(machine.next([working], at: end) == .halt)
        machine = begun()
        #expect(
            machine.looked(CampaignLifecycle.Seen(terms, expiresAt: end + .seconds(1)), at: start) == .wait(until: nil))
        #expect(machine.next([working], at: end) == .wait(until: end + .seconds(1)))
    }

    @Test func afterAHaltNothingBegins() {
        let machine = begun()
        #expect(machine.halt() == .halt)
        #expect(machine.halt() == .wait(until: nil), "once")
        #expect(machine.next([done], at: start) == .wait(until: nil))
        #expect(machine.isStopped)
    }

    // MARK: Suspensions

    @Test func withoutItsMainServiceItIsSuspendedAndNotForgottenBeforeTheStoreKnows() {
        let machine = begun()
        #expect(machine.refused(isMain: true, forbidden))
        #expect(!machine.isSending && !machine.isStopped)
        #expect(machine.suspension == forbidden)
        #expect(machine.looked(seen, at: start) == .wait(until: nil))
        machine.suspended()
        #expect(machine.isStopped)
    }

    @Test func withoutAnotherServiceItIsSuspendedWhenNothingElseIsLeft() {
        let machine = begun()
        #expect(machine.refused(isMain: false, forbidden))
        #expect(machine.next([working, stopped], at: start) == .wait(until: end))
        #expect(machine.next([retrying, stopped], at: start) == .wait(until: end))
        #expect(machine.suspension == nil)
        #expect(machine.next([done, stopped], at: start) == .halt)
        #expect(machine.suspension == forbidden)
    }

    @Test func whatIsSaidOfACampaignThatHaltedSuspendsNothing() {
        let machine = begun()
        _ = machine.halt()
        #expect(!machine.refused(isMain: true, forbidden))
        #expect(machine.suspension == nil)
    }

    // MARK: Waves

    @Test func aWaveWaitsForTheMainServiceAndForOthersThatAreWell() {
        let machine = begun(hasMoreWaves: true)
        #expect(machine.next([working], at: start) == .wait(until: end))
        #expect(machine.next([stuck, done], at: start) == .wait(until: end), "the main one's trouble is the wave's")
        #expect(machine.next([done, working], at: start) == .wait(until: end))
        #expect(machine.next([done, stuck], at: start) == .endWave, "another one's is not")
        #expect(machine.next([retrying, retrying], at: start) == .endWave, "who is to be tried again has an outcome")
    }

    @Test func anOperatorMayNotWantToWaitForTheNextWave() {
        let machine = begun(hasMoreWaves: true)
        machine.waveEnded(next: start + .seconds(60))
        #expect(
            machine.looked(CampaignLifecycle.Seen(terms, expiresAt: end, nextWaveAt: start), at: start)
                == .wait(until: nil))
        #expect(machine.next([done], at: start) == .beginWave)
    }

    @Test func theNextWaveBeginsWhenItsTimeHasCome() {
        let machine = begun(hasMoreWaves: true)
        machine.waveEnded(next: start + .seconds(60))
        #expect(machine.next([done], at: start) == .wait(until: start + .seconds(60)))
        machine.waveEnded(next: start)
        #expect(machine.next([done], at: start) == .beginWave)
        machine.waveBegan(hasMore: false, expiresAt: end)
        #expect(machine.next([working], at: start) == .wait(until: end))
        #expect(machine.next([done], at: start) == .complete)
        machine.waveEnded(next: start)
        #expect(machine.next([done], at: start) == .complete, "the last wave has no next")
    }

    @Test func aCanaryIsNeverComplete() {
        var named = terms
        (named.isCanary, named.telephones) = (true, ["+491"])
        let machine = Subject(CampaignLifecycle.Seen(named, expiresAt: nil))
        machine.begun()
        #expect(machine.next([retrying], at: start) == .wait(until: nil))
        #expect(machine.next([done], at: start) == .endWave)
        #expect(machine.next([], at: start) == .endWave, "nobody is in it")
        machine.waveEnded(next: nil)
        #expect(machine.next([done], at: start) == .wait(until: nil))
        #expect(machine.refused(isMain: false, forbidden))
        machine.waveBegan(hasMore: true, expiresAt: end)
        #expect(machine.next([done, stopped], at: start) == .endWave, "the main one's part is over")
    }

    // MARK: Sent again

    @Test func devicesArePutInLineBeforeAnythingElseAndTheCampaignIsNotCompleteBefore() {
        let machine = begun(gathers: true)
        #expect(machine.next([], at: start) == .gather)
        machine.gathered(.more)
        #expect(machine.next([done], at: start) == .gather, "all that is in line is sent")
        machine.gathered(.done)
        #expect(machine.next([retrying], at: start) == .wait(until: end))
        #expect(machine.next([done], at: start) == .complete)
    }

    @Test func noMoreArePutInLineThanThereIsRoomForUntilSomeHaveAnOutcome() {
        let machine = begun(gathers: true)
        machine.gathered(.full)
        #expect(machine.next([done], at: start) == .wait(until: end), "not complete: others are to come")
        #expect(machine.next([retrying, stopped], at: start) == .wait(until: end))
        machine.batchLeft()
        machine.batchRecorded(ofRetries: true)
        #expect(machine.next([retrying], at: start) == .gather)
        machine.gathered(.done)
        machine.batchLeft()
        machine.batchRecorded(ofRetries: true)
        machine.gathered(.more)
        #expect(machine.next([done], at: start) == .complete, "done is done")
    }

    @Test func aCampaignThatIsNotOpenedAgainPutsNobodyInLine() {
        let machine = begun()
        machine.batchLeft()
        machine.batchRecorded(ofRetries: true)
        #expect(machine.next([done], at: start) == .complete)
    }
}
