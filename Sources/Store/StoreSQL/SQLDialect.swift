// SPDX-License-Identifier: Apache-2.0

/// The differences between SQLite's and PostgreSQL's language. They are few: both have RETURNING, ON CONFLICT, IS
/// DISTINCT FROM and CASE; a boolean is bound and stored as 0 or 1, and a sum is cast.
package enum SQLDialect: Sendable {
    case sqlite
    case postgres

    /// After a table: reads it by this index. PostgreSQL's planner goes by its statistics.
    package func indexed(by index: SQL) -> SQL { self == .sqlite ? "INDEXED BY \(index)" : "" }

    /// After a table: reads it in the order of its key.
    package var notIndexed: SQL { self == .sqlite ? "NOT INDEXED" : "" }

    /// An inner join whose left side is the outer loop (sqlite.org/optoverview.html, on manual control of query plans).
    package var join: SQL { self == .sqlite ? "CROSS JOIN" : "JOIN" }

    /// After a query: keeps others from changing its rows until the end of the transaction. SQLite has one writer.
    package var forUpdate: SQL { self == .sqlite ? "" : "FOR UPDATE" }

    /// The store's own clock, in milliseconds; `?1` is `SQLStore.storeClock`.
    package var now: SQL { self == .sqlite ? "?1" : "coalesce(CAST(?1 AS bigint), now_ms())" }

    /// The database's own clock, in milliseconds since 1970.
    package var wallClock: SQL {
        self == .sqlite ? "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)" : "now_ms()"
    }

    /// The step of the schema that a release must know to work on it. SQLite's file has one process, which checks the
    /// step when it opens the file.
    package var oldestStep: SQL { self == .sqlite ? "0" : "(SELECT oldest FROM store_schema)" }

    /// 32 random hex digits.
    package var randomID: SQL {
        self == .sqlite ? "lower(hex(randomblob(16)))" : "replace(CAST(gen_random_uuid() AS text), '-', '')"
    }
}
