// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

/// One push service, without a store, a network or a wait: the batches that may leave after each event.
@Suite struct ServiceMachineTests {
    private typealias Action = ServiceMachine.Action

    /// A machine on a clock of its own, with the batches that it asked for.
    private final class Bench {
        var machine: ServiceMachine
        var now = Moment(wall: Timestamp(seconds: 1_700_000_000), tick: MonotonicTime(nanoseconds: 1_000_000_000))
        var nextTag = 0
        let shards: Int

        init(
            shards: Int = 8, nextRetry: Timestamp? = nil, delivered: Int64 = 0,
            begins: Bool = true
        ) {
            var limits = BatchLimits()
            limits.batchSize = 500
            limits.batchesAtOnce = 4
            machine = ServiceMachine(limits: limits)
            self.shards = shards
            guard begins else { return }
            machine.begin(campaign: 1, nextRetry: nextRetry, delivered: delivered)
            machine.opened((0..<shards).map { ShardRange(number: $0, cursor: 0, last: 1_000_000) })
        }

        func pass(_ time: Duration) { now = now + time }

        /// Reads what the machine asks for; one in `perPush` of the devices gets a push.
        ///
        /// - Returns: nil where the machine waits.
        func read(perPush: Int? = 1) -> ServiceMachine.End? {
            switch machine.next(at: now) {
            case .readShard(let shard, let devices, let most):
                let pushes = perPush.map { min(devices / $0, most) } ?? 0
                machine.left(.shard(shard.number), tag: nextTag, devices: devices, pushes: pushes)
                var end = ServiceMachine.End(source: .shard(shard.number), tag: nextTag, pushes: pushes)
                end.shard = shard.advanced(to: shard.cursor + Int64(devices), devices: devices, isDone: false)
                nextTag += 1
                return end
            case .readRetries(let most):
                machine.left(.retries, tag: nextTag, devices: most, pushes: most)
                nextTag += 1
                return ServiceMachine.End(source: .retries, tag: nextTag - 1, pushes: most)
            case .openShards:
                machine.opened([])
                return read(perPush: perPush)
            case .endPause:
                machine.pauseEnded()
                return read(perPush: perPush)
            case .wait:
                return nil
            }
        }

        func action(at moment: Moment? = nil) -> Action { machine.next(at: moment ?? now) }

        func pauseCredential(until end: Timestamp) -> Bool { machine.pauseCredential(until: end, reason: "TooMany") }

        struct Waits: Error {}

        /// The batch that may leave now.
        func next(perPush: Int? = 1) throws -> ServiceMachine.End {
            guard let end = read(perPush: perPush) else { throw Waits() }
            return end
        }

        /// All batches that may leave now.
        func readAll(perPush: Int? = 1) -> [ServiceMachine.End] {
            var all: [ServiceMachine.End] = []
            while all.count < 100, let end = read(perPush: perPush) { all.append(end) }
            return all
        }

        enum Reply { case taken, refused, failed }

        @discardableResult
        func answer(_ end: ServiceMachine.End, _ reply: Reply, campaign: Int64 = 1) -> ServiceMachine.Judgement {
            var report = BatchReport(tag: end.tag)
            switch reply {
            case .taken: (report.answers.accepted, report.health.good) = (end.pushes, end.pushes)
            case .refused: (report.answers.refused, report.health.good) = (end.pushes, end.pushes)
            case .failed: report.health.failed = end.pushes
            }
            let judgement = machine.answered(report, campaign: campaign, nextTag: nextTag, at: now, random: 0)
            machine.ended(end, campaign: campaign, at: now)
            return judgement
        }

        /// Gets past the probe.
        func prove() {
            let first = read()
            if let first { answer(first, .taken) }
        }
    }

    private func pushes(_ ends: [ServiceMachine.End]) -> Int { ends.reduce(0) { $0 + $1.pushes } }

    // MARK: The probe

