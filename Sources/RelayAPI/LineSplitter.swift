// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines. Holds at most one line of `limit` bytes, whatever comes.
struct LineSplitter {
    enum Line: Hashable {
        /// Without its line end.
        case whole([UInt8])
        /// It had more than `limit` bytes; they are gone.
        case tooLong
    }

    private let limit: Int
    private var begun: [UInt8] = []
    private var isTooLong = false
    /// Lines that were given out, which is the number of the last one.
    private(set) var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func feed(_ bytes: [UInt8], _ line: (Line, Int) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            append(rest[..<end])
            give(line)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    /// The last line, if it had no line end.
    mutating func finish(_ line: (Line, Int) -> Void) {
        if isTooLong || !begun.isEmpty { give(line) }
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

    private mutating func give(_ line: (Line, Int) -> Void) {
        count += 1
        if isTooLong {
            line(.tooLong, count)
        } else {
            if begun.last == 0x0D { begun.removeLast() }
            line(.whole(begun), count)
        }
        isTooLong = false
        begun.removeAll(keepingCapacity: true)
    }
}
