// SPDX-License-Identifier: Apache-2.0
import CPostgres
import RelayEngine
import StoreSQL

/// A statement's result: rows in binary, in libpq's memory, which is freed with this. Rows and columns count from 0.
///
/// A column is read as the type that the statement gives it; another type is a fault of the program, and ends it.
@safe struct PostgresRows: ~Copyable {
    private let result: OpaquePointer
    let count: Int

    /// Takes the result over.
    init(_ result: OpaquePointer) {
        unsafe self.result = result
        count = unsafe Int(relay_PQntuples(result))
    }

    deinit { unsafe relay_PQclear(result) }

    var isEmpty: Bool { count == 0 }

    var columnCount: Int { unsafe Int(relay_PQnfields(result)) }

    /// How many rows an INSERT, UPDATE or DELETE changed, a SELECT gave, or a COPY took.
    var affected: Int { unsafe Int(String(cString: relay_PQcmdTuples(result))) ?? 0 }

    /// The parameter types of the described statement.
    var parameterTypes: [UInt32] {
        unsafe (0..<relay_PQnparams(result)).map { unsafe relay_PQparamtype(result, $0) }
    }

    /// Lends a row until `body` returns.
    func withRow<R>(_ row: Int, _ body: (PostgresRow) throws -> R) rethrows -> R {
        unsafe try body(PostgresRow(result, row))
    }

    /// Reads each row. `body` must read all columns: a debug build traps otherwise.
    func each(_ body: (inout Columns<PostgresRow>) throws -> Void) rethrows {
        for row in 0..<count { try read(row, body) }
    }

    func all<R>(_ body: (inout Columns<PostgresRow>) throws -> R) rethrows -> [R] {
        try (0..<count).map { try read($0, body) }
    }

    /// Reads the first row; nil where there is none.
    func first<R>(_ body: (inout Columns<PostgresRow>) throws -> R) rethrows -> R? {
        isEmpty ? nil : try read(0, body)
    }

    private func read<R>(_ row: Int, _ body: (inout Columns<PostgresRow>) throws -> R) rethrows -> R {
        var columns = unsafe PostgresRow(result, row).columns
        let value = try body(&columns)
        assert(columns.areRead, "not all columns of a row were read")
        return value
    }

    func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe relay_PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// Lends the value's bytes until `body` returns; empty for NULL.
    @inline(__always)
    func withBytes<R>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let (row, column) = (Int32(row), Int32(column))
        let count = unsafe Int(relay_PQgetlength(result, row, column))
        return unsafe try body(UnsafeRawBufferPointer(start: relay_PQgetvalue(result, row, column), count: count))
    }

    /// A bigint, an integer, a smallint or a boolean; 0 for NULL.
    @inline(__always)
    func integer(_ row: Int, _ column: Int) -> Int64 {
        unsafe withBytes(row, column) { unsafe Self.integer($0, column) }
    }

    @inline(__always)
    func channel(_ row: Int, _ column: Int) -> Channel {
        Channel(rawValue: UInt8(truncatingIfNeeded: integer(row, column)))
    }

    @inline(__always)
    static func integer(_ bytes: UnsafeRawBufferPointer, _ column: some BinaryInteger) -> Int64 {
        switch bytes.count {
        case 8: unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 2: unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 1: unsafe Int64(bytes[0])
        case 0: 0
        default: preconditionFailure("column \(column) is no integer")
        }
    }

    func optionalInteger(_ row: Int, _ column: Int) -> Int64? {
        isNull(row, column) ? nil : integer(row, column)
    }

    /// false for NULL.
    func bool(_ row: Int, _ column: Int) -> Bool {
        unsafe withBytes(row, column) { unsafe $0.first == 1 }
    }

    func text(_ row: Int, _ column: Int) -> String {
        unsafe withBytes(row, column) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    func optionalText(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        unsafe withBytes(row, column) { unsafe [UInt8]($0) }
    }

    /// Appends the value to the arena; `.absent` for NULL.
    @inline(__always)
    func append(_ row: Int, _ column: Int, to arena: inout [UInt8]) -> ByteSlice {
        let start = arena.count
        unsafe withBytes(row, column) { unsafe arena.append(contentsOf: $0) }
        if arena.count == start, isNull(row, column) { return .absent }
        return ByteSlice(offset: UInt32(start), length: UInt32(arena.count - start))
    }
}
