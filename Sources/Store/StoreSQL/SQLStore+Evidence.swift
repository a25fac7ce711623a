// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import Requirements

extension SQLStore {
    package func evidence() throws -> [SourceEvidence] {
        try readOnce("reading what the app stores said") { connection in
            try connection.all(SourceEvidence.self, "FROM source_evidence ORDER BY app, platform, kind")
                .compactMap(\.self)
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

extension SourceEvidence: Selection {
    package static let columns: SQL = "app, platform, kind, query, asked_at, said"

    /// nil for a kind of app store that this release does not know: a later one wrote it.
    package static func read(_ row: inout Columns<some SQLRow>) -> SourceEvidence? {
        let (app, kind) = (row.app(), StoreKind(rawValue: row.text()))
        let (query, askedAt, said) = (row.text(), row.time(), row.text())
        return kind.map {
            SourceEvidence(key: Key(app: app, kind: $0), query: query, askedAt: askedAt, said: said)
        }
    }
}
