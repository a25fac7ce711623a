// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// The table `token_doubt`: recent answers of push services against tokens.
package enum TokenDoubtTable {
    package static func put(_ doubt: TokenDoubt, of campaign: CampaignKey, _ connection: some SQLConnection) throws {
        let judged = doubt.judged
        guard judged != JudgedAnswers() else {
            try connection.run(
                """
                DELETE FROM token_doubt
                WHERE app_id = (SELECT app_id FROM campaign WHERE id = ?) AND environment = ? AND kind = ?
                """, campaign.row, doubt.channel, doubt.kind)
            return
        }
        try connection.run(
            """
            INSERT INTO token_doubt (app_id, environment, kind, answers, against, is_suspect)
            SELECT app_id, ?, ?, ?, ?, ? FROM campaign WHERE id = ?
            ON CONFLICT (app_id, environment, kind) DO UPDATE
                SET answers = excluded.answers, against = excluded.against, is_suspect = excluded.is_suspect
            """, doubt.channel, doubt.kind, judged.answers, judged.against, judged.isSuspect, campaign.row)
    }
}

extension SQLStore {
    package func tokenDoubts(of app: AppKey, channel: Channel) throws -> [TokenDoubt] {
        try read("reading what was said against tokens") { connection in
            try connection.all(
                """
                SELECT d.kind, d.answers, d.against, d.is_suspect FROM token_doubt AS d JOIN app AS a ON a.id = d.app_id
                WHERE a.name = ? AND a.platform = ? AND d.environment = ? ORDER BY d.kind
                """, app.app, app.platform, channel
            ) { row in
                TokenDoubt(
                    channel, row.integer() == 0 ? .dead : .moved,
                    JudgedAnswers(
                        answers: Int(row.integer()), against: Int(row.integer()), isSuspect: row.bool()))
            }
        }
    }
}
