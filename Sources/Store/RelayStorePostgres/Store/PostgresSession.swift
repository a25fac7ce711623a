// SPDX-License-Identifier: Apache-2.0
import CPostgres
import RelayEngine
import RelayStore
package import StoreSQL

/// A connection within one call of the store, in the form that the statements shared by all drivers use.
package struct PostgresSession: SQLConnection {
    let connection: PostgresConnection
    let deadline: MonotonicTime
    /// Whether the call changes nothing.
    var isReadOnly = false

    package var dialect: SQLDialect { .postgres }

    @discardableResult
    package func run(_ sql: SQL, values: [(any SQLValue)?]) throws -> Int {
        try connection.run(sql, values: values, isReadOnly: isReadOnly, until: deadline).affected
    }

    package func rows(
        _ sql: SQL, values: [(any SQLValue)?], atMost limit: Int, _ body: (PostgresRow) throws -> Void
    ) throws {
        let found = try connection.run(
            limit == 1 ? sql.first : sql, values: values, isReadOnly: isReadOnly, until: deadline)
        for row in 0..<min(found.count, limit) { try found.withRow(row, body) }
    }

    /// Runs a statement of this driver's own, whose parameters have their types.
    @discardableResult
    func run(
        _ statement: PostgresStatement, _ fill: (inout PostgresParameters) -> Void
    ) throws(PostgresFailure) -> PostgresRows {
        try connection.run(statement, until: deadline, fill)
    }
}

extension SQL {
    /// The same query, limited to one row by the server: libpq would take all rows.
    fileprivate var first: SQL {
        guard text.hasPrefix("SELECT"), !text.contains("LIMIT") else { return self }
        return "SELECT * FROM (\(self)) AS found LIMIT 1"
    }
}

extension Columns<PostgresRow> {
    /// The next column as text: every column of a script's result is text.
    mutating func written() -> String { String(decoding: blob(), as: UTF8.self) }
}

/// A row of a result, valid only as long as the result: a closure that is lent a row must not keep it.
@safe package struct PostgresRow: SQLRow {
    private let result: OpaquePointer
    private let row: Int32

    @unsafe init(_ result: OpaquePointer, _ row: Int) {
        unsafe self.result = result
        self.row = Int32(row)
    }

    package var columnCount: Int32 { unsafe relay_PQnfields(result) }

    package func isNull(_ column: Int32) -> Bool { unsafe relay_PQgetisnull(result, row, column) == 1 }

    package func integer(_ column: Int32) -> Int64 {
        unsafe withBytes(column) { unsafe PostgresRows.integer($0, column) }
    }

    /// The column as text; a token is stored as bytes, and is unpacked.
    package func optionalText(_ column: Int32) -> String? {
        guard !isNull(column) else { return nil }
        return unsafe withBytes(column) { bytes in
            switch unsafe PostgresType(rawValue: relay_PQftype(result, column)) {
            case .bytea: unsafe PackedToken.text(bytes)
            case .bool, .int2, .int4, .int8: String(unsafe PostgresRows.integer(bytes, column))
            default: ErasedTelephone.read(unsafe String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    package func blob(_ column: Int32) -> [UInt8] { unsafe withBytes(column) { unsafe [UInt8]($0) } }

    package func append(_ column: Int32, to bytes: inout [UInt8]) {
        unsafe withBytes(column) { unsafe bytes.append(contentsOf: $0) }
    }

    @inline(__always)
    private func withBytes<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let count = unsafe Int(relay_PQgetlength(result, row, column))
        return unsafe try body(UnsafeRawBufferPointer(start: relay_PQgetvalue(result, row, column), count: count))
    }
}
