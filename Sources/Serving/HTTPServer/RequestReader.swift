// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Parses the bytes of one connection into requests (RFC 9112). Pure: bytes in, events out.
///
/// Strict: input that two readers could understand in two ways is refused. Otherwise a client could smuggle a request past
/// a proxy that reads the input differently from the relay (section 11.2).
package struct RequestReader {
    package enum Event {
        /// The rest is not a whole line: pass it again, with more bytes after it.
        case more
        case head(RequestHead)
        /// A piece of the body: its place in the bytes.
        case body(Range<Int>)
        /// The request is complete.
        case end
        /// Nothing after this can be read.
        case refused(RequestRefusal)
    }

    private enum State {
        case requestLine
        case fields
        case content(left: Int64)
        case chunkSize
        case chunk(left: Int64)
        case chunkEnd
        case trailers
        case complete
        case refused
    }

    private let rules: RequestRules
    private var state = State.requestLine
    /// The head so far.
    private var head: HeadBuilder
    /// Bytes of the lines of this head, or of this body's chunk extensions and trailers.
    private var lineBytes = 0
    /// Whether an empty line before the request line was skipped: "A server that is expecting to receive and parse a
    /// request-line SHOULD ignore at least one empty line (CRLF)" (section 2.2).
    private var hasSkipped = false
    /// Bytes of the incomplete line that were already searched for its end.
    private var scanned = 0

    package init(_ rules: RequestRules) {
        self.rules = rules
        head = HeadBuilder(rules)
    }

    /// Whether a request line has been read and its request is not complete.
    var isInRequest: Bool {
        if case .requestLine = state { false } else { true }
    }

    /// - Parameter rest: the unread part of `bytes`; each event takes its bytes from the front.
    package mutating func next(_ bytes: [UInt8], _ rest: inout Range<Int>) -> Event {
        do throws(RequestRefusal) {
            while true {
                if let event = try step(bytes, &rest) { return event }
            }
        } catch {
            state = .refused
            return .refused(error)
        }
    }

    /// - Returns: nil to go on.
    private mutating func step(_ bytes: [UInt8], _ rest: inout Range<Int>) throws(RequestRefusal) -> Event? {
        switch state {
        case .requestLine:
            // The 64 bytes are for the method and the version, which are short where they are valid.
            guard let line = try line(bytes, &rest, limit: rules.target + 64, rules.targetTooLong)
            else { return .more }
            if line.isEmpty, !hasSkipped {
                hasSkipped = true
                return nil
            }
            try head.take(requestLine: bytes[line])
            try count(line, rules.headTooLarge)
            state = .fields
        case .fields:
            guard let line = try line(bytes, &rest, limit: rules.head - lineBytes, rules.headTooLarge) else {
                return .more
            }
            try count(line, rules.headTooLarge)
            guard line.isEmpty else {
                try head.take(field: bytes[line])
                return nil
            }
            let head = try head.finish()
            (lineBytes, self.head) = (0, HeadBuilder(rules))
            switch head.body {
            case .none: state = .complete
            case .length(let count): state = .content(left: count)
            case .chunked: state = .chunkSize
            }
            return .head(head)
        case .content(let left):
            return take(left, &rest) { left in left == 0 ? .complete : .content(left: left) }
        case .chunk(let left):
            return take(left, &rest) { left in left == 0 ? .chunkEnd : .chunk(left: left) }
        case .chunkSize:
            guard let line = try line(bytes, &rest, limit: 1024, .chunkExtensionsTooLong) else { return .more }
            let (size, digits) = try Self.chunkSize(bytes[line])
            lineBytes += line.count - digits
            if lineBytes > rules.head { throw .chunkExtensionsTooLong }
            if size == 0 { lineBytes = 0 }
            state = size == 0 ? .trailers : .chunk(left: size)
        case .chunkEnd:
            guard let line = try line(bytes, &rest, limit: 0, .badChunk) else { return .more }
            guard line.isEmpty else { throw .badChunk }
            state = .chunkSize
        case .trailers:
            guard let line = try line(bytes, &rest, limit: rules.head - lineBytes, .trailersTooLarge) else {
                return .more
            }
            try count(line, .trailersTooLarge)
            // No handler reads trailers: their form is checked, and they are dropped (section 7.1.2).
            if line.isEmpty { state = .complete } else { _ = try HeadBuilder.cut(field: bytes[line]) }
        case .complete:
            (state, hasSkipped, lineBytes) = (.requestLine, false, 0)
            return .end
        case .refused:
            return .more
        }
        return nil
    }

    private mutating func take(_ left: Int64, _ rest: inout Range<Int>, _ next: (Int64) -> State) -> Event {
        if rest.isEmpty { return .more }
        let count = Int(min(left, Int64(rest.count)))
        let piece = rest.lowerBound..<rest.lowerBound + count
        rest = piece.upperBound..<rest.upperBound
        state = next(left - Int64(count))
        return .body(piece)
    }

    /// The next line without its end; nil: it is not complete. A CR inside is a control character and refused as such.
    private mutating func line(
        _ bytes: [UInt8], _ rest: inout Range<Int>, limit: Int, _ tooLong: RequestRefusal
    ) throws(RequestRefusal) -> Range<Int>? {
        let most = max(limit, 0) + 2
        let known = rest.prefix(most)
        guard let end = bytes[known.dropFirst(scanned)].firstIndex(of: 0x0A) else {
            if rest.count >= most { throw tooLong }
            scanned = known.count
            return nil
        }
        scanned = 0
        // "a recipient MAY recognize a single LF as a line terminator" (section 2.2): another reader may not, so it is
        // refused.
        guard end > rest.lowerBound, bytes[end - 1] == 0x0D else { throw .bareLineFeed }
        defer { rest = end + 1..<rest.upperBound }
        return rest.lowerBound..<end - 1
    }

    private mutating func count(_ line: Range<Int>, _ tooLarge: RequestRefusal) throws(RequestRefusal) {
        lineBytes += line.count + 2
        if lineBytes > rules.head { throw tooLarge }
    }

    /// The size at the start of a chunk, and its number of digits. Extensions are ignored (section 7.1.1).
    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(RequestRefusal) -> (Int64, digits: Int) {
        var (size, digits): (Int64, Int) = (0, 0)
        for byte in line {
            guard let value = Hex.value(of: byte) else { break }
            (size, digits) = (size << 4 | Int64(value), digits + 1)
            // 15 digits fit an Int64, and no body is longer.
            if digits > 15 { throw .badChunk }
        }
        let extensions = line.dropFirst(digits)
        // White space is allowed before the semicolon only.
        let first = extensions.first { $0 != 0x20 && $0 != 0x09 }
        guard digits > 0, extensions.isEmpty || first == UInt8(ascii: ";") else { throw .badChunk }
        guard extensions.allSatisfy(HeadBuilder.isText) else { throw .controlCharacter }
        return (size, digits)
    }
}

/// The rules for the heads that a server takes, shared by all of its connections.
package final class RequestRules: Sendable {
    /// Bytes.
    let target: Int
    let head: Int
    /// Fields of one head.
    let fields = ListBound.headerFields.limit
    /// Names of the headers that the handler reads, in lower case.
    let handed: [String]
    let targetTooLong: RequestRefusal
    let headTooLarge: RequestRefusal

    package init(target: Int, head: Int, handed: [String]) {
        (self.target, self.head, self.handed) = (target, head, handed)
        (targetTooLong, headTooLarge) = (.targetTooLong(limit: target), .headTooLarge(limit: head))
    }
}
