// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func adoptReceivers(_ receivers: [NotificationReceiver], at now: Timestamp) throws {
        // Nothing is written where nothing is new: on a full disk an operator can still reload a configuration that makes room.
        let wanted = receivers.map { [$0.url, Self.text($0.events)] }.sorted { $0[0] < $1[0] }
        let known = try readOnce("reading the receivers of notifications") { connection in
            try connection.all("SELECT url, states FROM receiver") { [$0.text(), $0.text()] }
        }
        guard wanted != known.sorted(by: { $0[0] < $1[0] }) else { return }
        for receiver in receivers { try StoreText.check(keys: receiver.url) }
        try write("storing the receivers of notifications", lock: .rows) { connection in
            let known = try connection.all("SELECT id, url FROM receiver") { ($0.integer(), $0.text()) }
            for (id, url) in known where !receivers.contains(where: { $0.url == url }) {
                try NotificationTable.drop("receiver_id = ?2", [id], at: now, connection)
                try connection.run("DELETE FROM receiver WHERE id = ?", id)
            }
            for receiver in receivers {
                try connection.run(
                    """
                    INSERT INTO receiver (url, states, cursor)
                    VALUES (?1, ?2, (SELECT coalesce(max(id), 0) FROM campaign_event))
                    ON CONFLICT (url) DO UPDATE SET states = ?2
                    """, receiver.url, Self.text(receiver.events))
            }
        }
    }

    private static func text(_ events: Set<EventType>) -> String {
        String(decoding: JSONValue.array(events.map(\.name).sorted().map(JSONValue.string)).bytes(), as: UTF8.self)
    }

    package func addressEvents(limit: Int, at now: Timestamp) throws {
        let isBehind = try readOnce("looking for events") { connection in
            try connection.exists("SELECT 1 FROM receiver WHERE cursor < (SELECT max(id) FROM campaign_event)")
        }
        guard isBehind else { return }
        try write("addressing events", lock: .rows) { connection in
            let receivers = try connection.all(
                "SELECT id, url, states, cursor, gone_at FROM receiver ORDER BY id"
            ) {
                (
                    id: $0.integer(), url: $0.text(), wants: Self.names($0.text()), cursor: $0.integer(),
                    isGone: !$0.isNull()
                )
            }
            let events = try connection.all(
                "SELECT id, state FROM campaign_event WHERE id > ? ORDER BY id", receivers.map(\.cursor).min()
            ) { (id: $0.integer(), name: NotificationTable.name($0.text())) }
            for event in events {
                for receiver in receivers
                where receiver.cursor < event.id && !receiver.isGone && receiver.wants.contains(event.name) {
                    try connection.run(
                        """
                        INSERT INTO notification (event_id, receiver_id, url, state, created_at, next_attempt_at)
                        VALUES (?1, ?2, ?3, 'pending', ?4, ?5) ON CONFLICT DO NOTHING
                        """, event.id, receiver.id, receiver.url, now, NotificationTable.atOnce)
                }
            }
            try connection.run("UPDATE receiver SET cursor = (SELECT max(id) FROM campaign_event)")
            for receiver in receivers {
                try NotificationTable.drop(beyond: limit, of: receiver.id, at: now, connection)
            }
        }
    }

    static func names(_ text: String) -> Set<String> {
        Set(((try? JSONReader.read(Array(text.utf8)))?.array ?? []).compactMap(\.string))
    }

    package func dueNotification(for url: String, at now: Timestamp) throws -> DueNotification? {
        try read("looking for a notification") { connection in
            let far = now + NotificationSchedule.longestWait
            func first(where isDue: SQL) throws -> (row: Int64, attempts: Int, event: Int64)? {
                try connection.first(
                    """
                    SELECT n.id, n.attempts, n.event_id FROM receiver AS r
                        JOIN notification AS n ON n.receiver_id = r.id AND n.state = 'pending' AND \(isDue)
                    WHERE r.url = ?1 AND r.gone_at IS NULL
                        AND (r.held_until IS NULL OR r.held_until <= ?2 OR r.held_until > ?3)
                    ORDER BY n.next_attempt_at, n.event_id LIMIT 1
                    """, url, now, far
                ) { (row: $0.integer(), attempts: Int($0.integer()), event: $0.integer()) }
            }
            let due = try first(where: "n.next_attempt_at <= ?2") ?? first(where: "n.next_attempt_at > ?3")
            guard let due, let event = try NotificationTable.event(due.event, connection) else { return nil }
            return DueNotification(row: due.row, attempts: due.attempts, event: event)
        }
    }

    package func noteLongWaits(since time: Timestamp, at now: Timestamp) throws {
        let late = try readOnce("looking for what waits long") { connection in
            try connection.all(NotificationTable.waitsLong, time) { CampaignKey(row: $0.integer()) }
        }
        for campaign in late {
            try write("noting what waits long", lock: .campaign(campaign)) { connection in
                // The campaign may have begun since, or another relay may have noted the wait.
                guard try connection.exists("\(NotificationTable.waitsLong) AND c.id = ?2", time, campaign.row) else {
                    return
                }
                try ChangeTable.write(.waitsLong, of: campaign, at: now, connection)
            }
        }
    }

    package func record(
        _ attempt: NotificationRecord.Attempt, of row: Int64, then verdict: NotificationVerdict, at now: Timestamp
    ) throws {
        try write("recording an attempt to notify", lock: .rows) { connection in
            // The notification may have been dropped while the attempt was on its way: the attempt is recorded all the same.
            try connection.run(
                """
                INSERT INTO notification_attempt (notification_id, number, at, milliseconds, status, error)
                SELECT id, ?, ?, ?, ?, ? FROM notification WHERE id = ?
                ON CONFLICT (notification_id, number) DO UPDATE SET at = excluded.at,
                    milliseconds = excluded.milliseconds, status = excluded.status, error = excluded.error
                """, attempt.number, attempt.at, attempt.milliseconds, attempt.status, attempt.error, row)
            var (state, next) = (NotificationRecord.State.delivered, Timestamp?.none)
            switch verdict {
            case .delivered: break
            case .retry(let at, let holdUntil):
                (state, next) = (.pending, at)
                if let holdUntil {
                    try connection.run(
                        """
                        UPDATE receiver SET held_until = ?
                        WHERE id = (SELECT receiver_id FROM notification WHERE id = ?)
                        """, holdUntil, row)
                }
            case .giveUp: state = .failed
            case .disable: state = .dropped
            }
            try connection.run(
                """
                UPDATE notification SET attempts = ?, state = ?, next_attempt_at = ?, ended_at = ?
                WHERE id = ? AND state = 'pending'
                """, attempt.number, state.rawValue, next, state == .pending ? nil : now, row)
            guard verdict == .disable else { return }
            try connection.run(
                "UPDATE receiver SET gone_at = ? WHERE id = (SELECT receiver_id FROM notification WHERE id = ?)",
                now, row)
            try NotificationTable.drop(
                "receiver_id = (SELECT receiver_id FROM notification WHERE id = ?2)", [row], at: now,
                connection)
        }
    }

    package func notifications(
        campaign: String?, state: NotificationRecord.State?, before: Int64?, limit: Int
    ) throws -> [NotificationRecord] {
        try read("listing notifications") { connection in
            let found = try connection.all(
                """
                SELECT n.id, e.public_id, e.state, a.name, a.platform, c.public_id, n.url, n.state, n.created_at,
                    n.next_attempt_at
                FROM notification AS n JOIN campaign_event AS e ON e.id = n.event_id
                    LEFT JOIN campaign AS c ON c.id = e.campaign_id
                    LEFT JOIN app AS a ON a.id = coalesce(e.app_id, c.app_id)
                WHERE n.id < ?1 AND (c.public_id = ?2 OR ?2 IS NULL) AND (n.state = ?3 OR ?3 IS NULL)
                ORDER BY n.id DESC LIMIT ?4
                """, before ?? .max, campaign, state?.rawValue, max(limit, 0)
            ) { row in
                let (id, publicID, state) = (row.integer(), row.text(), row.text())
                var record = NotificationRecord(
                    row: id, id: publicID, type: NotificationTable.type(state)?.rawValue ?? state, app: row.app(),
                    campaign: row.optionalText(), url: row.text(),
                    state: NotificationRecord.State(rawValue: row.text()) ?? .dropped, createdAt: row.time(),
                    nextAttemptAt: row.optionalTime(), attempts: [])
                // A first attempt is due as soon as the notification exists.
                record.nextAttemptAt = record.nextAttemptAt.map { max($0, record.createdAt) }
                return record
            }
            return try found.map { notification in
                var notification = notification
                notification.attempts = try NotificationTable.attempts(of: notification.row, connection)
                return notification
            }
        }
    }

    @discardableResult
    package func forgetNotifications(before time: Timestamp) throws -> Int64 {
        try write("forgetting old notifications", lock: .rows) { connection in
            let ended = try connection.run("DELETE FROM notification WHERE ended_at < ?", time)
            // Events are few: some for each campaign.
            let events = try connection.run(
                """
                DELETE FROM campaign_event WHERE at < ? AND id <= coalesce((SELECT min(cursor) FROM receiver), id)
                    AND NOT EXISTS (SELECT 1 FROM notification WHERE event_id = campaign_event.id)
                """, time)
            return Int64(ended + events)
        }
    }
}

