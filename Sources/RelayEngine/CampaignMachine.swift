// SPDX-License-Identifier: Apache-2.0

/// Decides when a campaign's wave is over, when the next one begins and when the campaign is complete. Pure: it is told how
/// far each of its push services is; what those do in between is `ServiceMachine`'s.
///
/// A service in trouble is nobody else's trouble: only the campaign's main service holds up the waves whatever happens to
/// it. The campaign as a whole is complete when every service is done.
package struct CampaignMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Every device of the current wave (or the canary) has an outcome and there are more to come: note it and report with
        /// `waveEnded`.
        case endWave
        /// The next wave's time has come: begin it and report with `waveBegan`, or suspend the campaign and halt.
        case beginWave
        /// Every shard is done, no retry is scheduled and nothing is on its way: complete the campaign.
        case complete
        /// All that is left is for services that were stopped: suspend the campaign for this reason.
        case suspend(reason: String)
        /// Put more of the devices in line that are sent again, and report with `gathered`.
        case gather
        /// Nothing to do before an event, or before `until` where a wave is scheduled.
        case wait(until: Timestamp?)
    }

    /// How far one service is.
    package struct Progress: Sendable, Equatable {
        /// Every device of its shards has an outcome.
        package var areShardsDone: Bool
        /// Nothing is left, and no retry is scheduled.
        package var isDone: Bool
        /// It cannot be reached, is in an outage or was stopped.
        package var isInTrouble: Bool
        /// Why nothing can be sent there before an operator has repaired it.
        package var stopReason: String?

        package init(areShardsDone: Bool, isDone: Bool, isInTrouble: Bool = false, stopReason: String? = nil) {
            self.areShardsDone = areShardsDone
            self.isDone = isDone
            self.isInTrouble = isInTrouble
            self.stopReason = stopReason
        }
    }

    private enum Wave: Sendable, Equatable {
        /// The last one, or the only one.
        case last
        /// Others are to come.
        case more
        /// Named users alone, before the audience: it is over when nothing of it is to be tried again either.
        case canary
        /// The current one is over; the next may begin at this moment; nil: when an operator says so.
        case ended(next: Timestamp?)
    }

    /// How far the devices are put in line that are sent again.
    package enum Gathering: Sendable, Equatable {
        /// There may be more.
        case more
        /// As many are in line as may be at a time.
        case full
        /// All are in line.
        case done
    }

    private var wave: Wave
    private var gathering: Gathering
    /// Nothing new is begun.
    package private(set) var isHalted = false

    /// - Parameters:
    ///   - hasMoreWaves: the current wave is not the last. Default: there is but one.
    ///   - gathers: the campaign was opened again, and not all devices are in line that are sent again. Default no.
    ///   - isCanary: it goes to named users alone, and to all others when it is released. Default no.
    package init(hasMoreWaves: Bool = false, gathers: Bool = false, isCanary: Bool = false) {
        wave = isCanary ? .canary : hasMoreWaves ? .more : .last
        gathering = gathers ? .more : .done
    }

    /// - Parameter services: the main one first.
    package func next(_ services: [Progress], at now: Timestamp) -> Action {
        guard !isHalted else { return .wait(until: nil) }
        if gathering == .more { return .gather }
        switch wave {
        case _ where gathering == .full:
            return stopped(services) ?? .wait(until: nil)
        case .last:
            if services.allSatisfy(\.isDone) { return .complete }
            return stopped(services) ?? .wait(until: nil)
        case .more:
            for (place, service) in services.enumerated() where !service.areShardsDone {
                if place == 0 || !service.isInTrouble { return .wait(until: nil) }
            }
            return .endWave
        case .canary:
            return services.allSatisfy(\.isDone) ? .endWave : stopped(services) ?? .wait(until: nil)
        case .ended(let next):
            return next.map { $0 <= now } ?? false ? .beginWave : .wait(until: next)
        }
    }

    /// Where whatever is left is for services that were stopped.
    private func stopped(_ services: [Progress]) -> Action? {
        let left = services.filter { !$0.isDone }
        guard let reason = left.first?.stopReason, left.allSatisfy({ $0.stopReason != nil }) else { return nil }
        return .suspend(reason: reason)
    }

    /// Some of the devices that are sent again are in line now.
    package mutating func gathered(_ gathering: Gathering) {
        guard self.gathering != .done else { return }
        self.gathering = gathering
    }

    /// Some that were in line have an outcome: there is room for others.
    package mutating func retriesEnded() {
        if gathering == .full { gathering = .more }
    }

    /// The current wave is over and noted as such; `next` is when the next may begin, nil when an operator says so. Told again
    /// when that changes.
    package mutating func waveEnded(next: Timestamp?) {
        guard wave != .last else { return }
        wave = .ended(next: next)
    }

    /// The next wave has begun.
    package mutating func waveBegan(hasMore: Bool) {
        wave = hasMore ? .more : .last
    }

    /// The campaign was paused, suspended or ended, or the daemon stops.
    package mutating func halt() {
        isHalted = true
    }
}
