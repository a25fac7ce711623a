// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import StoreSQL

/// Values are arrays, with one element for each row that is written.
extension CommitWriter {
    static let retire = PostgresStatement(
        sql: """
            UPDATE device AS d SET retired_at = n.dead FROM unnest($1, $2, $3) AS n (id, dead, registered)
            WHERE d.id = n.id AND \(DeadTable.dies(at: "n.dead", registered: "n.registered"))
            RETURNING d.app_id, d.id
            """)
    static let correct = PostgresStatement(
        """
        UPDATE device AS d SET environment = n.environment::smallint,
            planned_environment = coalesce(d.planned_environment, d.environment)
        FROM unnest($1, $2, $3) AS n (id, environment, registered)
        WHERE d.id = n.id AND d.registered_at = n.registered AND d.environment <> n.environment
        """)
    static let anyErased = PostgresStatement("SELECT FROM erased_device LIMIT 1")
    /// A telephone was erased while the push was on its way if its device neither has it nor is known to have had it.
    static let isErased = PostgresStatement(
        """
        SELECT n.id FROM unnest($1, $2) AS n (id, telephone)
        WHERE EXISTS (SELECT FROM erased_device AS e WHERE e.device_id = n.id)
            AND NOT EXISTS (SELECT FROM device AS d WHERE d.id = n.id AND d.telephone = n.telephone)
            AND NOT EXISTS (SELECT FROM former_telephone AS f WHERE f.telephone = n.telephone AND f.device_id = n.id)
        """)
    /// The ranges that overlap a packed batch.
    static let overlaps = PostgresStatement(
        """
        SELECT n.first, n.last FROM unnest($2, $3) AS n (first, last)
        WHERE n.last >= (SELECT b.first FROM delivery_batch AS b WHERE b.campaign_id = $1 AND b.last >= n.first
                         ORDER BY b.last LIMIT 1)
        """)
    /// OFFSET 0 makes the server look up each range by itself, instead of comparing all rows of the campaign with all
    /// ranges.
    static let rowsBetween = PostgresStatement(
        composed: """
            SELECT d.* FROM unnest($2, $3) AS n (first, last) CROSS JOIN LATERAL (
                SELECT device_id, \(RecordedOutcome.columns) FROM delivery
                WHERE campaign_id = $1 AND device_id BETWEEN n.first AND n.last OFFSET 0) AS d
            """)
    static let rowsOf = PostgresStatement(
        composed: """
            SELECT device_id, \(RecordedOutcome.columns) FROM delivery WHERE campaign_id = $1 AND device_id = ANY ($2)
            """)
    static let insertPacked = PostgresStatement(
        """
        INSERT INTO delivery_batch (campaign_id, updated_at, last, first, accepted, filtered, outcomes, telephones)
        SELECT $1, $2, n.* FROM unnest($3, $4, $5, $6, $7, $8) AS n
        """)
    static let writeRows = PostgresStatement(sql: "\(rowsWithoutUsers), telephone = excluded.telephone")
    /// For rows that keep naming their users.
    static let writeReminders = PostgresStatement(sql: rowsWithoutUsers)
    /// A row that exists keeps its user.
    private static let rowsWithoutUsers: SQL = """
        INSERT INTO delivery (campaign_id, updated_at, device_id, state, attempts, next_attempt_at, environment, again, reason,
            telephone)
        SELECT $1, $2, n.device, n.state::smallint, n.attempts, n.next, n.environment::smallint, n.again::smallint, n.reason,
            n.telephone
        FROM unnest($3, $4, $5, $6, $7, $8, $9, $10)
            AS n (device, state, attempts, next, environment, again, reason, telephone)
        ON CONFLICT (campaign_id, device_id) DO UPDATE SET updated_at = excluded.updated_at, state = excluded.state,
            attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, environment = excluded.environment,
            again = excluded.again, reason = excluded.reason
        """
    static let giveBack = PostgresStatement(
        """
        UPDATE delivery SET state = 2, reason = NULL, next_attempt_at = NULL, environment = 0, updated_at = $2, again = 0
        WHERE campaign_id = $1 AND device_id = ANY ($3)
        """)
    /// Skips a shard whose cursor is not where the batch began. ANY: without it, a plan may begin with all shards of
    /// the campaign.
    static let moveShards = PostgresStatement(
        """
        UPDATE shard AS s SET cursor = n.after, remaining = n.remaining
        FROM unnest($2, $3, $4, $5) AS n (number, before, after, remaining)
        WHERE s.campaign_id = $1 AND s.number = ANY ($2) AND s.number = n.number AND s.cursor = n.before
        """)
}
