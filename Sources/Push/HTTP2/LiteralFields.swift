// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import RelayEngine

/// The fields of a template that HPACK must not index, encoded once: a request only copies their bytes.
///
/// libnghttp2 would encode them anew for each request, and Huffman code takes some nanoseconds a byte: for a provider token, a
/// path and an id that was a third of the library's cost. Encoding once took a push from 2.7 to 2.0 µs of CPU at 100 streams and
/// from 3.25 to 2.1 at 1,000 (`relay-bench --only transport`). Such fields leave no trace in the dynamic table (RFC 7541, 6.2.3),
/// so they may be put into a header block that the library has made of the others: pseudo-fields in front (RFC 9113, 8.3: "MUST
/// appear in a field block before regular field lines"), the rest behind.
///
/// Constant values are in Huffman code, made by libnghttp2; a request's own are sent as they are (RFC 7541, 5.2, H = 0).
/// Belongs to one lane's thread.
@safe
final class LiteralFields {
    /// Constant bytes, then the value of a slot with its length, if there is one.
    private struct Piece {
        let start: Int
        let count: Int
        /// -1: none.
        let slot: Int
    }

    private let bytes: UnsafeMutablePointer<UInt8>
    private let pieces: UnsafeMutablePointer<Piece>
    private let pieceCount: Int
    /// Pieces of pseudo-fields, which come first.
    private let frontCount: Int

    /// The pieces before and behind the library's block.
    enum Place {
        case front
        case back
    }

    /// - Parameter fields: the template's fields with `isIndexed` false.
    init(_ fields: [RequestTemplate.Field]) {
        let pseudo = fields.filter { $0.name.first == UInt8(ascii: ":") }
        let regular = fields.filter { $0.name.first != UInt8(ascii: ":") }
        var all: [UInt8] = []
        var pieces: [Piece] = []
        for field in pseudo + regular {
            let start = all.count
            switch field.value {
            case .constant(let value):
                all += Self.encoded(field.name, value)
                pieces.append(Piece(start: start, count: all.count - start, slot: -1))
            case .slot(let slot):
                // Encoded without a value, a field ends with the byte of the value's length, which each request writes itself.
                all += Self.encoded(field.name, []).dropLast()
                pieces.append(Piece(start: start, count: all.count - start, slot: slot))
            }
        }
        unsafe bytes = .allocate(capacity: max(all.count, 1))
        unsafe bytes.update(from: all, count: all.count)
        unsafe self.pieces = .allocate(capacity: max(pieces.count, 1))
        unsafe self.pieces.update(from: pieces, count: pieces.count)
        pieceCount = pieces.count
        frontCount = pseudo.count
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe pieces.deallocate()
    }

    /// One field as "literal never indexed" (RFC 7541, 6.2.3).
    private static func encoded(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        var deflater: OpaquePointer?
        let made = unsafe nghttp2_hd_deflate_new(&deflater, 4096)
        precondition(made == 0, "libnghttp2 has memory")
        defer { unsafe nghttp2_hd_deflate_del(deflater) }
        var (name, value) = (name, value)
        var result = [UInt8](repeating: 0, count: 64 + 2 * (name.count + value.count))
        let count = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe value.withUnsafeMutableBufferPointer { value in
                var field = unsafe nghttp2_nv(
                    name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count,
                    flags: UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
                return unsafe nghttp2_hd_deflate_hd(deflater, &result, result.count, &field, 1)
            }
        }
        precondition(count > 0, "the buffer has room for a field that is not indexed")
        return Array(result.prefix(count))
    }

    // MARK: One request

    /// Bytes of one request's fields at both places.
    @unsafe
    func size(slots: UnsafePointer<ByteSlice>) -> Int {
        var size = 0
        for index in 0..<pieceCount {
            let piece = unsafe pieces[index]
            size += piece.count
            if piece.slot >= 0 {
                let length = Int(unsafe slots[piece.slot].length)
                size += length + Self.integerSize(length)
            }
        }
        return size
    }

    /// Writes one request's fields of a place.
    /// - Returns: the address after them.
    @unsafe
    func write(
        _ place: Place, to target: UnsafeMutablePointer<UInt8>, arena: UnsafePointer<UInt8>,
        slots: UnsafePointer<ByteSlice>
    ) -> UnsafeMutablePointer<UInt8> {
        var end = unsafe target
        for index in place == .front ? 0..<frontCount : frontCount..<pieceCount {
            let piece = unsafe pieces[index]
            unsafe end.update(from: bytes + piece.start, count: piece.count)
            unsafe end += piece.count
            guard piece.slot >= 0 else { continue }
            let slice = unsafe slots[piece.slot]
            unsafe end = Self.writeInteger(Int(slice.length), to: end)
            guard !slice.isAbsent else { continue }
            unsafe end.update(from: arena + Int(slice.offset), count: Int(slice.length))
            unsafe end += Int(slice.length)
        }
        return unsafe end
    }

    // MARK: Integers with a prefix of seven bits (RFC 7541, 5.1)

    private static func integerSize(_ value: Int) -> Int {
        guard value >= 127 else { return 1 }
        var (size, rest) = (2, value - 127)
        while rest >= 128 {
            size += 1
            rest >>= 7
        }
        return size
    }

    /// - Returns: the address after the integer.
    private static func writeInteger(
        _ value: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        guard value >= 127 else {
            unsafe target.pointee = UInt8(value)
            return unsafe target + 1
        }
        unsafe target.pointee = 127
        var (end, rest) = unsafe (target + 1, value - 127)
        while rest >= 128 {
            unsafe end.pointee = UInt8(rest & 127) | 128
            unsafe end += 1
            rest >>= 7
        }
        unsafe end.pointee = UInt8(rest)
        return unsafe end + 1
    }
}
