// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Requirements
import Telemetry
import UpgradeRules

extension SQLStore {
    package func version(of app: AppKey) throws -> VersionRecord? {
        try read("reading a version") { connection in
            let record = VersionRecord(app, try RequirementTable.requirements(of: app, connection))
            return record.isEmpty ? nil : record
        }
    }

    package func versions() throws -> [VersionRecord] {
        try read("reading the versions") { connection in
            try RequirementTable.all(connection).map { VersionRecord($0.app, $0.requirements) }.filter { !$0.isEmpty }
        }
    }

    package func history(of app: AppKey, limit: Int) throws -> [VersionChange] {
        try read("reading the history of a version") { connection in
            var changes: [VersionChange] = []
            for (requirements, by) in try RequirementTable.history(of: app, connection) {
                let record = VersionRecord(app, requirements)
                if let before = changes.last?.record, before.asksTheSame(as: record) { continue }
                changes.append(VersionChange(record: record, actor: by.by, source: by.via))
            }
            return changes.suffix(max(limit, 0)).reversed()
        }
    }

    package func inForceHistory(of app: AppKey, limit: Int) throws -> [InForceChange] {
        try read("reading what was in force") { connection in
            var changes: [InForceChange] = []
            for (requirements, by) in try RequirementTable.history(of: app, connection) {
                let inForce = InForce(requirements)
                if inForce.saysTheSame(as: changes.last?.inForce ?? InForce()) { continue }
                changes.append(InForceChange(inForce: inForce, at: by.at, actor: by.by, source: by.via))
            }
            return changes.suffix(max(limit, 0)).reversed()
        }
    }

    package func decide(
        _ app: AppKey, _ event: RequirementEvent, by actor: Signature, in surroundings: RequirementMachine.Surroundings,
        receipt: WebhookReceipt?, render: ((Decision) throws -> StoredAnswer)?
    ) throws -> (Decision, StoredAnswer?) {
        if case .looked = event {
            // Usually there is nothing to do, and finding that out must not wait for the writer.
            let idle = try read("looking for what is due") { connection -> Requirements? in
                let (old, campaigns) = try Self.facts(of: app, connection)
                var machine = RequirementMachine(old, campaigns: campaigns)
                try machine.reduce(event, by: actor, in: surroundings)
                return machine.requirements == old && machine.campaigns == campaigns ? old : nil
            }
            if let idle { return (Decision(before: idle, after: idle), nil) }
        }
        let (decision, answer) = try write("deciding on a requirement", lock: .app(app)) { connection in
            if let receipt, let answer = try WebhookTable.answer(to: receipt, connection) {
                let now = try RequirementTable.requirements(of: app, connection)
                return (Decision(before: now, after: now, replay: answer), StoredAnswer?.some(answer))
            }
            try admit(surroundings.approval, by: actor, connection)
            try judge(actor, event, of: app, connection)
            let decision = try decide(app, event, by: actor, in: surroundings, connection)
            if surroundings.isUrgent, decision.waiting == nil {
                let campaign = if case .campaign(let key, _) = event { key } else { decision.campaign?.key }
                if let campaign { try hurry(campaign, of: app, by: actor, connection) }
            }
            guard let render else { return (decision, nil) }
            let answer = try render(decision)
            if let receipt { try WebhookTable.store(answer, for: receipt, at: actor.at, connection) }
            return (decision, answer)
        }
        let isLook = if case .looked = event { true } else { false }
        if decision.replay == nil { wasCommitted(decision, of: app, isAwaited: !isLook) }
        return (decision, answer)
    }

    /// Records that a person has a campaign sent at any hour, in the transaction that lets it go on: an act is done
    /// whole or not at all. Changes nothing where the campaign is over, or is sent at any hour already.
    func hurry(
        _ campaign: CampaignKey, of app: AppKey, by actor: Signature, _ connection: Connection
    ) throws {
        do {
            _ = try decide(
                app, .campaign(campaign, .hurried), by: actor, in: RequirementMachine.Surroundings(now: actor.at),
                connection)
        } catch is RequirementRefusal {}
    }

    /// Logs the changes, and notifies the open paths (`DecisionNotices`). Must be called after the commit.
    func wasCommitted(_ decision: Decision, of app: AppKey, isAwaited: Bool) {
        for line in decision.changes.compactMap({ $0.line(of: app) }) {
            log(line.isGrave ? .error : .notice, line.message, line.fields)
        }
        if let fact = decision.fact(of: app, isAwaited: isAwaited) { decisions.post(fact) }
    }

    private static func facts(
        of app: AppKey, _ connection: some SQLConnection
    ) throws -> (Requirements, [CampaignFacts]) {
        (try RequirementTable.requirements(of: app, connection), try CampaignTable.facts(of: app, connection))
    }

    /// Must run within a transaction.
    func decide(
        _ app: AppKey, _ event: RequirementEvent, by actor: Signature, in surroundings: RequirementMachine.Surroundings,
        _ connection: Connection
    ) throws -> Decision {
        let (before, campaigns) = try Self.facts(of: app, connection)
        var machine = RequirementMachine(before, campaigns: campaigns)
        var changes = try machine.reduce(event, by: actor, in: surroundings)
        let hasChanged = machine.requirements != before || machine.campaigns != campaigns
        let approved = try approve(
            surroundings.approval, event, over: before, hasChanged: hasChanged, of: app, by: actor, connection)
        changes += [approved.change].compactMap(\.self)
        if let waiting = approved.waiting {
            // The act itself is not done; it was tried, so that what can never be done is refused at once.
            var decision = Decision(before: before, after: before)
            (decision.waiting, decision.changes) = (waiting, [approved.change?.placed(in: before)].compactMap(\.self))
            try ChangeTable.write(decision.changes, of: app, at: surroundings.now, connection)
            return decision
        }
        let ids = try RequirementTable.write(machine.requirements, over: before, of: app, connection)
        let old = Dictionary(uniqueKeysWithValues: campaigns.map { ($0.key, $0) })
        var made: [Int64: CampaignKey] = [:]
        for campaign in machine.campaigns {
            guard let known = old[campaign.key] else {
                let requirement = ids[campaign.requirement] ?? campaign.requirement
                made[requirement] = try CampaignTable.create(
                    campaign, of: requirement, app, latest: machine.requirements.latest?.version,
                    random: random, connection)
                continue
            }
            if known != campaign { try CampaignTable.write(campaign, over: known, at: surroundings.now, connection) }
        }
        func campaign(of requirement: Int64) throws -> CampaignRecord? {
            let key = try made[requirement] ?? CampaignTable.key(ofRequirement: requirement, connection)
            return try key.flatMap { try CampaignTable.record($0, connection) }
        }
        let subject = machine.subject.flatMap { machine.requirements[$0] }
        let after = ids.isEmpty ? machine.requirements : try RequirementTable.requirements(of: app, connection)
        let about = subject.map { ids[$0.id] ?? $0.id } ?? made.keys.filter { after[$0]?.kind == .required }.max()
        var decision = Decision(
            before: before, after: after, subject: subject, campaign: try about.flatMap(campaign),
            hasChanged: hasChanged)
        decision.blocked = try machine.blocked.compactMap { after[ids[$0] ?? $0] }.map {
            Block($0, try campaign(of: $0.id))
        }
        decision.changes = try changes.map { change in
            var change = change
            change.requirement = change.requirement.map { ids[$0] ?? $0 }
            if case .version = change.kind { change.campaign = try change.requirement.flatMap(campaign) }
            return change.placed(in: after)
        }
        try ChangeTable.write(decision.changes, of: app, at: surroundings.now, connection)
        return decision
    }
}
