// SPDX-License-Identifier: Apache-2.0

/// The places of a device's fields in one line of NDJSON that is written plainly, as nearly all are: one object, each
/// field once, its value a string of printable ASCII without escapes, or null.
///
/// It reports no faults: a line of any other form is left to `JSONReader`, which reports its fault, if it has one.
/// Allocates nothing.
@usableFromInline package struct DeviceLineScan {
    @usableFromInline var values = DeviceFieldArray<Range<Int>?>(repeating: nil)
    /// Fields that the line names, also where their value is null.
    package private(set) var named: DeviceFieldSet = []

    /// The value's bytes; nil: left out, or null.
    package subscript(field: DeviceField) -> Range<Int>? {
        @inlinable @inline(__always)
        get { values[Int(field.rawValue)] }
    }

    /// nil: the line is not in the plain form.
    package init?(_ bytes: [UInt8], in range: Range<Int>) {
        let end = range.upperBound
        var place = Self.skipSpace(bytes, range.lowerBound, end)
        var last: DeviceField?
        guard place < end, bytes[place] == UInt8(ascii: "{") else { return nil }
        repeat {
            place = Self.skipSpace(bytes, place + 1, end)
            guard let name = Self.string(bytes, place, end) else { return nil }
            place = Self.skipSpace(bytes, name.upperBound + 1, end)
            guard place < end, bytes[place] == UInt8(ascii: ":") else { return nil }
            place = Self.skipSpace(bytes, place + 1, end)
            let value = Self.string(bytes, place, end)
            if let value {
                place = value.upperBound + 1
            } else {
                guard Self.isNull(bytes, place, end) else { return nil }
                place += 4
            }
            guard let field = Self.field(bytes, name, near: last), !named.contains(field) else { return nil }
            named.insert(field)
            values[Int(field.rawValue)] = value
            last = field
            place = Self.skipSpace(bytes, place, end)
        } while place < end && bytes[place] == UInt8(ascii: ",")
        guard place < end, bytes[place] == UInt8(ascii: "}"), Self.skipSpace(bytes, place + 1, end) == end else {
            return nil
        }
    }

    @inline(__always)
    private static func skipSpace(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        var place = start
        while place < end {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return place
            }
        }
        return place
    }

    /// The bytes between two quotes; the closing quote is at the range's upper bound.
    @inline(__always)
    private static func string(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Range<Int>? {
        guard start < end, bytes[start] == UInt8(ascii: "\"") else { return nil }
        var place = start + 1
        while place < end {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") { return start + 1..<place }
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") else { return nil }
            place += 1
        }
        return nil
    }

    private static func isNull(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        end - start >= 4 && bytes[start] == UInt8(ascii: "n") && bytes[start + 1] == UInt8(ascii: "u")
            && bytes[start + 2] == UInt8(ascii: "l") && bytes[start + 3] == UInt8(ascii: "l")
    }

    /// - Parameter last: the previous field in the line; nearly always it is also the previous field in the table.
    @inline(__always)
    private static func field(_ bytes: [UInt8], _ name: Range<Int>, near last: DeviceField?) -> DeviceField? {
        guard name.count <= 16 else { return nil }
        var number: UInt128 = 0
        for index in name { number = number << 8 | UInt128(bytes[index]) }
        let names = Self.names
        let next = last.map { Int($0.rawValue) + 1 } ?? 0
        let place = next < names.count && names[next] == number ? next : names.firstIndex(of: number)
        return place.flatMap { DeviceField(rawValue: UInt8($0)) }
    }

    /// The name of each field as one number, a byte for each letter.
    private static let names = DeviceField.allCases.map { field in
        precondition(field.name.utf8.count <= 16, "\(field)")
        return field.name.utf8.reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
    }
}
