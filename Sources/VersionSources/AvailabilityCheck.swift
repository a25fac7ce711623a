// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import UpgradeRules

/// Lets waiting campaigns go once their store offers the version (DESIGN, rule 8). Used by the thread "sources".
struct AvailabilityCheck {
    private static let part = "availability"

    /// Something happened that may open a gate.
    var mustLook = true
    private var seenMark: Int64?
    /// When the first of the gates opens by time alone.
    private var nextOpening: Timestamp?
    /// Whether the store must be watched for campaigns that other programs make.
    private(set) var isNeeded = false

    /// Moves what may begin; when to come again at the latest.
    mutating func update(_ runner: SourceRunner, _ callbacks: SourceRunner.Callbacks) -> Timestamp? {
        isNeeded = runner.status.read { !$0.gates.isEmpty }
        do {
            let now = runner.clock()
            if isNeeded {
                let mark = try runner.store.changeMark()
                if mark != seenMark { (seenMark, mustLook) = (mark, true) }
            }
            guard mustLook || nextOpening.map({ $0 <= now }) ?? false else { return nextOpening }
            (mustLook, nextOpening) = (false, nil)
            var released = false
            for campaign in try runner.store.openCampaigns() where campaign.state == .waiting {
                if try look(at: campaign, runner, now) { released = true }
            }
            if released { callbacks.released() }
            _ = runner.status.write { $0.faults.removeValue(forKey: Self.part) }
        } catch {
            // The store's own trouble is reported by those who write to it; this one keeps campaigns waiting.
            mustLook = true
            runner.status.write { $0.faults[Self.part] = "waiting campaigns cannot be looked at: \(error)" }
            return runner.clock() + .seconds(5)
        }
        return nextOpening
    }

    private mutating func look(at campaign: CampaignRecord, _ runner: SourceRunner, _ now: Timestamp) throws -> Bool {
        if let verdict = runner.verdict(campaign.required, build: nil, of: campaign.app), !verdict.isOpen {
            if let until = verdict.opensAt { nextOpening = min(nextOpening ?? until, until) }
            return false
        }
        // Without an App Store source nobody else would ever start it.
        guard try runner.store.moveCampaign(campaign.key, from: [.waiting], to: .running, reason: nil, at: now) else {
            return false
        }
        runner.log(
            .notice, "the wait for the store is over: a campaign begins",
            [("campaign", campaign.id), ("app", campaign.app.app), ("required", campaign.required.text)])
        return true
    }
}
