// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// Opens gates as the stores offer the versions (DESIGN, rule 8). The versions in force change here, through a bump of
/// an app without a gate, or by hand. Used by the thread "sources".
package struct GateKeeper {
    private static let part = "gates"

    /// Whether something happened that may open or close a gate.
    var mustLook = true
    private var seenEvidence = -1
    /// The apps whose versions could not be looked at the last time, because the store refused.
    private var refused: Set<AppKey> = []
    /// When the first of the gates opens by time alone.
    private var nextOpening: Timestamp?

    package init() {}

    /// Decides the waiting versions of every configured app again.
    ///
    /// - Returns: when to call again at the latest; nil: after the next event.
    package mutating func update(_ runner: SourceRunner, _ callbacks: SourceRunner.Callbacks) -> Timestamp? {
        let now = runner.clock()
        let evidence = runner.status.read { $0.notes }
        if evidence != seenEvidence { (seenEvidence, mustLook) = (evidence, true) }
        guard mustLook || nextOpening.map({ $0 <= now }) ?? false else { return nextOpening }
        (mustLook, nextOpening) = (false, nil)
        do {
            var hasChanged = false
            var refusals: [AppKey: any Error] = [:]
            // An app that is not configured (any more) has no gate that could open.
            for record in try runner.store.versions() where runner.isConfigured(record.app) {
                do {
                    if try look(at: record, runner, callbacks, now) { hasChanged = true }
                } catch let error as StoreError where error.isOfWholeStore {
                    if hasChanged { callbacks.inForceChanged() }
                    throw error
                } catch {
                    refusals[record.app] = error
                }
            }
            note(refusals, runner)
            if hasChanged { callbacks.inForceChanged() }
            _ = runner.status.write { $0.faults.clear(Self.part) }
        } catch {
            // Writers report the store's own trouble; this fault explains why versions keep waiting.
            _ = runner.status.write { $0.faults.set(Self.part, "waiting versions cannot be looked at: \(error)") }
            return comeAgain(at: now)
        }
        return refused.isEmpty ? nextOpening : comeAgain(at: now)
    }

    private mutating func comeAgain(at now: Timestamp) -> Timestamp {
        mustLook = true
        return now + .seconds(5)
    }

    /// Records refusals of single apps; the other apps' versions go on.
    private mutating func note(_ refusals: [AppKey: any Error], _ runner: SourceRunner) {
        for app in refused.subtracting(refusals.keys) {
            _ = runner.status.write { $0.faults.clear(app.faultPart) }
        }
        refused = Set(refusals.keys)
        for (app, error) in refusals.sorted(by: { $0.key < $1.key }) {
            let text = "its waiting versions cannot be looked at: \(error)"
            guard runner.status.write({ $0.faults.set(app.faultPart, text) }) else { continue }
            runner.log(
                .error, "the store refuses an app's waiting versions: the other apps go on",
                [("app", app.app), ("platform", app.platform.rawValue), ("error", "\(error)")])
        }
    }

    /// Returns whether anything of the app changed.
    private mutating func look(
        at record: VersionRecord, _ runner: SourceRunner, _ callbacks: SourceRunner.Callbacks, _ now: Timestamp
    ) throws -> Bool {
        let app = record.app
        var surroundings = runner.surroundings(
            of: app, draft: callbacks.draft(app), rules: callbacks.rules(app), try runner.known(of: app), at: now)
        let actor = Signature(by: surroundings.gate ?? InForce.ungated, via: "gate", at: now)
        let decision: Decision
        do {
            decision = try runner.store.decide(app, .looked, by: actor, in: surroundings)
        } catch is RequirementRefusal {
            // A campaign needs a download URL, and the fan-out reports a missing one. Without a campaign none is needed.
            surroundings.draft = nil
            decision = try runner.store.decide(app, .looked, by: actor, in: surroundings)
        }
        let after = decision.after
        for row in after.rows where row.isAccepted && !after.isSuperseded(row) {
            guard row.state == .waiting || row.state == .announced,
                let time = after.wait(of: row, in: surroundings)?.end
            else { continue }
            nextOpening = min(nextOpening ?? time, time)
        }
        return decision.hasChanged
    }
}
