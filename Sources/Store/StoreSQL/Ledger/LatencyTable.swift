// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// The table `campaign_latency`: a histogram for each stretch of time of a campaign.
package enum LatencyTable {
    /// Adds the answers of batches, within the transaction that records their outcomes: one statement for each stretch.
    package static func add(
        _ batches: some Sequence<LedgerCommit>, to campaign: CampaignKey, _ connection: some SQLConnection
    ) throws {
        for stretch in LatencyCourse.merged(batches.compactMap(\.latency), over: .zero) {
            let values: [(any SQLValue)?] = [campaign.row, stretch.from, stretch.length.milliseconds / 1000]
            try connection.run(insertion, values: values + stretch.latency.counts.map { Int64($0) })
        }
    }

    private static let insertion: SQL = """
        INSERT INTO campaign_latency AS l (campaign_id, at, seconds, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12,
            b13, b14, b15, b16, b17)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (campaign_id, at, seconds) DO UPDATE SET b0 = l.b0 + excluded.b0, b1 = l.b1 + excluded.b1,
            b2 = l.b2 + excluded.b2, b3 = l.b3 + excluded.b3, b4 = l.b4 + excluded.b4, b5 = l.b5 + excluded.b5,
            b6 = l.b6 + excluded.b6, b7 = l.b7 + excluded.b7, b8 = l.b8 + excluded.b8, b9 = l.b9 + excluded.b9,
            b10 = l.b10 + excluded.b10, b11 = l.b11 + excluded.b11, b12 = l.b12 + excluded.b12, b13 = l.b13 + excluded.b13,
            b14 = l.b14 + excluded.b14, b15 = l.b15 + excluded.b15, b16 = l.b16 + excluded.b16, b17 = l.b17 + excluded.b17
        """

    fileprivate static func stretches(
        of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> [LatencyStretch] {
        try connection.all(
            """
            SELECT at, seconds, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17
            FROM campaign_latency WHERE campaign_id = ? ORDER BY at, seconds
            """, campaign.row
        ) { row in
            let (from, seconds) = (row.time(), row.integer())
            let counts = (0..<LatencyHistogram.bucketCount).map { _ in Int(row.integer()) }
            return LatencyStretch(from: from, length: .seconds(seconds), latency: LatencyHistogram(counts: counts))
        }
    }
}

extension SQLStore {
    package func latency(of campaign: CampaignKey) throws -> [LatencyStretch] {
        try read("reading how long a campaign's answers took") { try LatencyTable.stretches(of: campaign, $0) }
    }
}
