// SPDX-License-Identifier: Apache-2.0
import CSQLite
import RelayEngine
import RelayStore
import StoreSQL

/// One prepared statement, and its current row. Used only under its connection's lock.
@safe package final class Statement: SQLRow {
    private let handle: OpaquePointer
    private let database: OpaquePointer

    /// Compiles `sql`. The connection keeps the statement for reuse, hence "persistent".
    init(_ sql: SQL, on database: OpaquePointer) throws(SQLiteFailure) {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            database, sql.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            throw SQLiteFailure(code: code, of: database)
        }
        unsafe self.handle = handle
        unsafe self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    // MARK: Running

    /// Goes to the next row; false when there is none.
    func step() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteFailure(code: code, of: unsafe database)
        }
    }

    /// Runs a statement that gives no rows, and makes it ready for the next values.
    func run() throws(SQLiteFailure) {
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            let failure = SQLiteFailure(code: code, of: unsafe database)
            unsafe sqlite3_reset(handle)
            throw failure
        }
        unsafe sqlite3_reset(handle)
    }

    /// Ends the run; the values stay bound.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Ends the run and releases every value: no borrowed value may stay bound.
    func clear() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    // MARK: Values. Parameters count from 1. A bind can fail only by an index that the SQL does not have (our own
    // fault, which the statement's next step shows as a NULL in a NOT NULL place) or for want of memory.

    func bind(_ index: Int32, _ value: Int64) {
        unsafe sqlite3_bind_int64(handle, index, value)
    }

    func bindNull(_ index: Int32) {
        unsafe sqlite3_bind_null(handle, index)
    }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    /// Copies the text.
    func bind(_ index: Int32, _ text: String?) {
        guard var text else { return bindNull(index) }
        text.withUTF8 { bytes in
            if let address = bytes.baseAddress, !bytes.isEmpty {
                _ = unsafe relay_sqlite3_bind_text_copied(handle, index, address, Int32(bytes.count))
            } else {
                _ = unsafe relay_sqlite3_bind_empty_text(handle, index)
            }
        }
    }

    /// Copies the bytes.
    func bind(_ index: Int32, blob: [UInt8]) {
        unsafe blob.withUnsafeBytes { bytes in
            if let address = bytes.baseAddress, unsafe !bytes.isEmpty {
                _ = unsafe relay_sqlite3_bind_blob_copied(handle, index, address, Int32(bytes.count))
            } else {
                _ = unsafe relay_sqlite3_bind_empty_blob(handle, index)
            }
        }
    }

    /// Binds text without copying it: `text` must outlive the run, and `clear()` or another bind must follow before it
    /// goes (sqlite.org/c3ref/bind_blob.html, SQLITE_STATIC).
    func bindBorrowed(_ index: Int32, _ text: UnsafeRawBufferPointer) {
        if let address = text.baseAddress, unsafe !text.isEmpty {
            unsafe sqlite3_bind_text(
                handle, index, address.assumingMemoryBound(to: CChar.self), Int32(text.count), nil)
        } else {
            _ = unsafe relay_sqlite3_bind_empty_text(handle, index)
        }
    }

    // MARK: Columns. They count from 0.

    package var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

    package func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    package func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    func text(_ column: Int32) -> String {
        optionalText(column) ?? ""
    }

    package func optionalText(_ column: Int32) -> String? {
        unsafe withText(column) { bytes in
            unsafe bytes.map { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    package func blob(_ column: Int32) -> [UInt8] {
        guard let address = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: address, count: count))
    }

    package func append(_ column: Int32, to bytes: inout [UInt8]) {
        guard let address = unsafe sqlite3_column_blob(handle, column) else { return }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: address, count: count))
    }

    /// Lends the column's bytes, nil for NULL, until `body` returns.
    @inline(__always)
    func withText<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
        guard let address = unsafe sqlite3_column_text(handle, column) else { return body(nil) }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe body(UnsafeRawBufferPointer(start: address, count: count))
    }
}

// MARK: Slices of an arena

extension Statement {
    /// Binds a slice without copying it; the rules of `bindBorrowed` hold.
    @inline(__always)
    func bind(_ index: Int32, _ slice: ByteSlice, of arena: UnsafeRawBufferPointer) {
        if slice.isAbsent {
            bindNull(index)
        } else {
            unsafe bindBorrowed(index, UnsafeRawBufferPointer(rebasing: arena[slice.range]))
        }
    }

    /// Whether a column holds exactly these bytes, or NULL where the slice is absent.
    func equals(_ column: Int32, _ slice: ByteSlice, of arena: UnsafeRawBufferPointer) -> Bool {
        unsafe withText(column) { stored in
            guard let stored = unsafe stored else { return slice.isAbsent }
            return unsafe !slice.isAbsent && stored.elementsEqual(arena[slice.range])
        }
    }
}

extension Statement {
    func bind(_ values: [(any SQLValue)?]) throws(SQLiteFailure) {
        for (index, value) in zip(Int32(1)..., values) {
            let parameter = value?.parameter
            if parameter?.hasNUL == true { throw SQLiteFailure(code: SQLITE_CONSTRAINT, message: StoreText.nul) }
            switch parameter {
            case .integer(let number)?: bind(index, number)
            case .text(let text)?: bind(index, text)
            case .bytes(let bytes)?: bind(index, blob: bytes)
            case nil: bindNull(index)
            }
        }
    }

    // The same as in `SQLRow`, with the concrete type, for the rows of a batch.

    @inline(__always)
    func channel(_ column: Int32) -> Channel {
        Channel(rawValue: UInt8(truncatingIfNeeded: integer(column)))
    }

    func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    func optionalTime(_ column: Int32) -> Timestamp? {
        optionalInteger(column).map { Timestamp(milliseconds: $0) }
    }
}