    @Test func fewPushesLeaveBeforeTheServiceHasAnswered() throws {
        let bench = Bench()
        let first = bench.readAll()
        #expect(pushes(first) == 64)
        #expect(bench.action() == .wait(nil))
        bench.answer(first[0], .taken)
        #expect(pushes(bench.readAll()) == 4 * 500)
    }

    /// If, say, the oldest users have no telephone, nothing was sent, and nothing is known of the credential yet.
    @Test func batchesWithoutAPushProveNothing() throws {
        let bench = Bench()
        var read = 0
        for _ in 0..<200 {
            let end = try bench.next(perPush: nil)
            read += Int(end.shard?.cursor ?? 0)
            bench.answer(end, .taken)
        }
        #expect(read > 50_000, "they are passed over quickly all the same")
        let first = bench.readAll()
        #expect(pushes(first) == 64, "the first pushes are few")
        #expect(
            first.map { bench.answer($0, .refused).trust }.contains {
                if case .tripped(_, isNew: true) = $0 { true } else { false }
            })
    }

    /// All devices but a few are filtered: a handful of answers is no judgement, and no more go out until there are enough.
    @Test func aHandfulOfAnswersIsNoJudgement() throws {
        let bench = Bench()
        var sent = 0
        for _ in 0..<100 {
            let ends = bench.readAll(perPush: 40)
            sent += pushes(ends)
            let judged = ends.map { bench.answer($0, .refused).trust }
            if judged.contains(where: { $0 != .watching }) { break }
        }
        #expect(sent >= ServiceMachine.probeSample && sent <= ServiceMachine.probeSample + 64, "\(sent)")
    }

    @Test func aProbeThatMetNobodyIsFollowedByAnotherAfterARest() throws {
        let bench = Bench()
        var first = try bench.next()
        (first.unreached, first.rest) = (first.pushes, .seconds(4))
        bench.machine.ended(first, campaign: 1, at: bench.now)
        #expect(bench.action() == .wait(.seconds(4)))
        bench.pass(.seconds(4))
        #expect(pushes(bench.readAll()) == 64)
        _ = bench.machine.connected()
    }

    // MARK: Outages

    @Test func aServiceInAnOutageGetsAProbeNowAndThen() throws {
        let bench = Bench()
        let first = try bench.next()
        #expect(bench.answer(first, .failed).outage == .began(until: bench.now.tick + .seconds(10)))
        #expect(bench.machine.isInOutage && bench.machine.isInTrouble)
        #expect(bench.action() == .wait(.seconds(10)))
        bench.pass(.seconds(10))
        let probe = try bench.next()
        #expect(probe.pushes == OutageHold.probeSize)
        #expect(bench.action() == .wait(nil), "one at a time")
        #expect(bench.answer(probe, .failed).outage == .goesOn(until: bench.now.tick + .seconds(20)))
        bench.pass(.seconds(20))
        let last = try bench.next()
        #expect(bench.answer(last, .taken).outage == .ended(heldFor: .seconds(30)))
        #expect(pushes(bench.readAll()) == 64, "not all at once to a service that has only just got up")
    }

    /// An operator or NTP sets the clock: how long an outage lasts does not depend on it.
    @Test func aWallClockThatIsSetChangesNothingInAnOutage() throws {
        let bench = Bench()
        let first = try bench.next()
        bench.answer(first, .failed)
        for jump in [Duration.seconds(-86_400), .seconds(86_400)] {
            let moved = Moment(wall: bench.now.wall + jump, tick: bench.now.tick)
            #expect(bench.action(at: moved) == .wait(.seconds(10)))
        }
    }

    @Test func whatAnOlderCampaignMeetsCountsForTheService() throws {
        let bench = Bench()
        bench.prove()
        let old = bench.readAll()
        bench.machine.halt(campaign: 1)
        #expect(bench.action() == .wait(nil))
        bench.machine.begin(campaign: 2, nextRetry: nil, delivered: 0)
        bench.machine.opened([ShardRange(number: 0, cursor: 0, last: 1_000_000)])
        #expect(bench.machine.progress(of: 1) == nil)
        let judgement = bench.answer(old[0], .failed)
        guard case .began = judgement.outage else {
            Issue.record("\(judgement)")
            return
        }
        #expect(bench.action() == .wait(.seconds(10)))
        bench.pass(.seconds(10))
        #expect(try bench.next().pushes == OutageHold.probeSize)
    }

    @Test func anOutageIsForgottenWhereNobodySends() throws {
        let bench = Bench()
        bench.answer(try bench.next(), .failed)
        _ = bench.machine.connectionFailed("refused")
        let had = bench.machine.forgetTrouble()
        #expect(had.outage && had.connection)
        #expect(!bench.machine.isInTrouble)
    }

    // MARK: Pause, budget, stop

    @Test func nothingLeavesInAPauseAndAllGoesOnAfterIt() throws {
        let bench = Bench()
        bench.prove()
        let end = bench.now.wall + .seconds(300)
        #expect(bench.pauseCredential(until: end))
        #expect(!bench.pauseCredential(until: end), "no news")
        #expect(bench.action() == .wait(.seconds(300)))
        bench.pass(.seconds(300))
        #expect(bench.action() == .endPause)
        bench.machine.pauseEnded()
        #expect(bench.read() != nil)
    }

    @Test func theBudgetBoundsBatchesAndTheirSize() {
        let bench = Bench()
        bench.prove()
        bench.machine.change(share: BatchBudget.Share(batches: 2, quickBatches: 3, batchSize: 100))
        #expect(bench.readAll().map(\.pushes) == [100, 100])
    }

    @Test func aServiceThatAnswersAtOnceHasMoreBatchesOut() {
        let bench = Bench()
        bench.prove()
        bench.machine.change(share: BatchBudget.Share(batches: 2, quickBatches: 3, batchSize: 100))
        bench.machine.returned(after: .milliseconds(99))
        let quick = bench.readAll()
        #expect(quick.count == 3)
        bench.machine.returned(after: ServiceMachine.moment)
        bench.answer(quick[0], .taken)
        #expect(bench.readAll().isEmpty, "two of the three are still out")
        bench.answer(quick[1], .taken)
        #expect(bench.readAll().count == 1)
    }

    @Test func whatWasStoppedSendsNothingUntilTheCampaignBeginsAnew() throws {
        let bench = Bench()
        bench.prove()
        bench.machine.stop(campaign: 1, for: "Forbidden: …")
        #expect(bench.action() == .wait(nil))
        #expect(bench.machine.progress(of: 1)?.isStopped == true)
        bench.machine.begin(campaign: 1, nextRetry: nil, delivered: 64)
        #expect(bench.machine.stopReason == nil)
    }

    @Test func aKeyThatNoNewConnectionTakesIsNoticedAtTheThird() throws {
        let bench = Bench()
        var answers: [Bool] = []
        for _ in 0..<3 {
            var end = try bench.next()
            end.shard = nil
            var report = BatchReport(tag: end.tag)
            (report.reconnects, report.health.good) = (1, 1)
            let judged = bench.machine.answered(report, campaign: 1, nextTag: bench.nextTag, at: bench.now, random: 0)
            answers.append(judged.isKeyUnrelated)
            bench.machine.ended(end, campaign: 1, at: bench.now)
        }
        #expect(answers == [false, false, true])
    }

    // MARK: The pushes of a probe

    /// Pushes that failed before come back together, perhaps for reasons of their own: a probe of those alone found out
    /// nothing, and the next one was the same pushes again.
    @Test func aProbeTakesFirstTriesBeforeRetries() throws {
        let bench = Bench(nextRetry: Timestamp(seconds: 1))
        #expect(try bench.next().source != .retries, "the campaign's own")
        let other = Bench(nextRetry: Timestamp(seconds: 1))
        other.prove()
        guard case .readRetries = other.machine.next(at: other.now) else {
            Issue.record("else retries go first")
            return
        }
        guard case .readShard = other.machine.next(at: other.now, isProbe: true) else {
            Issue.record("a quota's")
            return
        }
        let held = Bench()
        held.answer(try held.next(), .failed)
        held.machine.handedOver(at: held.now.wall)
        held.pass(.seconds(10))
        #expect(try held.next().source != .retries, "an outage's")
    }

    @Test func whereNothingElseIsLeftAProbeIsOfRetries() throws {
        let bench = Bench(shards: 0, nextRetry: Timestamp(seconds: 1))
        #expect(try bench.next().source == .retries)
    }

    @Test func aPersonEndsWhatTheServiceWaitsFor() throws {
        let bench = Bench()
        bench.answer(try bench.next(), .failed)
        #expect(bench.action() == .wait(.seconds(10)))
        bench.machine.probeAtOnce(at: bench.now)
        let probe = try bench.next()
        #expect(probe.pushes == OutageHold.probeSize && bench.machine.isInOutage)
        bench.answer(probe, .taken)
        #expect(!bench.machine.isInOutage)
        #expect(bench.pauseCredential(until: bench.now.wall + .seconds(1_200)))
        #expect(bench.read() == nil)
        bench.machine.probeAtOnce(at: bench.now)
        #expect(pushes(bench.readAll()) == 64, "with few")
    }

    // MARK: How far it is

    @Test func progressTellsShardsFromRetries() throws {
        let bench = Bench(shards: 1)
        var end = try bench.next()
        end.shard = ShardRange(number: 0, cursor: 999, last: 999)
        end.earliestRetry = bench.now.wall + .seconds(60)
        bench.answer(end, .taken)
        #expect(bench.action() == .wait(.seconds(60)))
        let progress = try #require(bench.machine.progress(of: 1))
        #expect(progress.areShardsDone && !progress.isDone)
        bench.pass(.seconds(60))
        var retries = try bench.next()
        retries.nextRetry = nil
        bench.answer(retries, .taken)
        #expect(bench.machine.progress(of: 1)?.isDone == true)
        bench.machine.handedOver(at: bench.now.wall)
        #expect(bench.machine.progress(of: 1)?.isDone == false, "another service handed devices over")
    }

    // MARK: Shared limits

    @Test func aProjectsQuotaHoldsBesideEverythingElse() {
        let bench = Bench()
        let none = SendingAllowance(pushes: 0, wait: .milliseconds(20))
        #expect(bench.machine.next(at: bench.now, allowance: { none }) == .wait(.milliseconds(20)))
        guard case .readShard(_, _, let pushes) = bench.machine.next(at: bench.now, allowance: { .init(pushes: 7) })
        else {
            Issue.record("nothing is read")
            return
        }
        #expect(pushes == 7)
        guard case .readShard(_, _, let most) = bench.machine.next(at: bench.now) else { return }
        #expect(most > 7, "without a quota the probe's size holds")
    }

    @Test func aCampaignsFirstMinuteWaitsForItsOpening() {
        let bench = Bench(begins: false)
        let opening = bench.now.wall + .seconds(90)
        bench.machine.begin(
            campaign: 1, nextRetry: nil, delivered: 0, opensAt: opening)
        #expect(bench.machine.next(at: bench.now) == .wait(.seconds(90)))
        #expect(bench.machine.opening(at: bench.now) == opening)
        bench.pass(.seconds(90))
        #expect(bench.machine.opening(at: bench.now) == nil)
        #expect(bench.machine.next(at: bench.now) != .wait(.zero))
        // It goes on after a pause: its first minute is past.
        bench.machine.begin(campaign: 1, nextRetry: nil, delivered: 5)
        #expect(bench.machine.opening(at: bench.now) == nil)
    }
}
