// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// How much longer a campaign takes.
extension RunFigures {
    /// Seconds until everything pending is sent and every pause between waves is over, at the present rate; if there is
    /// a pause that only an operator can end, until that pause. nil while nothing moves.
    ///
    /// Under a pace the time follows from the devices that are left and from the pace, with its ramp; where the push service is
    /// the slower one, the measured rate counts too. Retries that are not due yet are not in it.
    ///
    /// - Parameter rules: the rules between the waves.
    package func secondsLeft(
        _ counts: CampaignCounts, waves: CampaignWaves = CampaignWaves(), rules: WaveRules? = nil, at now: Timestamp
    ) -> Int64? {
        let seconds: Double?
        if let wave = waves.current, waves.list.count > 1 {
            seconds = secondsLeft(counts, waves, wave, rules, at: now)
        } else {
            seconds = time(for: counts.pending, counts, sent: counts.inFlight)
        }
        return seconds.map { Int64(min($0, 1e15).rounded(.up)) }

        func time(for pending: Int64, _ counts: CampaignCounts, sent: Int64) -> Double? {
            self.time(for: pending, sent: sent, Self.pushShare(counts), isBegun: true, at: now)
        }
    }

    private func secondsLeft(
        _ counts: CampaignCounts, _ waves: CampaignWaves, _ current: CampaignWave, _ rules: WaveRules?,
        at now: Timestamp
    ) -> Double? {
        let share = Self.pushShare(counts)
        var total = 0.0
        if !waves.areBetween {
            let sent = min(Int64(shardRequestsOut), current.pending)
            let pending = current.pending - sent
            guard let time = time(for: pending, sent: sent, share, isBegun: true, wave: current, at: now) else {
                return nil
            }
            total += time
        }
        var isFirst = true
        for wave in waves.list where wave.number > current.number {
            let isReleased = isFirst && current.releasedAt != nil
            if isFirst, waves.areBetween {
                total += max((waves.nextAt(rules) ?? now) - now, .zero).seconds
            } else {
                total += rules?.pause.seconds ?? 0
            }
            if rules?.needsApproval == true, !isReleased { return total }
            guard let time = time(for: wave.devices, sent: 0, share, isBegun: false, wave: current, at: now) else {
                return nil
            }
            total += time
            isFirst = false
        }
        return total
    }

    /// - Parameters:
    ///   - pending: devices that nothing was sent to.
    ///   - sent: devices whose answer is awaited.
    ///   - share: the share of the devices that get a push.
    ///   - isBegun: whether the ramp is under way; else it begins with these devices.
    ///   - wave: the current one, whose duration gives the rate once it has ended.
    private func time(
        for pending: Int64, sent: Int64, _ share: Double, isBegun: Bool, wave: CampaignWave? = nil, at now: Timestamp
    ) -> Double? {
        guard pending + sent > 0 else { return 0 }
        if var pacer {
            if !isBegun { pacer.begin(at: tick) }
            return pacer.seconds(for: Double(pending) * share, at: tick)
        }
        var rate = devices.perSecond(at: now)
        if let wave, let began = wave.begunAt, let ended = wave.endedAt, wave.devices > 0 {
            rate = Double(wave.devices) * 1000 / Double(max((ended - began).milliseconds, 1))
        }
        return rate > 0 ? Double(pending + sent) / rate : nil
    }

    /// The share of the devices so far that got a push.
    private static func pushShare(_ counts: CampaignCounts) -> Double {
        let pushes =
            counts.inFlight + counts.accepted + counts.retrying + counts.rejected + counts.unregistered + counts.expired
        let all = pushes + counts.filtered
        return all > 0 ? Double(pushes) / Double(all) : 1
    }
}
