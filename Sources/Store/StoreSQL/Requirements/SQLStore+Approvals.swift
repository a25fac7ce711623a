// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import Telemetry
package import UpgradeRules

extension SQLStore {
    package func approval(_ id: Int64) throws -> Approval? {
        try readOnce("looking for a request") { try ApprovalTable.approval(id, $0) }
    }

    package func approvals(before: Int64?, limit: Int) throws -> [Approval] {
        try readOnce("listing requests") { connection in
            try connection.all(
                ApprovalTable.Row.self, "FROM approval WHERE id < ? ORDER BY id DESC LIMIT ?", before ?? .max,
                max(limit, 0)
            ).compactMap(\.self)
        }
    }

    package func openApprovals(of app: AppKey?) throws -> [Approval] {
        try readOnce("looking for requests") { connection in
            guard let app else {
                return try connection.all(
                    ApprovalTable.Row.self, "FROM approval WHERE state = 'open' ORDER BY id DESC"
                ).compactMap(\.self)
            }
            return try connection.all(
                ApprovalTable.Row.self,
                "FROM approval WHERE app = ? AND platform = ? AND state = 'open' ORDER BY id DESC",
                app.app, app.platform
            ).compactMap(\.self)
        }
    }

    package func lastApproval(_ act: Approval.Act, of app: AppKey) throws -> Approval? {
        try readOnce("looking for a request") { try ApprovalTable.last(act, of: app, $0) }
    }

    package func refuse(approval id: Int64, by actor: Signature, reason: String) throws -> Approval? {
        guard let app = try approval(id)?.app else { return nil }
        let change = try write("refusing a request", lock: .app(app)) { connection -> Change? in
            guard let open = try ApprovalTable.approval(id, connection) else { return nil }
            let state = open.state(at: actor.at)
            guard state == .open else { throw ApprovalRefusal.isOver(open, state) }
            let closed = try ApprovalTable.close(
                open, .refused, by: actor.by, reason: reason, at: actor.at, connection)
            let change = Change(.approval(closed), by: actor, requirement: nil)
                .placed(in: try RequirementTable.requirements(of: app, connection))
            try ChangeTable.write([change], of: app, at: actor.at, connection)
            return change
        }
        guard let change, case .approval(let closed) = change.kind else { return nil }
        if let line = change.line(of: app) { log(.notice, line.message, line.fields) }
        decisions.post(.other)
        return closed
    }

    @discardableResult
    package func forgetApprovals(before time: Timestamp) throws -> Int64 {
        var forgotten: Int64 = 0
        while true {
            let some = try write("deleting old requests", lock: .rows) { connection in
                try ApprovalTable.forget(before: time, connection)
            }
            forgotten += Int64(some)
            if some < ApprovalTable.mostForgotten { return forgotten }
        }
    }

    package func releasable(
        of app: AppKey, _ version: Version?, _ kind: Requirement.Kind?
    ) throws -> (Requirements, Requirement?) {
        try read("looking for what waits") { connection in
            let machine = RequirementMachine(
                try RequirementTable.requirements(of: app, connection),
                campaigns: try CampaignTable.facts(of: app, connection))
            return (machine.requirements, machine.releasable(version, kind))
        }
    }

    /// Refuses an approval by who may not give it, or of a request that waits no longer. Must run within the transaction
    /// that decides.
    func admit(_ check: ApprovalCheck?, by actor: Signature, _ connection: Connection) throws {
        guard case .approves(let id)? = check?.way, let open = try ApprovalTable.approval(id, connection) else {
            return
        }
        try open.check(by: actor.author, at: actor.at)
    }

    /// Applies the rule of two persons to a decision. Must run within the transaction that decides.
    ///
    /// - Parameters:
    ///   - before: the requirements that the decision began with.
    ///   - hasChanged: whether the act would change anything: an act that changes nothing needs no second person.
    /// - Returns: the request that waits in the act's place, or nil; and the change to be written down.
    /// - Throws: `ApprovalRefusal`, `StaleConfirmation`.
    func approve(
        _ check: ApprovalCheck?, _ event: RequirementEvent, over before: Requirements, hasChanged: Bool,
        of app: AppKey, by actor: Signature, _ connection: Connection
    ) throws -> (waiting: Approval?, change: Change?) {
        guard let check, let person = actor.principal else { return (nil, nil) }
        guard check.measured == before else { throw ApprovalRefusal.moved }
        let now = actor.at
        func made(_ wish: Approval.Wish, until: Timestamp) throws -> Approval {
            let held = try subject(of: event, app).map { try facts($0, at: now, connection) } ?? Shown()
            // Its devices are those that it reaches, which are counted anew.
            let meant = wish.act.kind.facts.filter { $0 != .devices }
            return Approval(
                app, wish, check.reach, shown: Shown(held.facts.filter { meant.contains($0.key) }),
                by: person, at: now, until: until)
        }
        switch check.way {
        case .free: return (nil, nil)
        case .asks(let wish, let within):
            guard hasChanged else { return (nil, nil) }
            if let last = try ApprovalTable.last(wish.act, of: app, connection) {
                if last.isRepeated(by: person, wish, at: now) { return (last, nil) }
                if last.isRefused(to: person, wish) { throw ApprovalRefusal.refusedBefore(last) }
            }
            try ApprovalTable.supersede(wish.act, of: app, at: now, connection)
            let stored = try ApprovalTable.insert(made(wish, until: now + within), connection)
            return (stored, Change(.approval(stored), by: actor, requirement: nil))
        case .approves(let id):
            guard let open = try ApprovalTable.approval(id, connection) else { throw ApprovalRefusal.moved }
            try open.check(reach: check.reach)
            let closed = try ApprovalTable.close(open, .approved, by: person.name, at: now, connection)
            return (nil, Change(.approval(closed), by: actor, requirement: nil))
        case .alone(let wish, let reason):
            guard hasChanged else { return (nil, nil) }
            try ApprovalTable.supersede(wish.act, of: app, at: now, connection)
            var alone = try made(wish, until: now)
            (alone.state, alone.closedBy, alone.closedAt, alone.reason) = (.alone, person.name, now, reason)
            alone.wish.telephones = nil
            let stored = try ApprovalTable.insert(alone, connection)
            return (nil, Change(.approval(stored), by: actor, requirement: nil))
        }
    }
}
