// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

@testable import HTTP2

struct LiteralFieldsTests {
    private struct Field: Equatable {
        var name: String
        var value: String
        var isNeverIndexed = true
    }

    /// A decoder's reading of a header block.
    private static func decoded(_ block: [UInt8]) throws -> [Field] {
        var inflater: OpaquePointer?
        try #require(nghttp2_hd_inflate_new(&inflater) == 0)
        defer { nghttp2_hd_inflate_del(inflater) }
        var fields: [Field] = []
        var rest = block[...]
        while true {
            var pair = nghttp2_nv()
            var flags: Int32 = 0
            let taken = rest.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &pair, &flags, $0.baseAddress, $0.count, 1)
            }
            try #require(taken >= 0, "the block cannot be decoded")
            rest = rest.dropFirst(taken)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                let name = UnsafeBufferPointer(start: pair.name, count: pair.namelen)
                let value = UnsafeBufferPointer(start: pair.value, count: pair.valuelen)
                fields.append(
                    Field(
                        name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
                        isNeverIndexed: pair.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { return fields }
        }
    }

    /// Front and back as they are sent, and the size that was computed before.
    private static func block(_ literals: LiteralFields, _ values: [String?]) -> (bytes: [UInt8], size: Int) {
        var arena: [UInt8] = []
        var slots: [ByteSlice] = []
        for value in values {
            slots.append(
                value.map { ByteSlice(offset: UInt32(arena.count), length: UInt32($0.utf8.count)) } ?? .absent)
            arena += Array((value ?? "").utf8)
        }
        let size = literals.size(slots: slots)
        let bytes = [UInt8](unsafeUninitializedCapacity: size + 16) { target, count in
            guard let start = target.baseAddress else { return }
            let end = literals.write(.front, to: start, arena: arena, slots: slots)
            count = literals.write(.back, to: end, arena: arena, slots: slots) - start
        }
        return (bytes, size)
    }

    /// Lengths around each step of the integers in front of values.
    @Test(arguments: [0, 1, 126, 127, 128, 254, 255, 16_510, 16_511])
    func aDecoderFindsWhatWasMeant(length: Int) throws {
        let token = "bearer " + String(repeating: "eyJhbGciOiJFUzI1NiJ9", count: 12)
        let literals = LiteralFields([
            .init(":path", .slot(1), isIndexed: false), .init("authorization", token, isIndexed: false),
            .init("apns-id", .slot(0), isIndexed: false),
        ])
        let path = String(repeating: "f", count: length)
        let (bytes, size) = Self.block(literals, ["an-id", path])
        #expect(bytes.count == size)
        #expect(
            try Self.decoded(bytes) == [
                Field(name: ":path", value: path), Field(name: "authorization", value: token),
                Field(name: "apns-id", value: "an-id"),
            ])
    }

    @Test func pseudoFieldsComeFirstAndAnAbsentValueIsEmpty() throws {
        let literals = LiteralFields([
            .init("apns-id", .slot(0), isIndexed: false), .init(":path", "/x", isIndexed: false),
        ])
        #expect(
            try Self.decoded(Self.block(literals, [nil]).bytes)
                == [Field(name: ":path", value: "/x"), Field(name: "apns-id", value: "")])
        #expect(Self.block(LiteralFields([]), []).bytes.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(60)), .ownThread)
struct HeaderTableTests {
    /// The library begins a block with the changes of its table; pseudo-fields go behind them.
    @Test(arguments: [0, 40, 200, 100_000])
    func requestsArriveWhateverTableTheServerHas(size: Int) throws {
        var manner = PeerManner()
        manner.headerTableSize = size
        let bench = try Workbench(manner: manner) { _ in [.answer(200)] }
        defer { bench.finish() }
        // Larger bodies than a record: HEADERS come to stand at every place of it.
        bench.send(300, body: 700)
        #expect(try bench.collector.batches()[0].count(of: 200) == 300)
        let requests = bench.peer.state.now.requests
        #expect(requests.count == 300)
        for (number, request) in requests.sorted(by: { $0.streamID < $1.streamID }).enumerated() {
            #expect(
                request.headers == [
                    ":method": "POST", ":scheme": "https", ":authority": "push.example", ":path": "/3/device/\(number)",
                    "authorization": "bearer a.b.c", "apns-id": "id-\(number)", "apns-topic": "com.example.app",
                ])
        }
        #expect(bench.lane.figures.connectionsOpened == 1)
    }
}
