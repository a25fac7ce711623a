// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import StoreSQL

extension PostgresStore {
    /// Dates the notifications that the schema's trigger has made, and drops those beyond the limit. The trigger
    /// addresses each event as it is written, since an event that is committed late has a lower number than events that
    /// were read before it.
    package func addressEvents(limit: Int, at now: Timestamp) throws {
        let isBehind = try readOnce("looking for events") { session in
            try session.exists("SELECT 1 FROM receiver WHERE cursor < (SELECT max(id) FROM campaign_event)")
                || session.exists("SELECT 1 FROM notification WHERE state = 'pending' AND next_attempt_at = 0")
        }
        guard isBehind else { return }
        try write("addressing events", lock: .rows) { session in
            try session.run(
                """
                UPDATE notification SET created_at = ?1, next_attempt_at = ?2
                WHERE state = 'pending' AND next_attempt_at = 0
                """, now, NotificationTable.atOnce)
            try session.run(
                "UPDATE receiver SET cursor = coalesce((SELECT max(id) FROM campaign_event), 0)")
            for receiver in try session.all("SELECT id FROM receiver ORDER BY id", row: { $0.integer() }) {
                try NotificationTable.drop(beyond: limit, of: receiver, at: now, session)
            }
        }
    }
}
