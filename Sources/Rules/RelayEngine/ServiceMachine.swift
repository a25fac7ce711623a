// SPDX-License-Identifier: Apache-2.0

/// Decides what goes to one push service, and when: one machine for each app and channel. Pure: events and time
/// in, actions out; it knows neither the store nor the network.
///
/// Everything that keeps pushes from the service is here and nowhere else, so that one service's trouble stays its own:
///
/// | what | keeps back |
/// |---|---|
/// | probe | all but a few pushes, until the service has answered some: a bad key costs dozens, not thousands |
/// | budget | more pushes than memory should hold, and a crash should send twice |
/// | allowance | more than services may send together: the app's pace (`SharedPacer`), the project's quota (`ProjectQuota`) |
/// | opening | a campaign's first minute, until it may begin at the service |
/// | credential pause | everything, until the moment that the service named |
/// | outage | everything but a few pushes now and then, while it answers 5xx to nearly everything |
/// | rest | everything, while no connection is available |
/// | stop | everything, until an operator has repaired the credential |
///
/// It serves one campaign at a time. A batch that is still on its way for an earlier one is reported with the number of that
/// campaign, and counts for the service, not for the new campaign.
package struct ServiceMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Look up the shards that are left, and report them with `opened`.
        case openShards
        /// Read up to `devices` devices of the shard, send to at most `pushes` of them, and report with `left`.
        case readShard(ShardRange, devices: Int, pushes: Int)
        /// Read up to `pushes` due retries and report with `left`, or with `noRetriesLeft`.
        case readRetries(pushes: Int)
        /// The pause that the service asked for is over: call `pauseEnded`, and ask again.
        case endPause
        /// Nothing to do before an event, or before this time has passed.
        case wait(Duration?)
    }

    /// How far the credential is trusted after the campaign's answers.
    package enum Trust: Sendable, Equatable {
        /// Not judged yet: a refused push may have to be tried again.
        case watching
        /// Some answers blame the credential, but not most.
        case doubting
        case trusted
        /// The breaker has tripped. `isNew`: by this batch.
        case tripped(CredentialBreaker.Trip, isNew: Bool)
    }

    /// The meaning of a batch's answers beyond its own pushes.
    package struct Judgement: Sendable, Equatable {
        package var trust: Trust
        package var outage: OutageHold.Change
        /// New connections in a row were refused as those of another key: it is the key.
        package var isKeyUnrelated: Bool
    }

    private struct Campaign: Sendable {
        var number: Int64
        var scheduler: BatchScheduler
        var breaker: CredentialBreaker
        var isHalted = false
        /// The fault that an operator must repair before anything can be sent; nil: none.
        var stopReason: String?
        /// Nothing is sent before then.
        var opensAt: Timestamp?
        /// How often in a row the service asked for a new connection and then took nothing on it either.
        var reconnects = 0
        /// Batches with a lower tag left before the last of these connections was made.
        var firstTagOnNewConnection = 0
        /// Pushes on their way.
        var pushesOut = 0
        /// Devices that had to be read for each push lately: decides how many to read where few pushes may leave.
        var devicesPerPush = 1.0
    }

    /// Good answers that end the probe; `probeSize` where that is less.
    package static let probeSample = 20
    /// New connections in a row that the service binds to another key, after which the key is at fault.
    private static let reconnectLimit = 3
    /// A service answers at once if a batch is back within this time: twice as many batches are then still no more than
    /// two tenths of a second of work that a crash may repeat.
    package static let moment = Duration.milliseconds(100)

    private let limits: BatchLimits
    private var campaign: Campaign?
    private var share: BatchBudget.Share
    /// Whether the last batch was back within a moment.
    private var isQuick = false
    private var outage: OutageHold
    /// Answers since the probe began.
    private var probed = 0
    /// Until when the service accepts nothing that uses this credential, and its reason.
    package private(set) var pause: (until: Timestamp, reason: String)?
    /// Nothing is sent before this moment, because no connection is available.
    private var restUntil: MonotonicTime?
    /// Why no connection is available.
    package private(set) var connectionFault: String?

    /// - Parameter outageProbes: the time until the first probe in an outage, and the longest.
    package init(limits: BatchLimits, outageProbes: ClosedRange<Duration> = OutageHold.intervals) {
        self.limits = limits
        share = BatchBudget.Share(
            batches: limits.batchesAtOnce, quickBatches: limits.batchesAtOnce, batchSize: limits.batchSize)
        outage = OutageHold(intervals: outageProbes)
    }

    // MARK: What to do

    /// - Parameters:
    ///   - isProbe: whether the project's quota, too, is judged by what leaves now.
    ///   - allowance: the pushes that limits shared with other services allow; called last, when nothing else is in the way.
    package mutating func next(
        at now: Moment, isProbe: Bool = false, allowance: () -> SendingAllowance = { .unlimited }
    ) -> Action {
        guard let campaign, !campaign.isHalted, campaign.stopReason == nil else { return .wait(nil) }
        if let opening = campaign.opensAt, now.wall < opening { return .wait(opening - now.wall) }
        if let pause {
            guard !ProviderTokenMachine.isPaused(until: pause.until, at: now.wall) else {
                return .wait(pause.until - now.wall)
            }
            return .endPause
        }
        let isProbe = isProbe || outage.isHeld || probed < probeSample
        let most = isQuick ? share.quickBatches : share.batches
        switch campaign.scheduler.next(at: now.wall, atMost: most, isProbe: isProbe) {
        case .openShards:
            return .openShards
        case .wait(let until):
            return .wait(until.map { max($0 - now.wall, .zero) })
        case .readShard(let shard):
            let room = room(of: campaign, at: now, allowance)
            guard room.pushes > 0 else { return .wait(room.wait) }
            return .readShard(shard, devices: devices(for: room.pushes, of: campaign), pushes: room.pushes)
        case .readRetries:
            let room = room(of: campaign, at: now, allowance)
            return room.pushes > 0 ? .readRetries(pushes: room.pushes) : .wait(room.wait)
        }
    }

    /// How many pushes may leave now. If none may: how long until that changes, nil where an answer has to come first.
    private func room(
        of campaign: Campaign, at now: Moment, _ allowance: () -> SendingAllowance
    ) -> SendingAllowance {
        var most = share.batchSize
        if let restUntil, now.tick < restUntil { return SendingAllowance(pushes: 0, wait: restUntil - now.tick) }
        // In an outage only the outage's own probe leaves.
        switch outage.leave(at: now.tick) {
        case .open:
            if probed < probeSample { most = min(most, limits.probeSize - campaign.pushesOut) }
        case .probe: most = min(most, OutageHold.probeSize)
        case .closed(let until):
            return SendingAllowance(pushes: 0, wait: until.map { max($0 - now.tick, .zero) })
        }
        guard most > 0 else { return SendingAllowance(pushes: 0) }
        var allowed = allowance()
        allowed.pushes = min(allowed.pushes, most)
        return allowed
    }

    private var probeSample: Int { min(Self.probeSample, limits.probeSize) }

    /// How many devices to read for so many pushes, since some are filtered.
    private func devices(for pushes: Int, of campaign: Campaign) -> Int {
        guard pushes < share.batchSize else { return share.batchSize }
        return min(share.batchSize, max(1, Int((Double(pushes) * campaign.devicesPerPush * 1.25).rounded(.up))))
    }

    /// How far the campaign is at this service; nil where the service has another campaign.
    package func progress(of number: Int64) -> CampaignLifecycle.Progress? {
        guard let campaign, campaign.number == number else { return nil }
        return CampaignLifecycle.Progress(
            areShardsDone: campaign.scheduler.areShardsDone, isDone: campaign.scheduler.isDone,
            isInTrouble: isInTrouble, isStopped: campaign.stopReason != nil)
    }

    package var isInTrouble: Bool {
        isInOutage || connectionFault != nil || pause != nil || campaign?.stopReason != nil
    }
    package var isInOutage: Bool { outage.isHeld }
    /// Whether a campaign is being sent.
    package var isBusy: Bool { campaign.map { !$0.isHalted } ?? false }
    /// Until when the campaign's first minute waits; nil where it does not.
    package func opening(at now: Moment) -> Timestamp? {
        campaign?.opensAt.flatMap { now.wall < $0 ? $0 : nil }
    }
    /// When the campaign's next retry is due, where nothing else of the campaign is left here.
    package func nextRetry(of number: Int64) -> Timestamp? {
        campaign.flatMap { $0.number == number ? $0.scheduler.nextRetry : nil }
    }
    /// The fault for which the campaign's pushes wait until an operator has repaired it.
    package var stopReason: String? { campaign?.stopReason }

    // MARK: Campaigns

    /// A campaign begins or goes on.
    ///
    /// - Parameters:
    ///   - nextRetry: when the ledger's next retry is due.
    ///   - delivered: pushes of the campaign that were accepted before.
    ///   - opensAt: nothing is sent before this; nil: at once.
    package mutating func begin(
        campaign number: Int64, nextRetry: Timestamp?, delivered: Int64, opensAt: Timestamp? = nil
    ) {
        campaign = Campaign(
            number: number, scheduler: BatchScheduler(nextRetry: nextRetry),
            breaker: CredentialBreaker(delivered: delivered))
        campaign?.opensAt = opensAt
        probed = 0
        restUntil = nil
    }

    /// The app's hours have begun again, and the campaign goes on. Nothing is sent before `time`; nil: at once.
    package mutating func reopens(campaign number: Int64, at time: Timestamp?) {
        if campaign?.number == number { campaign?.opensAt = time }
    }

    /// Nothing new is begun for the campaign.
    package mutating func halt(campaign number: Int64) {
        if campaign?.number == number { campaign?.isHalted = true }
    }

    /// Nothing is sent before an operator has repaired the fault.
    package mutating func stop(campaign number: Int64, for reason: String) {
        if campaign?.number == number { campaign?.stopReason = reason }
    }

    /// The next wave has begun.
    package mutating func waveBegan() {
        campaign?.scheduler.shardsWereAdded()
    }

    /// The campaign does not run any more.
    package mutating func forget(campaign number: Int64) {
        guard campaign?.number == number else { return }
        campaign = nil
    }

    /// Forgets an outage and a missing connection: nothing is sent, and the next campaign finds out for itself.
    ///
    /// - Returns: which of the two there was.
    package mutating func forgetTrouble() -> (outage: Bool, connection: Bool) {
        defer {
            outage.forget()
            connectionFault = nil
            restUntil = nil
        }
        return (outage.isHeld, connectionFault != nil)
    }

    /// A person does not want to wait: a few pushes find out at once how the service is.
    package mutating func probeAtOnce(at now: Moment) {
        (pause, restUntil, probed) = (nil, nil, 0)
        campaign?.opensAt = nil
        outage.probeAtOnce(at: now.tick)
    }

    package mutating func change(share: BatchBudget.Share) {
        self.share = share
    }

    // MARK: Batches

    package mutating func opened(_ shards: [ShardRange]) {
        campaign?.scheduler.opened(shards)
    }

    /// No due retry was there to read; `next` is when to look again.
    package mutating func noRetriesLeft(next: Timestamp?) {
        campaign?.scheduler.retryBatchEnded(next: next)
    }

    /// A batch of the campaign was read and leaves; in an outage it is the probe.
    package mutating func left(_ source: BatchScheduler.Source, tag: Int, devices: Int, pushes: Int) {
        guard campaign != nil else { return }
        campaign?.scheduler.left(source)
        campaign?.pushesOut += pushes
        noteRead(devices, pushes: pushes)
        if pushes > 0 { outage.left(tag: tag) }
    }

    private mutating func noteRead(_ devices: Int, pushes: Int) {
        guard devices > 0, let known = campaign?.devicesPerPush else { return }
        // If all were filtered, twice as many are read next.
        let share = pushes > 0 ? Double(devices) / Double(pushes) : max(Double(devices), known) * 2
        campaign?.devicesPerPush = pushes > 0 ? (known + share) / 2 : min(share, 10_000)
    }

    /// A batch is back.
    ///
    /// - Parameter time: since it was given to a lane.
    package mutating func returned(after time: Duration) {
        isQuick = time < Self.moment
    }

    /// A batch has its answers. Called once for each, before it is recorded.
    ///
    /// - Parameters:
    ///   - nextTag: the tag of the next batch to leave.
    ///   - random: a number from 0 up to, not including, 1.
    package mutating func answered(
        _ report: BatchReport, campaign number: Int64, nextTag: Int, at now: Moment, random: Double
    ) -> Judgement {
        let change = outage.answered(report.health, tag: report.tag, nextTag: nextTag, at: now.tick, random: random)
        // One answer may accept many pushes.
        probed = min(probed + max(report.health.good, report.answers.accepted), probeSample)
        // A service that has only just recovered does not get all pushes at once.
        if case .ended = change { probed = 0 }
        guard campaign?.number == number else {
            return Judgement(trust: .trusted, outage: change, isKeyUnrelated: false)
        }
        return Judgement(
            trust: weigh(report), outage: change, isKeyUnrelated: isKeyUnrelated(report, nextTag: nextTag))
    }

    private mutating func weigh(_ report: BatchReport) -> Trust {
        guard var breaker = campaign?.breaker else { return .trusted }
        let wasTripped = breaker.trip != nil
        _ = breaker.answered(report.answers, unregistered: report.unregistered)
        campaign?.breaker = breaker
        if let trip = breaker.trip { return .tripped(trip, isNew: !wasTripped) }
        return breaker.isWatching ? .watching : breaker.isInDoubt ? .doubting : .trusted
    }

    private mutating func isKeyUnrelated(_ report: BatchReport, nextTag: Int) -> Bool {
        guard report.answers.proven == 0 else {
            campaign?.reconnects = 0
            return false
        }
        // A batch that left before the last new connection was made proves nothing about that one.
        guard report.reconnects > 0, let known = campaign, report.tag >= known.firstTagOnNewConnection else {
            return false
        }
        campaign?.reconnects += 1
        campaign?.firstTagOnNewConnection = nextTag
        return known.reconnects + 1 >= Self.reconnectLimit
    }

    /// A batch is recorded, or came back unsent as a whole.
    package mutating func ended(_ end: End, campaign number: Int64, at now: Moment) {
        outage.ended(tag: end.tag, at: now.tick)
        // If no push reached the service, it rests until the next dial: else the whole audience would be read only to be retried.
        if end.pushes > 0 { restUntil = end.unreached == end.pushes ? now.tick + end.rest : nil }
        guard campaign?.number == number else { return }
        campaign?.pushesOut -= end.pushes
        switch end.source {
        case .shard(let shard):
            campaign?.scheduler.shardBatchEnded(shard, now: end.shard)
            if let retry = end.earliestRetry { campaign?.scheduler.retryScheduled(at: retry) }
        case .retries:
            campaign?.scheduler.retryBatchEnded(next: end.nextRetry)
        }
    }

    /// Another service handed pushes over: they are due at `time`.
    package mutating func handedOver(at time: Timestamp) {
        campaign?.scheduler.retryScheduled(at: time)
    }

    // MARK: The service

    /// A connection is up.
    ///
    /// - Returns: whether none was available before.
    package mutating func connected() -> Bool {
        restUntil = nil
        defer { connectionFault = nil }
        return connectionFault != nil
    }

    /// No connection is available.
    ///
    /// - Returns: whether that is new.
    package mutating func connectionFailed(_ error: String) -> Bool {
        // A few pushes find out when one is available again; the rest are not read in vain.
        probed = 0
        defer { connectionFault = error }
        return connectionFault == nil
    }

    /// The service accepts nothing that uses this credential before `time`.
    ///
    /// - Returns: whether that is new.
    package mutating func pauseCredential(until time: Timestamp, reason: String) -> Bool {
        guard pause.map({ $0.until < time }) ?? true else { return false }
        pause = (time, reason)
        return true
    }

    package mutating func pauseEnded() {
        pause = nil
    }
}
