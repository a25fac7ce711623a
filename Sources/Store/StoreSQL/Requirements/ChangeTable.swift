// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import WireFormat

/// The rows that changes leave in the outbox and in the audit trail, in the transaction that makes the changes.
///
/// The history of requirements is not written here: `requirement_event` has each row of `requirement` as it was after
/// each statement that wrote it. Triggers write it, for the relay's statements and for other programs' statements on
/// `version`.
enum ChangeTable {
    /// - Parameter changes: with the stored ids of their requirements.
    static func write(
        _ changes: [Change], of app: AppKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        for (event, requirement) in Change.noted(changes) {
            guard let campaign = try CampaignTable.key(ofRequirement: requirement, connection) else { continue }
            try NotificationTable.note(event, of: campaign, at: now, connection)
        }
        for (event, approval) in changes.compactMap(\.approvalNotice) {
            try NotificationTable.note(
                event, of: AppTable.idMade(for: app, connection), ["id": .integer(approval.id)], at: now,
                connection)
        }
        for change in changes {
            guard let entry = change.entry(of: app) else { continue }
            try AuditTable.insert(entry, campaignOf: change.requirement, connection)
        }
    }

    /// Writes a change of a campaign that is not part of a decision.
    static func write(
        _ kind: Change.Kind, of campaign: CampaignRecord, by actor: Signature, _ connection: some SQLConnection
    ) throws {
        try write(
            [Change(kind, by: actor, requirement: campaign.requirement.id)], of: campaign.app, at: actor.at, connection)
    }

    /// Writes a step of the sender, such as the end of a wave.
    static func write(
        _ kind: Change.Kind, of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        guard let record = try CampaignTable.record(campaign, connection) else { return }
        try write(kind, of: record, by: .relay(at: now), connection)
    }
}