/// The tables `notification`, `notification_attempt` and `campaign_event`.
package enum NotificationTable {
    /// `next_attempt_at` of a first attempt, in milliseconds: long past. A clock that is set back neither delays it nor lets
    /// a younger event overtake it. 0 marks an event that PostgreSQL's schema has addressed and the relay has not dated.
    package static let atOnce = Timestamp(milliseconds: 1)

    /// The campaigns `c` that have waited since ?1 or longer, without a note of that.
    static let waitsLong: SQL = """
        SELECT c.id FROM campaign AS c WHERE c.state = 'waiting' AND NOT EXISTS (
            SELECT 1 FROM campaign_event AS e WHERE e.campaign_id = c.id
                AND (e.state = 'waiting waitsLong' OR e.state = 'waiting' AND e.at > ?1)
                AND e.id >= coalesce((SELECT max(b.id) FROM campaign_event AS b
                                      WHERE b.campaign_id = c.id AND b.state = 'waiting'), 0))
        """

    /// Notes an event of a campaign, with the campaign as it is now. The column `state` has the campaign's state,
    /// followed by the event's name unless the event is that state.
    package static func note(
        _ type: EventType, of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        guard let state = try CampaignTable.state(of: campaign, connection) else { return }
        let name = type.state == nil ? "\(state.rawValue) \(type.name)" : type.name
        // The first state of a campaign that is superseded by the decision that makes it.
        let isPast = type.state != nil && type.state != state
        let reasons = try connection.all(
            "SELECT kind, reason, devices FROM campaign_reason WHERE campaign_id = ? AND devices > 0", campaign.row
        ) { JSONValue.array([.string($0.text()), .string($0.text()), .integer($0.integer())]) }
        try connection.run(
            """
            INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
                planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled, upgraded,
                reasons, in_force)
            SELECT \(connection.dialect.randomID), c.id, ?2, ?3, c.reason, c.started_at, c.finished_at, c.expires_at, c.planned_at,
                CASE WHEN c.finished_at IS NOT NULL THEN 0 ELSE \(CampaignTable.notReached("c")) END, n.accepted,
                CASE WHEN \(CampaignTable.isLeftOut("c")) THEN 0 ELSE n.retrying END, n.rejected, n.unregistered,
                n.expired, n.filtered, n.cancelled + \(CampaignTable.leftOut("c")), \(isPast ? "0" : "c.upgraded"), ?4,
                (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
                 WHERE a.id = c.app_id AND r.kind = 'required' AND r.state <> 'withdrawn' AND r.state = 'in_force'
                    AND r.reach = 10000 ORDER BY r.version_key DESC LIMIT 1)
            FROM \(isPast ? CampaignTable.asMade : "campaign") AS c JOIN campaign_run AS n ON n.campaign_id = c.id WHERE c.id = ?1
            """, campaign.row, now, name,
            String(decoding: JSONValue.array(reasons).bytes(), as: UTF8.self))
    }

    /// Notes an event of an app.
    ///
    /// - Parameter subject: the event's details, which `eventOfApp` reads.
    static func note(
        _ type: EventType, of app: Int64, _ subject: JSONValue, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            INSERT INTO campaign_event (public_id, app_id, at, state, subject, expires_at, pending, accepted, retrying, rejected,
                unregistered, expired, filtered, cancelled, upgraded, reasons)
            VALUES (\(connection.dialect.randomID), ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '[]')
            """, app, now, type.name, String(decoding: subject.bytes(), as: UTF8.self))
    }

    static func type(_ text: String) -> EventType? { EventType(name: name(text)) }

    /// The event's name in the column `state`.
    static func name(_ text: String) -> String { text.split(separator: " ").last.map(String.init) ?? "" }

    /// Drops the pending notifications that meet `condition`, whose values count from ?2.
    static func drop(_ condition: SQL, _ values: [(any SQLValue)?], at now: Timestamp, _ connection: some SQLConnection)
        throws
    {
        try connection.run(
            """
            UPDATE notification SET state = 'dropped', next_attempt_at = NULL, ended_at = ?1
            WHERE state = 'pending' AND \(condition)
            """, values: [now] + values)
    }

    /// Drops a receiver's oldest pending notifications beyond `limit`.
    package static func drop(
        beyond limit: Int, of receiver: Int64, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        try drop(
            """
            receiver_id = ?2 AND id IN (SELECT id FROM notification WHERE receiver_id = ?2 AND state = 'pending'
                                        ORDER BY event_id DESC LIMIT ?4 OFFSET ?3)
            """, [receiver, limit, Int64.max], at: now, connection)
    }

    static func attempts(of row: Int64, _ connection: some SQLConnection) throws -> [NotificationRecord.Attempt] {
        try connection.all(
            """
            SELECT number, at, milliseconds, status, error FROM notification_attempt WHERE notification_id = ?
            ORDER BY number
            """, row
        ) { row in
            NotificationRecord.Attempt(
                number: Int(row.integer()), at: row.time(), milliseconds: row.integer(),
                status: row.optionalInteger().map { Int($0) }, error: row.optionalText())
        }
    }

    /// The event with the campaign as it was at that time.
    static func event(_ id: Int64, _ connection: some SQLConnection) throws -> RelayEvent? {
        if let event = try eventOfApp(id, connection) { return event }
        let row = try connection.first(
            """
            SELECT public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at, planned_at,
                \(CampaignCounts.columns), upgraded, reasons, in_force
            FROM campaign_event WHERE id = ?
            """, id
        ) { row in
            (
                id: row.text(), campaign: CampaignKey(row: row.integer()), at: row.time(), state: row.text(),
                reason: row.optionalText(), startedAt: row.optionalTime(), finishedAt: row.optionalTime(),
                expiresAt: row.time(), isPlanned: !row.isNull(), counts: CampaignCounts.read(&row),
                upgraded: row.integer(), reasons: row.text(), inForce: row.version()
            )
        }
        guard let row, let state = CampaignState(rawValue: String(row.state.prefix { $0 != " " })),
            let type = type(row.state),
            var campaign = try CampaignTable.record(row.campaign, connection)
        else { return nil }
        (campaign.facts.state, campaign.facts.reason, campaign.inForce) = (state, row.reason, row.inForce)
        (campaign.facts.startedAt, campaign.facts.finishedAt) = (row.startedAt, row.finishedAt)
        campaign.facts.expiresAt = row.expiresAt
        (campaign.figures.counts, campaign.figures.upgraded) = (row.counts, row.upgraded)
        campaign.figures.isPlanned = row.isPlanned
        (campaign.figures.filteredBy, campaign.figures.rejectedBy, campaign.figures.channels) = ([:], [:], [:])
        for entry in (try? JSONReader.read(Array(row.reasons.utf8)))?.array ?? [] {
            guard let entry = entry.array, entry.count == 3, let kind = entry[0].string, let reason = entry[1].string,
                let devices = entry[2].integer
            else { continue }
            campaign.figures.note(kind, reason, devices)
        }
        return RelayEvent(id: row.id, type: type, at: row.at, subject: .campaign(campaign))
    }
}
