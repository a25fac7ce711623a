// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import WireFormat

extension AuditEntry {
    /// A row, and the requirement whose campaign it is about. Only the store knows that campaign's public id.
    package typealias Draft = (entry: AuditEntry, requirement: Int64?)

    /// The rows that a decision adds to the trail: the act itself, unless it was a mere look, another program's requests
    /// that were taken up, and each state that a campaign came into by it. Pure.
    ///
    /// - Parameter machine: after the event; nothing of it is stored yet.
    package static func all(
        of event: RequirementEvent, by actor: Signature, in app: AppKey, from before: Requirements,
        campaigns: [CampaignFacts], to machine: RequirementMachine
    ) -> [Draft] {
        Trail(actor: actor, app: app, before: before, campaigns: campaigns, machine: machine).drafts(of: event)
    }
}

private struct Trail {
    let actor: Signature
    let app: AppKey
    let before: Requirements
    let campaigns: [CampaignFacts]
    let machine: RequirementMachine

    private var after: Requirements { machine.requirements }

    func drafts(of event: RequirementEvent) -> [AuditEntry.Draft] {
        takenUp + act(event) + states(but: event)
    }

    private func draft(
        _ action: AuditAction, by signature: Signature? = nil, _ object: Version?, _ requirement: Int64?,
        from old: AuditValues? = nil, to new: AuditValues? = nil
    ) -> AuditEntry.Draft {
        (
            AuditEntry(action, by: signature ?? actor, of: app, object: object?.text, from: old, to: new),
            requirement
        )
    }

    // MARK: Acts

    private func act(_ event: RequirementEvent) -> [AuditEntry.Draft] {
        switch event {
        case .looked: return []
        case .asked(let bump): return asked(bump)
        case .released(let version, _):
            guard let id = machine.subject, let row = after[id] else { return [] }
            // A release that names a version counts as a release of that version's campaign.
            return [
                draft(
                    version == nil ? .versionRelease : .campaignRelease, row.version, id,
                    from: before[id].map { Self.standing($0, before) }, to: Self.standing(row, after))
            ]
        case .withdrawn(let version, let reason):
            return [
                draft(
                    .versionWithdraw, version, machine.subject, from: Self.asked(before),
                    to: Self.asked(after) + [.reason: reason.map { .string($0) }])
            ]
        case .unblocked(_, let reason):
            return machine.blocked.compactMap { id in
                after[id].map {
                    draft(
                        .versionUnblock, $0.version, id, from: before[id].map { Self.standing($0, before) },
                        to: Self.standing($0, after) + [.reason: reason.map { .string($0) }])
                }
            }
        case .campaign(let key, let change):
            return [campaign(key, change)].compactMap(\.self)
        }
    }

    private func asked(_ bump: VersionBump) -> [AuditEntry.Draft] {
        let changed = after.rows.filter { row in
            before[row.id].map { !row.isWritten(as: $0) && row.changed == actor } ?? true
        }
        var drafts = changed.filter { $0.kind == .blocked }.map { row in
            draft(
                .versionBlock, row.version, row.id, from: before[row.id].map(Self.texts), to: Self.texts(row))
        }
        let (old, new) = (Self.asked(before), Self.asked(after))
        let isUrgent = bump.isUrgent && bump.blocked.isEmpty && hurried
        // Versions that wait in front of a gate may move in the same moment: the actor did not ask for that.
        if changed.contains(where: { $0.kind != .blocked }) || isUrgent {
            let floor = machine.subject ?? (bump.required == nil ? nil : after.takenUp.required?.id)
            drafts.insert(
                draft(
                    .versionBump, bump.required ?? bump.latest ?? after.required?.version, floor, from: old,
                    to: new + (bump.isUrgent ? [.now: .bool(true)] : [:])), at: 0)
        }
        return drafts
    }

    /// Whether the event lets a campaign be sent at any hour.
    private var hurried: Bool {
        machine.campaigns.contains { campaign in
            campaign.urgentAt != nil && campaigns.first { $0.key == campaign.key }?.urgentAt == nil
        }
    }

