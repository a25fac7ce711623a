// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import WireFormat

/// The acts of people and machines, as the relay's audit trail keeps them.
extension World {
    /// Performs an act. If the relay reports it as done, the trail has it once, whatever dies or fails in between.
    ///
    /// - Parameters:
    ///   - actions: the names that the trail may give it, that of the request first.
    ///   - changes: whether an act with this result has changed anything.
    func acting<Result>(
        _ actions: AuditAction..., by kind: Principal.Kind = .operator, via way: String = "webhook",
        changes: (Result) -> Bool = { _ in true }, _ body: (Principal) throws -> Result
    ) throws -> Result {
        let place = acts.count
        let name = "somebody \(place + 1)"
        var actor =
            switch kind {
            case .webhook: Principal(name, .webhook, via: way)
            case .token: Principal(name, .token, via: "api")
            default: Principal.operator(name)
            }
        (actor.confirmed, actor.alone) = (carried, asking.alone)
        let besides: [AuditAction] =
            [.approvalAsk, .approvalAlone] + (asking.approving == nil ? [] : [.approvalApprove])
        acts.append(Act(actor: name, actions: (actions + besides).map(\.rawValue)))
        let result = try body(actor)
        if !isDying, changes(result) { acts[place].isDone = true }
        return result
    }

    /// Once, at the end: the trail has each act, no act that never happened, and each state that a campaign came into.
    func judgeTrail() {
        guard let relay else { return }
        var entries: [AuditEntry] = []
        do {
            repeat {
                let page = try relay.store.audit(AuditFilter(), before: entries.last?.id, limit: 1000)
                entries += page
                if page.count < 1000 { break }
            } while true
        } catch {
            return model.broke("store.check", "the audit trail cannot be read: \(plain(error))")
        }
        var rows: [String: [String: Int]] = [:]
        for entry in entries where ![.relay, .source, .database].contains(entry.actor.kind) {
            rows[entry.actor.name, default: [:]][entry.action, default: 0] += 1
        }
        for act in acts {
            if act.isDone, act.isAlone, rows[act.actor]?[AuditAction.approvalAlone.rawValue] == nil {
                model.broke("approval.loud", "\(act.actor) did \(act.actions[0]) alone, and no row says so")
            }
            if let fault = act.fault(in: rows.removeValue(forKey: act.actor) ?? [:]) {
                model.broke("audit.kept", fault)
            }
        }
        if let stranger = rows.keys.sorted().first {
            model.broke("audit.kept", "the audit trail has rows of \(stranger), who did nothing")
        }
        judgeStates(entries.reversed())
        judgeActs(entries)
        judgeEvents(entries.reversed())
    }

    /// - Parameter entries: the oldest first.
    private func judgeStates(_ entries: [AuditEntry]) {
        let words: Set<AuditAction> = [
            .campaignCreate, .campaignWait, .campaignBegin, .campaignPause, .campaignResume, .campaignSuspend,
            .campaignCancel, .campaignComplete, .campaignSupersede, .campaignRetry, .campaignRemind,
        ]
        func state(_ text: String?) -> String? {
            text.flatMap { try? JSONReader.read(Array($0.utf8)) }?[.state]?.string
        }
        var states: [String: String] = [:]
        for entry in entries where AuditAction(rawValue: entry.action).map(words.contains) ?? false {
            guard let campaign = entry.campaign, let after = state(entry.after) else { continue }
            if let known = states[campaign], known != state(entry.before) {
                model.broke(
                    "audit.states",
                    "campaign \(campaign) was \(known), and the next row of the audit trail finds it \(entry.before ?? "new")"
                )
            }
            states[campaign] = after
        }
        for campaign in campaigns(limit: 1000) where states[campaign.id] != campaign.state.rawValue {
            model.broke(
                "audit.states",
                "campaign \(campaign.id) is \(campaign.state.rawValue), and the audit trail ends with "
                    + (states[campaign.id] ?? "nothing"))
        }
    }

    static func hasRisen(_ bump: AppliedBump) -> Bool {
        if case .applied(let outcome, _) = bump { outcome.requiredRose } else { false }
    }
}
