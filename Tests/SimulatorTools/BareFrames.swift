// SPDX-License-Identifier: Apache-2.0

/// The server's end of an HTTP/2 connection in bare mode (RFC 9113): it reads only the heads of frames, and gives every request the
/// same answer: `BareAnswers`.
///
/// It judges nothing: it decodes no header block, keeps no body, remembers no stream, and mostly does not report a client's
/// protocol error. It must cost less than the sender that is measured against it. Pure.
package struct BareFrames {
    /// The bytes to write, in order.
    package var output: [UInt8] = []
    /// Streams whose request has ended. The caller answers them and empties this.
    package var ended: [UInt32] = []
    /// The most streams that were open at once. A stream that its client gives up counts as open.
    package private(set) var mostStreams = 0
    private var openStreams = 0
    private var highestStream: UInt32 = 0
    /// The bytes of DATA that have not been returned to the client's window yet.
    private var received: UInt32 = 0

    /// The part of the input that comes next, with its size.
    private enum Part: Int {
        /// RFC 9113, 3.4.
        case preface = 24
        /// RFC 9113, 4.1.
        case head = 9
        /// RFC 9113, 6.7.
        case pingData = 8
    }

    private var part = Part.preface
    /// The beginning of `part`, while the rest is missing.
    private var kept: [UInt8] = []
    /// The remaining bytes of a payload to skip.
    private var skipped = 0

    private let answers: BareAnswers

    /// - Parameter maximumStreams: announced, not enforced.
    package init(maximumStreams: UInt32, answers: BareAnswers) {
        self.answers = answers
        let settings: [UInt8] = [0, 6, Frame.settings, 0, 0, 0, 0, 0, /* SETTINGS_MAX_CONCURRENT_STREAMS */ 0, 3]
        output = [0] + settings + Self.bytes(maximumStreams)
    }

    // MARK: Bytes in

    /// - Returns: false if the connection cannot go on.
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
        // More than SETTINGS_MAX_FRAME_SIZE, which is not raised here (RFC 9113, 4.2).
        guard length <= 16_384 else { return false }
        skipped = Int(length)
        let (type, flags) = (head[3], head[4])
        switch type {
        case Frame.headers, Frame.data:
            let stream = UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            // HEADERS on an earlier stream are trailers.
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

    /// Returns the connection's window once half of it is used (RFC 9113, 6.9). A stream's own window is never returned: a push is
    /// far smaller.
    private mutating func giveBack(_ length: UInt32) {
        received += length
        guard received >= 65_535 / 2 else { return }
        output += [0, 0, 4, Frame.windowUpdate, 0, 0, 0, 0, 0] + Self.bytes(received)
        received = 0
    }

    // MARK: Answers

    /// Must be called once for each stream that has ended.
    package mutating func answer(_ stream: UInt32) {
        openStreams -= 1
        if stream == 1 {
            Self.append(answers.first, of: stream, to: &output)
        } else {
            Self.append(answers.later, of: stream, to: &output)
        }
    }

    /// Borrows the one answer: a method on `self` would copy it first.
    private static func append(_ answer: borrowing BareAnswers.Answer, of stream: UInt32, to output: inout [UInt8]) {
        let start = output.count
        output += answer.bytes
        name(stream, at: start + 5, in: &output)
        if answer.secondFrame > 0 { name(stream, at: start + answer.secondFrame + 5, in: &output) }
    }

    private static func name(_ stream: UInt32, at place: Int, in output: inout [UInt8]) {
        output[place] = UInt8(truncatingIfNeeded: stream >> 24)
        output[place + 1] = UInt8(truncatingIfNeeded: stream >> 16)
        output[place + 2] = UInt8(truncatingIfNeeded: stream >> 8)
        output[place + 3] = UInt8(truncatingIfNeeded: stream)
    }

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
