// SPDX-License-Identifier: Apache-2.0

/// The server's end of an HTTP/2 connection in bare mode (RFC 9113): frames are told apart by their heads, and every request
/// gets one and the same answer, 200 with an `apns-id`.
///
/// This judges nothing: no header block is decoded, no body is kept, no stream is remembered, and a client that breaks the
/// protocol is mostly not told so. It is there to cost less than the sender that is measured against it. Pure.
package struct BareFrames {
    /// What is to be written, in order.
    package var output: [UInt8] = []
    /// Streams whose request has ended; emptied by the caller, who answers them.
    package var ended: [UInt32] = []
    /// Most streams that were open at once. One that its client gives up stays open.
    private(set) var mostStreams = 0
    private var openStreams = 0
    private var highestStream: UInt32 = 0
    /// Bytes of DATA that the client has not been given back in its window.
    private var received: UInt32 = 0

    /// What the next bytes are, with its size.
    private enum Part: Int {
        /// RFC 9113, 3.4.
        case preface = 24
        /// RFC 9113, 4.1.
        case head = 9
        /// RFC 9113, 6.7.
        case pingData = 8
    }

    private var part = Part.preface
    /// The beginning of `part`, where the rest has not come yet.
    private var kept: [UInt8] = []
    /// Bytes of a payload that nobody needs.
    private var skipped = 0

    /// - Parameter maximumStreams: announced, not enforced.
    package init(maximumStreams: UInt32) {
        let settings: [UInt8] = [0, 6, Frame.settings, 0, 0, 0, 0, 0, /* SETTINGS_MAX_CONCURRENT_STREAMS */ 0, 3]
        output = [0] + settings + Self.bytes(maximumStreams)
    }

    // MARK: Bytes in

    /// - Returns: false where the connection cannot go on.
    package mutating func receive(_ bytes: borrowing Span<UInt8>) -> Bool {
        var at = 0
        while at < bytes.count {
            let available = bytes.count - at
            if skipped > 0 {
                let count = min(skipped, available)
                skipped -= count
                at += count
            } else if kept.isEmpty, available >= part.rawValue {
                let whole = bytes.extracting(at..<at + part.rawValue)
                at += part.rawValue
                guard take(whole) else { return false }
            } else {
                let end = at + min(part.rawValue - kept.count, available)
                while at < end {
                    kept.append(bytes[at])
                    at += 1
                }
                guard kept.count == part.rawValue else { break }
                let whole = kept
                kept.removeAll(keepingCapacity: true)
                guard take(whole.span) else { return false }
            }
        }
        mostStreams = max(mostStreams, openStreams)
        return true
    }

    private mutating func take(_ bytes: borrowing Span<UInt8>) -> Bool {
        switch part {
        case .preface:
            part = .head
            return Self.preface.indices.allSatisfy { bytes[$0] == Self.preface[$0] }
        case .head:
            return frame(bytes)
        case .pingData:
            part = .head
            output += [0, 0, 8, Frame.ping, Flag.acknowledgement, 0, 0, 0, 0]
            for index in bytes.indices { output.append(bytes[index]) }
            return true
        }
    }

    private mutating func frame(_ head: borrowing Span<UInt8>) -> Bool {
        let length = UInt32(head[0]) << 16 | UInt32(head[1]) << 8 | UInt32(head[2])
        // More than SETTINGS_MAX_FRAME_SIZE, which nobody has raised (RFC 9113, 4.2).
        guard length <= 16_384 else { return false }
        skipped = Int(length)
        let (type, flags) = (head[3], head[4])
        switch type {
        case Frame.headers, Frame.data:
            let stream = UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            // Others on a stream that was there before are trailers.
            if type == Frame.headers, stream > highestStream {
                highestStream = stream
                openStreams += 1
            }
            if type == Frame.data { giveBack(length) }
            if flags & Flag.endStream != 0 { ended.append(stream) }
        case Frame.settings where flags & Flag.acknowledgement == 0:
            output += [0, 0, 0, Frame.settings, Flag.acknowledgement, 0, 0, 0, 0]
        case Frame.ping where flags & Flag.acknowledgement == 0:
            guard length == Part.pingData.rawValue else { return false }
            skipped = 0
            part = .pingData
        default: break
        }
        return true
    }

    /// Half of the connection's window at a time (RFC 9113, 6.9). A stream's own is never given back: a push is far smaller.
    private mutating func giveBack(_ length: UInt32) {
        received += length
        guard received >= 65_535 / 2 else { return }
        output += [0, 0, 4, Frame.windowUpdate, 0, 0, 0, 0, 0] + Self.bytes(received)
        received = 0
    }

    // MARK: Answers

    /// Once for each stream that has ended.
    package mutating func answer(_ stream: UInt32) {
        openStreams -= 1
        let start = output.count
        output += Self.answer
        output[start + 5] = UInt8(truncatingIfNeeded: stream >> 24)
        output[start + 6] = UInt8(truncatingIfNeeded: stream >> 16)
        output[start + 7] = UInt8(truncatingIfNeeded: stream >> 8)
        output[start + 8] = UInt8(truncatingIfNeeded: stream)
    }

    /// HEADERS with END_STREAM and END_HEADERS, still of stream 0: ":status: 200" of the static table, and as "literal never
    /// indexed" (RFC 7541, 6.2.3) "apns-id: 123e4567-e89b-12d3-a456-426614174000" in Huffman code, both as nghttp2 encodes
    /// them, so that a client has as much to decode as of real answers.
    private static let answer: [UInt8] = [
        0, 0, 35, Frame.headers, 5, 0, 0, 0, 0,
        0x88, 0x10, 0x85, 0x1d, 0x75, 0x21, 0x63, 0x49, 0x9a, 0x08, 0x99, 0x2b, 0x4d, 0xb8, 0xea, 0xc5, 0x79, 0xf8,
        0xd6, 0x08, 0xa4, 0x65, 0x61, 0xb4, 0xdb, 0x8b, 0x34, 0x27, 0x1c, 0x0b, 0x41, 0x75, 0xa0, 0x00, 0x1f,
    ]

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// RFC 9113, 6.
    private enum Frame {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let windowUpdate: UInt8 = 8
    }

    private enum Flag {
        static let endStream: UInt8 = 1
        static let acknowledgement: UInt8 = 1
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
