// SPDX-License-Identifier: Apache-2.0
import CPostgres
import RelayStore
import StoreSQL

/// The values of a statement, in binary: `$1` first. Each connection keeps one, so that the memory is reused.
struct PostgresParameters: Sendable {
    private var fields = BinaryFields()
    private(set) var types: [UInt32] = []
    /// Where each value begins in `fields`; -1 for NULL.
    private var starts: [Int] = []
    private(set) var lengths: [Int32] = []

    init() {}

    var count: Int { types.count }

    mutating func removeAll() {
        fields.bytes.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
    }

    private mutating func begin(_ type: PostgresType) {
        types.append(type.rawValue)
        starts.append(fields.bytes.count)
    }

    private mutating func end() { lengths.append(Int32(fields.bytes.count - (starts.last ?? 0))) }

    mutating func null(_ type: PostgresType) {
        types.append(type.rawValue)
        starts.append(-1)
        lengths.append(0)
    }

    /// Adds a value in the form that the server expects.
    ///
    /// - Parameter type: the parameter's, as pg_type numbers it; a domain counts as a text.
    mutating func add(_ value: SQLParameter?, as type: UInt32) throws(PostgresFailure) {
        if value?.hasNUL == true { throw PostgresFailure(.refused("22021"), StoreText.nul) }
        types.append(type)
        guard let value else {
            starts.append(-1)
            lengths.append(0)
            return
        }
        starts.append(fields.bytes.count)
        switch (value, PostgresType(rawValue: type)) {
        case (.integer(let number), .int8): fields.raw(number)
        case (.integer(let number), .int4): fields.raw(try Self.narrowed(number) as Int32)
        case (.integer(let number), .int2): fields.raw(try Self.narrowed(number) as Int16)
        case (.integer(let number), .bool): fields.bytes.append(number == 0 ? 0 : 1)
        case (.integer(let number), _): fields.bytes.append(contentsOf: String(number).utf8)
        case (.text(let text), _): fields.bytes.append(contentsOf: ErasedTelephone.stored(text).utf8)
        case (.bytes(let bytes), _): fields.bytes.append(contentsOf: bytes)
        }
        end()
    }

    /// Narrows a number, or fails as PostgreSQL does where a column cannot hold it.
    private static func narrowed<Number: FixedWidthInteger>(_ number: Int64) throws(PostgresFailure) -> Number {
        guard let narrow = Number(exactly: number) else {
            throw PostgresFailure(.refused("22003"), "a number is out of range")
        }
        return narrow
    }

    mutating func add(_ value: Int64?) {
        guard let value else { return null(.int8) }
        begin(.int8)
        fields.raw(value)
        end()
    }

    mutating func add(_ value: Int32?) {
        guard let value else { return null(.int4) }
        begin(.int4)
        fields.raw(value)
        end()
    }

    mutating func add(_ value: Bool?) {
        guard let value else { return null(.bool) }
        begin(.bool)
        fields.bytes.append(value ? 1 : 0)
        end()
    }

    mutating func add(_ value: String?) {
        guard let value else { return null(.text) }
        begin(.text)
        fields.bytes.append(contentsOf: value.utf8)
        end()
    }

    mutating func add(_ value: [UInt8]?) {
        guard let value else { return null(.bytea) }
        begin(.bytea)
        fields.bytes.append(contentsOf: value)
        end()
    }

    /// An array, for `unnest` and `= ANY`: of one dimension, counted from 1 (`array_send` in PostgreSQL's arrayfuncs.c).
    ///
    /// - Parameters:
    ///   - count: how many elements `write` adds.
    ///   - write: adds each with its length, or `null()`.
    mutating func array(_ type: PostgresType, count: Int, _ write: (inout BinaryFields) throws -> Void) rethrows {
        begin(type.array)
        fields.raw(Int32(count == 0 ? 0 : 1))
        // Whether there are NULLs among them: array_recv only requires that the flag is 0 or 1.
        fields.raw(Int32(1))
        fields.raw(type.rawValue)
        if count > 0 {
            fields.raw(Int32(count))
            fields.raw(Int32(1))
            try write(&fields)
        }
        end()
    }

    mutating func add(_ values: some Collection<Int64>) {
        array(.int8, count: values.count) { fields in for value in values { fields.add(value) } }
    }

    mutating func add(_ values: some Collection<Int64?>) {
        array(.int8, count: values.count) { fields in for value in values { fields.add(value) } }
    }

    mutating func add(_ values: some Collection<String?>) {
        array(.text, count: values.count) { fields in for value in values { fields.add(value) } }
    }

    mutating func add(_ values: some Collection<[UInt8]?>) {
        array(.bytea, count: values.count) { fields in
            for value in values { if let value { fields.add(value) } else { fields.null() } }
        }
    }

    mutating func add(_ values: some Collection<ArraySlice<UInt8>>, as type: PostgresType) {
        array(type, count: values.count) { fields in for value in values { fields.add(value) } }
    }

    /// Lends the values as libpq takes them: addresses, lengths, and a 1 for each, which means binary.
    func withValues<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        let formats = [Int32](repeating: 1, count: count)
        return unsafe fields.bytes.withUnsafeBytes { bytes in
            // An empty value needs an address, too: without one it would be NULL.
            let base = unsafe bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = unsafe starts.map { start in
                unsafe start < 0 ? nil : base?.advanced(by: start).assumingMemoryBound(to: CChar.self)
            }
            return unsafe values.withUnsafeBufferPointer { values in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
