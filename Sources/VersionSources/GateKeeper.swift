// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Telemetry
import UpgradeRules

/// Lets versions through as their stores offer them (DESIGN, rule 8): what is in force changes here, by a bump of an app that
/// has no gate, and by hand. Used by the thread "sources".
package struct GateKeeper {
    private static let part = "gates"

    /// Something happened that may open a gate, or close one.
    var mustLook = true
    private var seenEvidence = -1
    /// When the first of the gates opens by time alone.
    private var nextOpening: Timestamp?

    package init() {}

    /// Moves what may be moved; when to come again at the latest.
    package mutating func update(_ runner: SourceRunner, _ callbacks: SourceRunner.Callbacks) -> Timestamp? {
        let now = runner.clock()
        let evidence = runner.status.read { $0.notes }
        if evidence != seenEvidence { (seenEvidence, mustLook) = (evidence, true) }
        guard mustLook || nextOpening.map({ $0 <= now }) ?? false else { return nextOpening }
        (mustLook, nextOpening) = (false, nil)
        do {
            var hasChanged = false
            // An app that is not configured (any more) has no gate that could open.
            for record in try runner.store.versions() where runner.isConfigured(record.app) {
                if try look(at: record, runner, now) { hasChanged = true }
            }
            if hasChanged { callbacks.inForceChanged() }
            _ = runner.status.write { $0.faults.removeValue(forKey: Self.part) }
        } catch {
            // The store's own trouble is reported by those who write to it; this one keeps versions waiting.
            mustLook = true
            runner.status.write { $0.faults[Self.part] = "waiting versions cannot be looked at: \(error)" }
            return now + .seconds(5)
        }
        return nextOpening
    }

    /// Whether anything of the app changed.
    private mutating func look(at record: VersionRecord, _ runner: SourceRunner, _ now: Timestamp) throws -> Bool {
        let app = record.app
        let actor = runner.decidingStore(of: app)?.rawValue ?? InForce.ungated
        let inForce = record.inForce
        let held = [(inForce.required, inForce.builds.required), (inForce.canary?.required, inForce.canary?.build)]
        for case (let required?, let build) in held {
            guard let verdict = runner.verdict(required, build: build, of: app), verdict.state == .halted,
                try runner.store.takeOutOfForce(required, of: app, by: actor, reason: verdict.reason, at: now)
            else { continue }
            log(
                runner, .error, "a requirement is out of force: its store has stopped to offer it", app, required,
                verdict)
            return true
        }
        let waiting = try runner.store.waitingVersions(of: app)
        var hasChanged = false
        for candidate in waiting.required {
            guard let required = candidate.required else { continue }
            let verdict = runner.verdict(required, build: candidate.builds.required, of: app)
            guard isOpen(verdict), try verdict != nil || !waitsForLostStore(required, of: app, runner) else { continue }
            if try runner.store.putInForce(
                required, of: app, by: actor, from: "gate", reason: verdict?.reason, at: now)
            {
                log(runner, .notice, "a requirement is in force", app, required, verdict)
                hasChanged = true
            }
            break
        }
        for candidate in waiting.latest {
            guard let latest = candidate.latest else { continue }
            let verdict = runner.verdict(latest, build: candidate.builds.latest, of: app, isReminder: true)
            guard isOpen(verdict) else { continue }
            if try runner.store.announce(latest, of: app, by: actor, reason: verdict?.reason, at: now) {
                hasChanged = true
            }
            break
        }
        return hasChanged
    }

    /// Whether the store that a requirement was to wait for is not in the configuration any more: it goes on waiting, for that
    /// or for a person. Without a gate from the beginning its campaign would have begun.
    private func waitsForLostStore(_ required: Version, of app: AppKey, _ runner: SourceRunner) throws -> Bool {
        try runner.store.campaigns(before: nil, limit: 100).contains { campaign in
            campaign.app == app
                && (campaign.startedAt == nil || campaign.required == required && !campaign.state.isFinal)
        }
    }

    /// An app without a gate waits for nothing.
    private mutating func isOpen(_ verdict: GateVerdict?) -> Bool {
        guard let verdict else { return true }
        if let time = verdict.opensAt { nextOpening = min(nextOpening ?? time, time) }
        return verdict.isOpen
    }

    private func log(
        _ runner: SourceRunner, _ level: LogLevel, _ message: StaticString, _ app: AppKey, _ required: Version,
        _ verdict: GateVerdict?
    ) {
        runner.log(
            level, message,
            [
                ("app", app.app), ("platform", app.platform.rawValue), ("required", required.text),
                ("reason", verdict?.reason ?? "no store is asked"),
            ])
    }
}
