// SPDX-License-Identifier: Apache-2.0

/// HTTP/2 frames by hand (RFC 9113, 6), as no decent library writes them.
package enum Frame {
    package static let endStream: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4

    /// Any frame.
    package static func of(_ type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [UInt8(payload.count >> 16 & 0xFF), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), type, flags]
            + number(UInt32(bitPattern: stream)) + payload
    }

    package static func data(_ count: Int, flags: UInt8 = 0, stream: Int32) -> [UInt8] {
        of(0, flags: flags, stream: stream, [UInt8](repeating: 0x78, count: count))
    }

    package static func headers(
        _ fields: [(String, String)], flags: UInt8 = endHeaders, stream: Int32
    ) -> [UInt8] {
        of(1, flags: flags, stream: stream, fields.flatMap { literal($0.0, $0.1) })
    }

    package static func continuation(_ fields: [(String, String)], flags: UInt8 = 0, stream: Int32) -> [UInt8] {
        of(9, flags: flags, stream: stream, fields.flatMap { literal($0.0, $0.1) })
    }

    package static func reset(_ code: UInt32, stream: Int32) -> [UInt8] { of(3, stream: stream, number(code)) }

    package static let ping = of(6, [1, 2, 3, 4, 5, 6, 7, 8])

    package static func settings(_ identifier: UInt16, _ value: UInt32) -> [UInt8] {
        of(4, [UInt8(identifier >> 8), UInt8(identifier & 0xFF)] + number(value))
    }

    package static func windowUpdate(_ increment: UInt32, stream: Int32) -> [UInt8] {
        of(8, stream: stream, number(increment))
    }

    /// A header field that is put into the peer's table: "Literal Header Field with Incremental Indexing" (RFC 7541, 6.2.1),
    /// to be repeated by `newestField` in one byte.
    package static func indexed(_ name: String, _ value: String) -> [UInt8] { [0x40] + text(name) + text(value) }
    package static let newestField: UInt8 = 0x80 | 62

    /// "Literal Header Field without Indexing" (RFC 7541, 6.2.2): leaves the tables of both sides as they are.
    private static func literal(_ name: String, _ value: String) -> [UInt8] { [0x00] + text(name) + text(value) }

    /// RFC 7541, 5.2, with the length as 5.1 writes integers.
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
}
