// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// A record that SELECTs read from any source: its columns, and how a row of them is read, in the same order.
package protocol Selection {
    associatedtype Record = Self

    static var columns: SQL { get }

    /// Reads all of the columns, and none that may follow.
    static func read(_ row: inout Columns<some SQLRow>) -> Record
}

extension SQLConnection {
    /// Every record of a SELECT.
    ///
    /// - Parameter source: the text behind the columns: FROM and so on.
    @inlinable
    package func all<S: Selection>(
        _ selection: S.Type, _ source: SQL, _ values: (any SQLValue)?...
    ) throws -> [S.Record] {
        try all("SELECT \(S.columns) \(source)", values: values) { S.read(&$0) }
    }

    @inlinable
    package func all<S: Selection>(
        _ selection: S.Type, _ source: SQL, values: [(any SQLValue)?]
    ) throws -> [S.Record] {
        try all("SELECT \(S.columns) \(source)", values: values) { S.read(&$0) }
    }

    /// The first record of a SELECT.
    @inlinable
    package func first<S: Selection>(
        _ selection: S.Type, _ source: SQL, _ values: (any SQLValue)?...
    ) throws -> S.Record? {
        try first("SELECT \(S.columns) \(source)", values: values) { S.read(&$0) }
    }
}

extension StoreRelease: Selection {
    /// Columns of `release`.
    package static let columns: SQL = "name, schema_version, opened_at"

    package static func read(_ row: inout Columns<some SQLRow>) -> StoreRelease {
        StoreRelease(release: row.text(), schemaVersion: Int(row.integer()), openedAt: row.time())
    }
}
