// SPDX-License-Identifier: Apache-2.0

/// Values in PostgreSQL's binary form, one after another, each after its length, as in an array's elements and a COPY's
/// columns (postgresql.org/docs, "COPY", "Binary Format"). Integers are big-endian.
struct BinaryFields: Sendable {
    var bytes: [UInt8] = []

    @inline(__always)
    mutating func raw<Number: FixedWidthInteger>(_ number: Number) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func null() { raw(Int32(-1)) }

    @inline(__always)
    mutating func add(_ value: Int64) {
        raw(Int32(8))
        raw(value)
    }

    mutating func add(_ value: Int64?) {
        if let value { add(value) } else { null() }
    }

    mutating func add(_ value: String?) {
        if let value { add(value) } else { null() }
    }

    mutating func add(_ value: Int16) {
        raw(Int32(2))
        raw(value)
    }

    mutating func add(_ value: Int32) {
        raw(Int32(4))
        raw(value)
    }

    mutating func add(_ value: Bool) {
        raw(Int32(1))
        bytes.append(value ? 1 : 0)
    }

    mutating func add(_ value: String) {
        raw(Int32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func add(_ value: some Collection<UInt8>) {
        raw(Int32(value.count))
        bytes.append(contentsOf: value)
    }

    /// Copies a borrowed buffer, such as a text's or a blob's.
    @inline(__always)
    mutating func add(_ value: UnsafeRawBufferPointer) {
        raw(Int32(value.count))
        unsafe bytes.append(contentsOf: value)
    }

    /// Adds a value that `write` appends.
    @inline(__always)
    mutating func add(_ write: (inout [UInt8]) -> Void) {
        let place = bytes.count
        raw(Int32(0))
        write(&bytes)
        patch(Int32(bytes.count - place - 4), at: place)
    }

    /// Writes a number over the four bytes at `place`.
    mutating func patch(_ number: Int32, at place: Int) {
        for offset in 0..<4 { bytes[place + offset] = UInt8(truncatingIfNeeded: number >> (24 - 8 * Int32(offset))) }
    }
}
