// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import WireFormat

/// The reason why a campaign does not move, with the time or person it waits for. This is the only place that decides it: the
/// API, `show`, `watch`, the status line and the page get the reason from here. Pure.
struct CampaignReason {
    let record: CampaignRecord
    /// Includes the pushes in flight.
    let counts: CampaignCounts
    /// The reason that holds pushes back at a push service or at the store.
    let trouble: String?
    /// Whether `trouble` holds back all pushes that are left.
    let isHeld: Bool
    let nextRetryAt: Timestamp?
    let hasRoute: Bool
    /// For a waiting campaign: why its requirement is not in force; nil: it comes into force at the next look.
    let held: RequirementWait?
    let nextWaveAt: Timestamp?
    /// Set outside the app's sending hours; nil: the campaign may send.
    let hours: HoursWait?
    /// Why every campaign stands still: the store went back in time.
    let past: String?

    /// The first reason that applies.
    var wait: Wait? {
        if past != nil { return record.state.isFinal ? nil : .past }
        switch record.state {
        case .waiting: return held?.wait
        case .paused: return .pause
        case .suspended: return record.facts.cause == .approval ? .approval : .fault(record.facts.cause ?? .store)
        case .running: return hasRoute ? runningWait : .noRoute
        case .completed, .cancelled, .superseded: return nil
        }
    }

    private var runningWait: Wait? {
        if let asleep { return .hours(asleep.until) }
        if trouble != nil { return .service }
        if record.figures.waves.current != nil, let nextWaveAt { return .wave(nextWaveAt) }
        if record.isCanary { return isCanaryDone ? .release : .canary }
        return nextRetry.map(Wait.retries)
    }

    var text: String? {
        if record.state == .running, hasRoute, past == nil, let reason = record.facts.reason { return reason }
        return wait.map(words) ?? record.facts.reason
    }

    private func words(_ wait: Wait) -> String {
        switch wait {
        case .past: past ?? ""
        case .store, .time, .lostStore: held?.reason ?? ""
        case .pause: paused
        case .noRoute: noRoute
        case .hours: hours?.text ?? ""
        case .service: trouble ?? ""
        case .wave(let time): wave(time)
        case .canary, .release: canary
        case .approval, .secondPerson, .fault: record.facts.reason ?? ""
        case .retries(let time): retries(time)
        }
    }

    /// Whether nothing is sent until the reason is over, so that the time left is unknown.
    var standsStill: Bool {
        guard record.state == .running, hasRoute, past == nil else { return true }
        if isHeld || isCanaryDone { return true }
        return asleep == nil && nextRetry != nil
    }

    private var isCanaryDone: Bool { record.canary?.endedAt != nil && record.isCanary }

    /// The sending hours do not matter while a person, or a longer pause, holds the campaign back.
    private var asleep: HoursWait? {
        guard let hours, !isCanaryDone, nextWaveAt.map({ $0 <= hours.until }) ?? true else { return nil }
        return hours
    }

    private var paused: String {
        let who = record.facts.pausedBy.map { " by \($0)" } ?? ""
        return "paused\(who)\(record.facts.pausedAt.map { " at \($0.internetTime)" } ?? ""); "
            + "\"campaigns resume \(record.id)\" goes on"
    }

    private var noRoute: String {
        "noRoute: \(record.app.app) has no push service in the configuration; \(RequirementControl.pushHint(record.app))"
    }

    private func wave(_ time: Timestamp) -> String {
        let number = (record.figures.waves.current?.number ?? 0) + 1
        return "wave \(number) of \(record.figures.waves.list.count) is done; the next begins at \(time.internetTime)"
    }

    private var canary: String {
        let canary = Rollout.Step.canary(numbers: record.requirement.canary?.count ?? 0).words
        guard isCanaryDone else { return "\(canary) is being sent to, and no other user" }
        let found = record.figures.counts.audience - record.figures.counts.pending
        return "\(canary) is done" + (found == 0 ? ", and none of them is registered" : "")
            + "; \"campaigns approve \(record.id)\" \(Rollout(record).release)"
    }

    /// Set for a campaign that has only retries left.
    private var nextRetry: Timestamp? {
        counts.pending == 0 && counts.inFlight == 0 && counts.retrying > 0 ? nextRetryAt : nil
    }

    private func retries(_ time: Timestamp) -> String {
        let pushes = counts.retrying == 1 ? "1 push is" : "\(counts.retrying) pushes are"
        return "\(pushes) tried again, by itself: the next at \(time.internetTime)"
    }
}