    private func campaign(_ key: CampaignKey, _ change: CampaignChange) -> AuditEntry.Draft? {
        guard let old = campaigns.first(where: { $0.key == key }),
            let new = machine.campaigns.first(where: { $0.key == key })
        else { return nil }
        if case .stageBegan = change {
            func reach(_ all: Requirements) -> AuditValues {
                [.percent: all[new.requirement].map { Self.percent($0.reach) }]
            }
            return draft(.campaignWave, nil, new.requirement, from: reach(before), to: reach(after))
        }
        guard let action = AuditAction(change), old != new else { return nil }
        return draft(action, nil, new.requirement, from: Self.state(old), to: Self.state(new))
    }

    // MARK: Not by hand

    /// Another program's requests that were taken up, whichever actor's event did so.
    private var takenUp: [AuditEntry.Draft] {
        after.rows.compactMap { row in
            guard let asked = before[row.id], asked.state == .asked, row.isAccepted, !row.isReleased else { return nil }
            // By the name that the program gave itself (`changed_by`).
            return draft(
                .versionBump, by: Signature(by: .database(asked.changed.by), at: actor.at), row.version, row.id,
                to: [row.kind == .latest ? .latest : .required: .string(row.version.text)])
        }
    }

    /// - Parameter event: a campaign that it moved by hand has the act's own row, and none here.
    private func states(but event: RequirementEvent) -> [AuditEntry.Draft] {
        var own: CampaignKey?
        if case .campaign(let key, let change) = event {
            if AuditAction(change) != nil { own = key }
            if case .reopened = change { own = key }
        }
        return machine.campaigns.compactMap { new in
            let old = campaigns.first { $0.key == new.key }
            guard new.key != own, old?.state != new.state else { return nil }
            let relay = Signature(by: .relay, at: actor.at)
            return draft(
                old == nil ? .campaignCreate : AuditAction(new.state), by: relay, nil, new.requirement,
                from: old.map(Self.state), to: Self.state(new))
        }
    }

    // MARK: Values

    private static func state(_ campaign: CampaignFacts) -> AuditValues {
        [
            .state: .string(campaign.state.rawValue), .reason: campaign.reason.map { .string($0) },
            .now: campaign.urgentAt == nil ? nil : .bool(true),
        ]
    }

    /// The versions that are asked for, and the one in force. Telephones are counted: none is named.
    private static func asked(_ requirements: Requirements) -> AuditValues {
        let (required, latest) = (requirements.required, requirements.latest)
        let texts = requirements.rows.last { $0.id == required?.id || $0.id == latest?.id }
        return [
            .required: required.map { .string($0.version.text) }, .latest: latest.map { .string($0.version.text) },
            .inForce: requirements.inForce.map { .string($0.version.text) },
            .requiredBuild: required?.build.map { .integer($0) }, .latestBuild: latest?.build.map { .integer($0) },
        ] + AuditValues(required?.terms) + [
            .telephoneCount: required?.canary.map { .integer($0.count) }
        ] + (texts.map(Self.texts) ?? [.downloadUrl: nil, .message: nil, .messages: nil])
    }

    private static func texts(_ row: Requirement) -> AuditValues {
        let translations = row.message?.translations ?? []
        return [
            .downloadUrl: row.downloadURL.map { .string($0) }, .message: row.message.map { .string($0.text) },
            .messages: translations.isEmpty
                ? nil
                : .object(translations.map { JSONMember(name: $0.language.text, value: .string($0.text)) }),
        ]
    }

    /// A requirement's state, its share of the users, and the version in force for everybody.
    private static func standing(_ row: Requirement, _ all: Requirements) -> AuditValues {
        [
            .state: .string(row.state.rawValue), .percent: percent(row.reach),
            .inForce: all.inForce.map { .string($0.version.text) },
        ]
    }

    private static func percent(_ reach: Int) -> JSONValue { .number(WavePlan.percentText(reach)) }
}
