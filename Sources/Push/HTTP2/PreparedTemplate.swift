// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import RelayEngine

/// A template in nghttp2's form: one array of the header fields that all requests share, and beside it the parts that differ.
///
/// Belongs to one lane's thread. All pointers lead into `constants`, or into a batch's arena.
@safe
final class PreparedTemplate {
    let template: RequestTemplate
    /// The fields that HPACK may index. Their values are constant, or they would push each other out of its table.
    let fields: UnsafeMutablePointer<nghttp2_nv>
    let fieldCount: Int
    let literals: LiteralFields
    private let constants: UnsafeMutablePointer<UInt8>
    private let pieces: UnsafeMutablePointer<Piece>
    private let pieceCount: Int
    private let constantBodyLength: Int

    /// A part of the body: constant (slot -1), or the request's own.
    @safe
    private struct Piece {
        let slot: Int
        let start: UnsafePointer<UInt8>
        let count: Int
    }

    init(_ template: RequestTemplate) {
        self.template = template
        let indexed = template.fields.filter(\.isIndexed)
        literals = LiteralFields(template.fields.filter { !$0.isIndexed })
        fieldCount = indexed.count
        func constantCount(_ value: RequestTemplate.Value) -> Int {
            if case .constant(let bytes) = value { bytes.count } else { 0 }
        }
        let size =
            indexed.reduce(0) { $0 + $1.name.count + constantCount($1.value) }
            + template.body.reduce(0) { $0 + constantCount($1) }
        unsafe constants = .allocate(capacity: max(size, 1))
        unsafe fields = .allocate(capacity: max(indexed.count, 1))
        unsafe pieces = .allocate(capacity: max(template.body.count, 1))
        var end = unsafe constants
        func keep(_ bytes: [UInt8]) -> UnsafeMutablePointer<UInt8> {
            let start = unsafe end
            unsafe start.update(from: bytes, count: bytes.count)
            unsafe end += bytes.count
            return unsafe start
        }
        // The memory outlives the frame: PreparedBatch is pinned until nghttp2 has closed the stream.
        let noCopy = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        for (index, field) in indexed.enumerated() {
            guard case .constant(let bytes) = field.value else {
                preconditionFailure("a request's own value is not indexed")
            }
            var pair = unsafe nghttp2_nv()
            unsafe pair.name = keep(field.name)
            unsafe pair.namelen = field.name.count
            unsafe pair.value = keep(bytes)
            unsafe pair.valuelen = bytes.count
            unsafe pair.flags = noCopy
            unsafe (fields + index).initialize(to: pair)
        }
        for (index, piece) in template.body.enumerated() {
            switch piece {
            case .constant(let bytes):
                let start = unsafe keep(bytes)
                unsafe (pieces + index).initialize(to: Piece(slot: -1, start: start, count: bytes.count))
            case .slot(let slot):
                precondition(slot < template.slotCount, "a piece's slot is one of the template's")
                unsafe (pieces + index).initialize(to: Piece(slot: slot, start: end, count: 0))
            }
        }
        pieceCount = template.body.count
        constantBodyLength = template.body.reduce(0) { $0 + constantCount($1) }
    }

    deinit {
        unsafe constants.deallocate()
        unsafe fields.deallocate()
        unsafe pieces.deallocate()
    }

    /// Whether requests have a body at all: a template without one has no pieces.
    var hasBody: Bool { pieceCount > 0 }

    /// Copies the body from byte `start` on, as far as `room` allows.
    /// - Returns: the number of bytes, and whether the body has ended with them.
    @unsafe
    func copyBody(
        arena: UnsafePointer<UInt8>, slots: UnsafePointer<ByteSlice>, from start: Int,
        to target: UnsafeMutablePointer<UInt8>, room: Int
    ) -> (count: Int, isEnd: Bool) {
        var skip = start
        var copied = 0
        for index in 0..<pieceCount {
            let piece = unsafe pieces[index]
            var source = unsafe piece.start
            var count = piece.count
            if piece.slot >= 0 {
                let slice = unsafe slots[piece.slot]
                if slice.isAbsent { continue }
                unsafe source = arena + Int(slice.offset)
                count = Int(slice.length)
            }
            if skip >= count {
                skip -= count
                continue
            }
            let part = min(count - skip, room - copied)
            unsafe (target + copied).update(from: source + skip, count: part)
            copied += part
            if part < count - skip { return (copied, false) }
            skip = 0
        }
        return (copied, true)
    }
}
