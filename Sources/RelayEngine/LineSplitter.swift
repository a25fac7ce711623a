// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines; ends are LF or CR LF. Holds at most one line of `limit` bytes, whatever comes.
package struct LineSplitter: Sendable {
    package enum Line: Hashable, Sendable {
        /// Without its line end.
        case whole([UInt8])
        /// It had more than `limit` bytes; they are gone.
        case tooLong
    }

    /// Bytes.
    package let limit: Int
    private var begun: [UInt8] = []
    private var isTooLong = false
    /// Lines that were given out, which is the number of the last one.
    package private(set) var count = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Gives the lines that `bytes` completes, each with its number from 1. What `line` throws leaves the splitter in the
    /// middle of the bytes: it is of no more use then.
    package mutating func feed(_ bytes: [UInt8], _ line: (Line, Int) throws -> Void) rethrows {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            append(rest[..<end])
            try give(line)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    /// The last line, if it had no line end.
    package mutating func finish(_ line: (Line, Int) throws -> Void) rethrows {
        if isTooLong || !begun.isEmpty { try give(line) }
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

    private mutating func give(_ line: (Line, Int) throws -> Void) rethrows {
        count += 1
        if isTooLong {
            try line(.tooLong, count)
        } else {
            if begun.last == 0x0D { begun.removeLast() }
            try line(.whole(begun), count)
        }
        isTooLong = false
        begun.removeAll(keepingCapacity: true)
    }
}
