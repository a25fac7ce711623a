// SPDX-License-Identifier: Apache-2.0

/// Decides what becomes of one running campaign: when it begins, which of its waves is next, when it must stop, and when it
/// is complete. Pure: the store's view, the progress of each of its push services and the time go in. `ServiceMachine`
/// decides what a service does in between.
///
/// | state | means | left by |
/// |---|---|---|
/// | idle | the store has it running, nothing of it is sent | a look at the store: it begins, or it has expired |
/// | sending | batches leave | `halt`: it ended, expired, was refused, has other terms, or a reload or the daemon's end interrupts it |
/// | stopping | nothing new leaves, batches come back | the last batch and the suspension are recorded: it is forgotten |
///
/// A forgotten campaign that the store still has running is idle again. One service's trouble does not hold up another
/// service: a wave waits for the campaign's main service even if that is in trouble, for the others only if they are not. The
/// campaign as a whole is complete when every service is done.
package struct CampaignLifecycle: Sendable {
    /// The terms that a campaign was begun with. If the store's terms differ, it is begun anew.
    package struct Terms: Sendable, Hashable {
        /// It goes to named users alone until it is released to all others.
        package var isCanary: Bool
        /// The named users; nil: all users.
        package var telephones: [String]?
        /// How often it was opened again.
        package var rounds: Int
        package var message: String?
        package var downloadURL: String

        package init(isCanary: Bool, telephones: [String]?, rounds: Int, message: String?, downloadURL: String) {
            self.isCanary = isCanary
            self.telephones = telephones
            self.rounds = rounds
            self.message = message
            self.downloadURL = downloadURL
        }
    }

    /// The store's view of a running campaign.
    package struct Seen: Sendable {
        package var terms: Terms
        /// When its time to live runs out; nil: no end is set at present.
        package var expiresAt: Timestamp?
        /// Between two waves: when the next may begin.
        package var nextWaveAt: Timestamp?

        package init(_ terms: Terms, expiresAt: Timestamp?, nextWaveAt: Timestamp? = nil) {
            self.terms = terms
            self.expiresAt = expiresAt
            self.nextWaveAt = nextWaveAt
        }
    }

    package enum Action: Sendable, Equatable {
        /// Plan the campaign unless it is planned, begin at each of its services, and report with `begun`.
        case begin
        /// Count the devices that are left as expired.
        case expire
        /// Call back the pushes that have not left.
        case halt
        /// Nothing of it is on its way any more: drop it.
        case forget
        /// Every device of the current wave (or the canary) has an outcome and more devices follow: record that and report
        /// with `waveEnded`.
        case endWave
        /// The next wave's time has come: begin it and report with `waveBegan`, or suspend the campaign.
        case beginWave
        /// Every shard is done, no retry is scheduled and nothing is on its way: complete the campaign.
        case complete
        /// Put more of the reopened campaign's devices in line, and report with `gathered`.
        case gather
        /// Nothing to do before an event, or before `until`.
        case wait(until: Timestamp?)
    }

    /// How far one service is with the campaign.
    package struct Progress: Sendable, Equatable {
        /// Every device of its shards has an outcome.
        package var areShardsDone: Bool
        /// Nothing is left, and no retry is scheduled.
        package var isDone: Bool
        /// It cannot be reached, is in an outage or was stopped.
        package var isInTrouble: Bool
        /// Nothing can be sent there before an operator has repaired the fault.
        package var isStopped: Bool

        package init(areShardsDone: Bool, isDone: Bool, isInTrouble: Bool = false, isStopped: Bool = false) {
            self.areShardsDone = areShardsDone
            self.isDone = isDone
            self.isInTrouble = isInTrouble
            self.isStopped = isStopped
        }
    }

    /// Why the campaign must be suspended.
    package struct Suspension: Sendable, Equatable {
        package var cause: SuspensionCause
        /// Shown in its status.
        package var reason: String

        package init(_ cause: SuspensionCause, _ reason: String) {
            self.cause = cause
            self.reason = reason
        }
    }

    private enum State: Sendable, Equatable {
        case idle
        case sending
        case stopping
    }

    private enum Wave: Sendable, Equatable {
        /// The last one, or the only one.
        case last
        /// More waves follow.
        case more
        /// Named users alone, before the audience: it is over only when no retry is left either.
        case canary
        /// The current one is over; the next may begin at this moment; nil: when an operator starts it.
        case ended(next: Timestamp?)
    }

    /// How many of a reopened campaign's devices are in line.
    package enum Gathering: Sendable, Equatable {
        /// There may be more.
        case more
        /// As many are in line as may be at a time.
        case full
        /// All are in line.
        case done
    }

    private var state = State.idle
    private let terms: Terms
    private var expiresAt: Timestamp?
    private var wave = Wave.last
    private var gathering = Gathering.done
    private var batchesOut = 0
    /// Why a service other than the main one was stopped: the campaign is suspended for this when nothing else is left.
    private var stopped: Suspension?
    /// The suspension that must be written into the store; kept until it is written.
    package private(set) var suspension: Suspension?

    package init(_ seen: Seen) {
        terms = seen.terms
        expiresAt = seen.expiresAt
    }

    /// Whether batches may leave.
    package var isSending: Bool { state == .sending }

    /// Whether nothing new is begun, nothing is on its way, and no suspension is left to record.
    package var isStopped: Bool { state == .stopping && batchesOut == 0 && suspension == nil }

    // MARK: Begin and halt

    /// The store was looked at.
    ///
    /// - Parameter seen: nil where the campaign does not run.
    package mutating func looked(_ seen: Seen?, at now: Timestamp) -> Action {
        switch state {
        case .idle:
            guard let seen else { return .forget }
            return seen.expiresAt.map { $0 <= now } ?? false ? .expire : .begin
        case .sending:
            guard let seen, seen.terms == terms else { return halt() }
            // Changed by a stage that began, or by a person who does not want to wait for the next.
            expiresAt = seen.expiresAt
            if case .ended = wave, let next = seen.nextWaveAt { wave = .ended(next: next) }
            return .wait(until: nil)
        case .stopping:
            return isStopped ? .forget : .wait(until: nil)
        }
    }

    /// - Parameters:
    ///   - hasMoreWaves: whether the current wave is not the last. Default no.
    ///   - gathers: whether the campaign was opened again, and not all devices for that are in line. Default no.
    package mutating func begun(hasMoreWaves: Bool = false, gathers: Bool = false) {
        state = .sending
        wave = terms.isCanary ? .canary : hasMoreWaves ? .more : .last
        gathering = gathers ? .more : .done
    }

    /// Nothing new is begun: the campaign may not go on as it was.
    package mutating func halt() -> Action {
        guard state != .stopping else { return .wait(until: nil) }
        state = .stopping
        return .halt
    }

    /// A service cannot be sent to before an operator has repaired something. Without its main service the campaign is
    /// suspended; without any other it goes on, and is suspended when nothing else is left to send. A refusal after the halt
    /// suspends nothing: its credential may have been repaired since.
    ///
    /// - Returns: whether anything must be stopped.
    package mutating func refused(isMain: Bool, _ suspension: Suspension) -> Bool {
        guard isSending else { return false }
        if isMain { suspend(suspension) } else { stopped = suspension }
        return true
    }

    /// The campaign cannot go on before a person or a reload removes the cause.
    package mutating func suspend(_ suspension: Suspension) {
        state = .stopping
        self.suspension = suspension
    }

    /// The suspension is in the store.
    package mutating func suspended() {
        suspension = nil
    }

    // MARK: What to do

    /// - Parameters:
    ///   - services: the main one first.
    ///   - isAsleep: whether it is outside the app's hours: no wave begins, everything else goes on. Default no.
    package mutating func next(_ services: [Progress], isAsleep: Bool = false, at now: Timestamp) -> Action {
        guard isSending else { return .wait(until: nil) }
        if let expiresAt, expiresAt <= now { return halt() }
        let action = sending(services, isAsleep: isAsleep, at: now)
        guard case .wait(let until) = action, let expiresAt else { return action }
        return .wait(until: until.map { min($0, expiresAt) } ?? expiresAt)
    }

    private mutating func sending(_ services: [Progress], isAsleep: Bool, at now: Timestamp) -> Action {
        if gathering == .more { return .gather }
        switch wave {
        case _ where gathering == .full:
            return suspendIfStopped(services)
        case .last:
            return services.allSatisfy(\.isDone) ? .complete : suspendIfStopped(services)
        case .more:
            for (place, service) in services.enumerated() where !service.areShardsDone {
                if place == 0 || !service.isInTrouble { return .wait(until: nil) }
            }
            return .endWave
        case .canary:
            return services.allSatisfy(\.isDone) ? .endWave : suspendIfStopped(services)
        case .ended where isAsleep:
            return .wait(until: nil)
        case .ended(let next):
            return next.map { $0 <= now } ?? false ? .beginWave : .wait(until: next)
        }
    }

    /// Suspends the campaign if only stopped services have anything left.
    private mutating func suspendIfStopped(_ services: [Progress]) -> Action {
        let left = services.filter { !$0.isDone }
        guard let stopped, !left.isEmpty, left.allSatisfy(\.isStopped) else { return .wait(until: nil) }
        suspend(stopped)
        return .halt
    }

    // MARK: What was done

    package mutating func batchLeft() { batchesOut += 1 }

    package mutating func batchRecorded(ofRetries: Bool) {
        batchesOut -= 1
        // Some devices that were in line have an outcome: there is room for more.
        if ofRetries, gathering == .full { gathering = .more }
    }

    /// More of the reopened campaign's devices are in line.
    package mutating func gathered(_ gathering: Gathering) {
        guard self.gathering != .done else { return }
        self.gathering = gathering
    }

    /// The current wave is over and recorded; `next` is when the next may begin, nil when an operator starts it.
    package mutating func waveEnded(next: Timestamp?) {
        guard wave != .last else { return }
        wave = .ended(next: next)
    }

    /// The next wave has begun. The time to live counts anew.
    package mutating func waveBegan(hasMore: Bool, expiresAt: Timestamp) {
        wave = hasMore ? .more : .last
        self.expiresAt = expiresAt
    }
}
