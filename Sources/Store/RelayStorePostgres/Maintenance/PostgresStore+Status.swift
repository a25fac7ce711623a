// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import StoreSQL
import Synchronization
import Threading

extension PostgresStore {
    package func status() throws -> StoreStatus {
        try read("reading the store's status") { session in
            let applied = try session.all("SELECT version, applied_at FROM migration ORDER BY version") {
                (version: Int($0.integer()), at: $0.time())
            }
            let releases = try session.all(StoreRelease.self, "FROM release ORDER BY id")
            // Includes indexes and TOAST tables.
            let size = try session.integer(
                """
                SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint)
                FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE n.nspname = ? AND c.relkind = 'r'
                """, schema.name)
            let times = Dictionary(applied.map { ($0.version, $0.at) }, uniquingKeysWith: { $1 })
            return StoreStatus(
                path: "\(pool.place), schema \(schema.name)", size: size ?? 0,
                schemaVersion: applied.last?.version ?? 0, newestSchemaVersion: schema.newest,
                chain: schema.chain.map {
                    StoreStep(version: $0.toVersion, name: $0.name, appliedAt: times[$0.toVersion])
                },
                firstInstalled: releases.first, current: releases.last)
        }
    }

    /// Has nothing about the server's disk, which the relay cannot see.
    package func figures() -> StoreFigures { tally.withLock { $0 } }

    /// Each app has a row whose revision rises with each decision and each request. Changes by this relay count, too. The
    /// server is asked where something may have changed (`awaitNews`), and every two seconds (`Options.longestSilence`).
    package func changeMark() throws -> Int64 {
        guard options.longestSilence > .zero else { return try askForMark() }
        let now = MonotonicClock.now()
        let (known, doubts) = watch.withLock { ($0.mark(at: now), $0.doubts) }
        if let known { return known }
        let mark = try askForMark()
        watch.withLock { $0.found(mark, doubts: doubts, at: now) }
        return mark
    }

    private func askForMark() throws -> Int64 {
        try readOnce("asking for changes by others") { session in
            try session.integer("SELECT CAST(coalesce(sum(revision), 0) AS bigint) FROM version") ?? 0
        }
    }

    package func snapshot(progress: (BackupProgress) -> Bool) throws -> any StoreSnapshot {
        throw PostgresDatabase.refusal(schema.name)
    }
}
