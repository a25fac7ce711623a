// SPDX-License-Identifier: Apache-2.0

/// A connection to a database within one call of the store, in the form that the statements shared by all drivers use.
///
/// Parameters are written as in SQLite: `?` has the number after the highest so far, `?3` is the third. PostgreSQL
/// takes a parameter's type from its first place, which must not be in CASE, nor before IS NULL. A statement is
/// compiled at its first use and kept by its text.
package protocol SQLConnection {
    associatedtype Row: SQLRow

    var dialect: SQLDialect { get }

    /// Runs one statement; returns how many rows it changed, triggers not counted.
    @discardableResult
    func run(_ sql: SQL, values: [(any SQLValue)?]) throws -> Int

    /// Passes the first `limit` rows of `sql` to `body`, one after the other.
    func rows(_ sql: SQL, values: [(any SQLValue)?], atMost limit: Int, _ body: (Row) throws -> Void) throws
}

/// Inlinable, so that a driver reads its rows with its own code.
extension SQLConnection {
    @discardableResult
    package func run(_ sql: SQL, _ values: (any SQLValue)?...) throws -> Int { try run(sql, values: values) }

    /// Reads each row of `sql`. `row` must read all columns: a debug build traps otherwise.
    @inlinable
    package func each(
        _ sql: SQL, values: [(any SQLValue)?], atMost limit: Int = .max, row: (inout Columns<Row>) throws -> Void
    ) throws {
        try rows(sql, values: values, atMost: limit) { found in
            var columns = found.columns
            try row(&columns)
            assert(columns.areRead, "not all columns were read of \(sql)")
        }
    }

    @inlinable
    package func each(
        _ sql: SQL, _ values: (any SQLValue)?..., row: (inout Columns<Row>) throws -> Void
    ) throws {
        try each(sql, values: values, row: row)
    }

    /// Every row of `sql`.
    @inlinable
    package func all<R>(
        _ sql: SQL, _ values: (any SQLValue)?..., row: (inout Columns<Row>) throws -> R
    ) throws -> [R] {
        try all(sql, values: values, row: row)
    }

    @inlinable
    package func all<R>(
        _ sql: SQL, values: [(any SQLValue)?], row: (inout Columns<Row>) throws -> R
    ) throws -> [R] {
        var all: [R] = []
        try each(sql, values: values) { all.append(try row(&$0)) }
        return all
    }

    /// The first row of `sql`.
    @inlinable
    package func first<R>(
        _ sql: SQL, _ values: (any SQLValue)?..., row: (inout Columns<Row>) throws -> R
    ) throws -> R? {
        try first(sql, values: values, row: row)
    }

    @inlinable
    package func first<R>(
        _ sql: SQL, values: [(any SQLValue)?], row: (inout Columns<Row>) throws -> R
    ) throws -> R? {
        var first: R?
        try each(sql, values: values, atMost: 1) { first = try row(&$0) }
        return first
    }

    /// The number in the only column of the first row.
    @inlinable
    package func integer(_ sql: SQL, _ values: (any SQLValue)?...) throws -> Int64? {
        try first(sql, values: values) { $0.integer() }
    }

    /// Inserts a row; returns the number that `sql` has behind RETURNING. Steps to the end of the statement: only there
    /// does SQLite report that a row refers to one that does not exist.
    @inlinable
    package func insert(_ sql: SQL, _ values: (any SQLValue)?...) throws -> Int64 {
        try insert(sql, values: values)
    }

    package func insert(_ sql: SQL, values: [(any SQLValue)?]) throws -> Int64 {
        try all(sql, values: values) { $0.integer() }.first ?? 0
    }

    /// Whether `sql` gives a row.
    @inlinable
    package func exists(_ sql: SQL, _ values: (any SQLValue)?...) throws -> Bool {
        var isThere = false
        try rows(sql, values: values, atMost: 1) { _ in isThere = true }
        return isThere
    }
}
