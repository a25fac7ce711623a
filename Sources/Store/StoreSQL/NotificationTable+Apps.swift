// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import WireFormat

/// Events of an app itself, not of a campaign.
extension NotificationTable {
    /// nil where it is another event, or there is nothing to notify.
    static func eventOfApp(_ id: Int64, _ connection: some SQLConnection) throws -> RelayEvent? {
        let row = try connection.first(
            """
            SELECT e.public_id, e.at, e.state, e.subject, a.id, a.name, a.platform
            FROM campaign_event AS e JOIN app AS a ON a.id = e.app_id WHERE e.id = ?
            """, id
        ) { row in
            (
                id: row.text(), at: row.time(), type: type(row.text()), subject: row.text(), app: row.integer(),
                key: row.app()
            )
        }
        guard let row, let type = row.type, let subject = try? JSONReader.read(Array(row.subject.utf8)) else {
            return nil
        }
        switch type {
        case .dead:
            guard let after = subject["after"]?.integer, let through = subject["through"]?.integer else { return nil }
            let last = DeadPlace(order: through)
            // Devices that live again are left out, so that no receiver forgets a token that lives.
            let devices = try DeadTable.devices(
                of: row.app, after: DeadPlace(order: after), through: last, limit: .max, connection)
            return RelayEvent(id: row.id, type: type, at: row.at, subject: .dead(row.key, devices, through: last))
        case .retirable:
            return VersionShareTable.subject(of: row.key, subject).map {
                RelayEvent(id: row.id, type: type, at: row.at, subject: $0)
            }
        case .asked, .approved, .refused, .alone:
            guard let id = subject["id"]?.integer, let state = type.approval,
                var approval = try ApprovalTable.approval(id, connection)
            else { return nil }
            // As it was then: it may have been closed since.
            if state == .open {
                (approval.state, approval.closedBy, approval.closedAt, approval.reason) = (.open, nil, nil, nil)
            }
            return RelayEvent(id: row.id, type: type, at: row.at, subject: .approval(approval))
        default: return nil
        }
    }
}
