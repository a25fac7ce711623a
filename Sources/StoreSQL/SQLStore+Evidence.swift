// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore

extension SQLStore {
    package func evidence() throws -> [SourceEvidence] {
        try readOnce("reading what the app stores said") { connection in
            try connection.all(
                "SELECT app, platform, kind, query, asked_at, said FROM source_evidence ORDER BY app, platform, kind",
                row: { SourceEvidence($0) }
            ).compactMap(\.self)
        }
    }

    package func keepEvidence(_ evidence: SourceEvidence) throws {
        let app = evidence.key.app
        try StoreText.check(keys: app.app)
        _ = try write("keeping what an app store said", lock: .rows) { connection in
            try connection.run(
                """
                INSERT INTO source_evidence (app, platform, kind, query, asked_at, said) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (app, platform, kind) DO UPDATE
                    SET query = excluded.query, asked_at = excluded.asked_at, said = excluded.said
                """, app.app, app.platform, evidence.key.kind, evidence.query, evidence.askedAt, evidence.said)
        }
    }

    package func forgetEvidence(_ key: SourceEvidence.Key) throws {
        _ = try write("forgetting what an app store said", lock: .rows) { connection in
            try connection.run(
                "DELETE FROM source_evidence WHERE app = ? AND platform = ? AND kind = ?", key.app.app,
                key.app.platform, key.kind)
        }
    }
}

extension SourceEvidence {
    /// nil where the schema knows a store that this release does not: a later one wrote it.
    fileprivate init?(_ row: some SQLRow) {
        guard let kind = StoreKind(rawValue: row.text(2)) else { return nil }
        self.init(
            key: Key(app: AppKey(app: row.text(0), platform: row.platform(1)), kind: kind), query: row.text(3),
            askedAt: row.time(4), said: row.text(5))
    }
}
