// SPDX-License-Identifier: Apache-2.0
import CTexts

extension Migration {
    /// Every step there ever was.
    static let chain =
        released + [
            Migration(name: "one record of what is required", toVersion: 16, sql: RequirementSchema.sql),
            Migration(name: "what devices say at login", toVersion: 17, sql: logins),
            Migration(name: "dead tokens that a person accepted", toVersion: 18, sql: acceptedDeadTokens),
            // NULL: all of them, as older releases took it.
            Migration(
                name: "which server wants a pause of a key", toVersion: 19,
                sql: "ALTER TABLE provider_token ADD COLUMN paused_by TEXT"),
        ]

    /// Stores out there have run them, so they are texts that nobody edits, and that no change of today's statements changes. The
    /// comments inside stay in the database.
    private static let released: [Migration] = {
        let names = [
            "the first schema",
            "version codes, alerts, versions seen",
            "pruned campaigns, the outbox of notifications",
            "a compact ledger",
            "campaigns in waves",
            "pauses of provider tokens",
            "shards and retries by push environment",
            "apps of API tokens, digests of webhooks",
            "what is in force, beside what is required",
            "who obeyed, over time",
            "campaigns that are sent again",
            "texts of the latest version",
            "versions that were withdrawn",
            "campaigns that begin with a canary",
            "why campaigns stood still",
        ]
        let bytes = unsafe UnsafeRawBufferPointer(start: relay_schema_steps(), count: relay_schema_steps_size())
        let texts = unsafe Array(bytes).split(separator: 0)
        return zip(names, texts).enumerated().map { place, step in
            Migration(name: step.0, toVersion: place + 1, sql: SQL(typed: String(decoding: step.1, as: UTF8.self)))
        }
    }()

    /// Until then it was found in the texts of the campaign's events.
    private static let acceptedDeadTokens: SQL = """
        -- 1 where a person resumed it after nearly all of its tokens were called dead: they are removed then.
        ALTER TABLE campaign ADD COLUMN accepts_dead INTEGER NOT NULL DEFAULT 0 CHECK (accepts_dead IN (0, 1));
        UPDATE campaign SET accepts_dead = 1 WHERE cause IS NOT 'deadTokens' AND id IN (
            SELECT campaign_id FROM campaign_event WHERE state = 'suspended' AND reason LIKE '%none was given up%');
        DROP INDEX campaign_event_suspended;
        """

    private static let logins: SQL = """
        -- When the device told its version at login; NULL: not since this column came, or as it was registered.
        ALTER TABLE device ADD COLUMN seen_at INTEGER;
        -- Devices that were told at login and had come up to the requirement before the campaign came to them: how many, and
        -- which they are.
        ALTER TABLE campaign ADD COLUMN upgraded_early INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_early >= 0);
        ALTER TABLE campaign_told ADD COLUMN upgraded INTEGER NOT NULL DEFAULT 0 CHECK (upgraded IN (0, 1));
        -- Its texts were those of the newest version.
        DROP VIEW version_now;
        \(VersionDoor.view)
        """
}
