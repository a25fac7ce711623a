// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// A push token as `device.token` stores it: a byte that marks the form, and then hex digits at half their length (APNs'
/// tokens are always hex) or the text as it is.
enum PackedToken {
    private static let hex: UInt8 = 0
    private static let text: UInt8 = 1

    static func packed(_ token: some Collection<UInt8>) -> [UInt8] {
        var packed: [UInt8] = []
        packed.reserveCapacity(1 + token.count)
        append(token, to: &packed)
        return packed
    }

    /// Appends the packed token.
    @inline(__always)
    static func append(_ token: some Collection<UInt8>, to packed: inout [UInt8]) {
        let start = packed.count
        packed.append(hex)
        // The first digit of a byte, until its second one comes.
        var high = none
        for byte in token {
            let digit = digit(byte)
            guard digit != none else { return replace(from: start, by: token, in: &packed) }
            if high == none {
                high = digit
            } else {
                packed.append(high << 4 | digit)
                high = none
            }
        }
        if high != none { replace(from: start, by: token, in: &packed) }
    }

    /// Stores a token that is no hex as its text.
    private static func replace(from start: Int, by token: some Collection<UInt8>, in packed: inout [UInt8]) {
        packed.removeSubrange(start...)
        packed.append(text)
        packed.append(contentsOf: token)
    }

    private static let none: UInt8 = 0xFF

    /// Lowercase alone, so that a token comes back unchanged; `none` for anything else.
    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: none
        }
    }

    /// The two digits of each byte, the first one in the lower half: little-endian.
    private static let digits: [UInt16] = (0...255).map { byte in
        let digits = Array("0123456789abcdef".utf8)
        return UInt16(digits[byte >> 4]) | UInt16(digits[byte & 15]) << 8
    }

    /// Appends the token's text to the arena.
    @inline(__always)
    static func unpack(_ packed: UnsafeRawBufferPointer, into rows: inout DeviceRows) -> ByteSlice {
        guard let kind = unsafe packed.first else { return .absent }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: packed[1...])
        guard kind == hex else { return unsafe rows.store(rest) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 2 * rest.count, alignment: 2) { text in
            unsafe digits.withUnsafeBufferPointer { digits in
                for place in rest.indices {
                    unsafe text.storeBytes(
                        of: digits[Int(rest[place])].littleEndian, toByteOffset: 2 * place, as: UInt16.self)
                }
            }
            return unsafe rows.store(UnsafeRawBufferPointer(text))
        }
    }

    static func text(_ packed: UnsafeRawBufferPointer) -> String {
        var rows = DeviceRows()
        let slice = unsafe unpack(packed, into: &rows)
        return slice.isAbsent ? "" : rows.string(slice)
    }
}
