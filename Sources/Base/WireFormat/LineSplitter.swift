// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Cuts a stream of bytes into lines; ends are LF or CR LF. Holds at most one line of `limit` bytes, whatever comes.
package struct LineSplitter: Sendable {
    /// Bytes.
    package let limit: Int
    private var begun: [UInt8] = []
    /// Whether the line that has begun has more than `limit` bytes already.
    package private(set) var isTooLong = false
    /// Lines that were passed on, which is the number of the last one.
    package private(set) var count = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Passes on each line that `bytes` completes: bytes, the line's range in them without its end, and its number from 1. The
    /// range is nil for a line of more than `limit` bytes, which are dropped. If `line` throws, the splitter stops in the
    /// middle of the bytes and must not be used again.
    package mutating func feed(_ bytes: [UInt8], _ line: ([UInt8], Range<Int>?, Int) throws -> Void) rethrows {
        var start = 0
        while let end = Self.lineEnd(in: bytes, from: start) {
            if begun.isEmpty && !isTooLong && end - start <= limit {
                count += 1
                let hasReturn = end > start && bytes[end - 1] == 0x0D
                try line(bytes, start..<(hasReturn ? end - 1 : end), count)
            } else {
                append(bytes[start..<end])
                try give(line)
            }
            start = end + 1
        }
        append(bytes[start...])
    }

    /// The last line, if it had no line end.
    package mutating func finish(_ line: ([UInt8], Range<Int>?, Int) throws -> Void) rethrows {
        if isTooLong || !begun.isEmpty { try give(line) }
    }

    /// Uses memchr: a search byte by byte costs as much as all the other work on a line.
    package static func lineEnd(in bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if begun.count + bytes.count > limit {
            isTooLong = true
            begun = []
        } else {
            begun.append(contentsOf: bytes)
        }
    }

    private mutating func give(_ line: ([UInt8], Range<Int>?, Int) throws -> Void) rethrows {
        count += 1
        if isTooLong {
            try line([], nil, count)
        } else {
            let end = begun.last == 0x0D ? begun.count - 1 : begun.count
            try line(begun, 0..<end, count)
        }
        isTooLong = false
        begun.removeAll(keepingCapacity: true)
    }
}
