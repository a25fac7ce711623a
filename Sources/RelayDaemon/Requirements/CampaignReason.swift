// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import WireFormat

/// Why a campaign does not move, and when it will or who moves it; nil where it moves. The one place that says so: the API, `show`,
/// `watch`, the status line and the page have it from here. Pure.
struct CampaignReason {
    let record: CampaignRecord
    /// With what is on its way.
    let counts: CampaignCounts
    /// What keeps pushes back at a push service or at the store.
    let trouble: String?
    /// Whether that keeps back all that is left.
    let isHeld: Bool
    let nextRetryAt: Timestamp?
    let hasRoute: Bool
    /// Of one that waits: what its store says.
    let gate: GateVerdict?
    let nextWaveAt: Timestamp?
    /// Of one that runs outside its app's hours; nil: it may send.
    let hours: HoursWait?
    /// Why nothing of any campaign goes on: the store went back in time.
    let past: String?

    var text: String? {
        if let past, !record.state.isFinal { return past }
        return switch record.state {
        case .waiting: gate?.reason ?? Self.lostStore
        case .paused: paused
        case .running: hasRoute ? record.reason ?? asleep ?? trouble ?? wave ?? canary ?? retries : noRoute
        case .suspended, .completed, .cancelled, .superseded: record.reason
        }
    }

    /// Whether nothing goes out until the reason is over, so that nobody can say how long it takes.
    var standsStill: Bool {
        guard record.state == .running, hasRoute, past == nil else { return true }
        if isHeld || isCanaryDone { return true }
        return asleep == nil && retries != nil
    }

    private var isCanaryDone: Bool { record.canary?.endedAt != nil && record.isCanary }

    /// What a person or a longer pause keeps back waits for no hour.
    private var asleep: String? {
        guard let hours, !isCanaryDone, nextWaveAt.map({ $0 <= hours.until }) ?? true else { return nil }
        return hours.text
    }

    private static let lostStore =
        "the store that it waited for is not in the configuration any more; put the source back, "
        + "or put the version in force by \"campaigns release\""

    private var paused: String {
        let who = record.pausedBy.map { " by \($0)" } ?? ""
        return "paused\(who)\(record.pausedAt.map { " at \($0.internetTime)" } ?? ""); "
            + "\"campaigns resume \(record.id)\" goes on"
    }

    private var noRoute: String {
        "noRoute: \(record.app.app) has no push service in the configuration; \(RequirementControl.pushHint(record.app))"
    }

    private var wave: String? {
        guard let wave = record.waves.current, let nextWaveAt else { return nil }
        return
            "wave \(wave.number + 1) of \(record.waves.list.count) is done; the next begins at \(nextWaveAt.internetTime)"
    }

    private var canary: String? {
        guard record.isCanary else { return nil }
        let count = record.telephones?.count ?? 0
        let canary = "the canary of \(count) phone number\(count == 1 ? "" : "s")"
        guard record.canary?.endedAt != nil else { return "\(canary) is being sent to, and nobody else" }
        let found = record.counts.audience - record.counts.pending
        return "\(canary) is done" + (found == 0 ? ", and none of them is registered" : "")
            + "; \"campaigns release \(record.id)\" sends to everybody"
    }

    /// Of a campaign of which nothing else is left.
    private var retries: String? {
        guard counts.pending == 0, counts.inFlight == 0, counts.retrying > 0, let nextRetryAt else { return nil }
        let pushes = counts.retrying == 1 ? "1 push is" : "\(counts.retrying) pushes are"
        return "\(pushes) tried again, by itself: the next at \(nextRetryAt.internetTime)"
    }
}
