// SPDX-License-Identifier: Apache-2.0

/// How far a zone's clocks are ahead of UTC, from a file of the tz database (TZif, RFC 9636). Pure.
struct TimeZoneFile: Sendable {
    /// When the clocks were set, in seconds since 1970, ascending.
    private let moments: [Int64]
    /// The offset from each of these moments on, in seconds ahead of UTC.
    private let offsets: [Int64]
    /// The offset before the first of them.
    private let first: Int64
    /// The rule after the last of them; nil: the last offset stays.
    private let rule: ClockRule?

    /// Reads the bytes of a file; nil for other bytes, and for the first version of TZif, which ends with the year 2037.
    init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes[...]), old.version >= UInt8(ascii: "2"),
            let new = Header(bytes.dropFirst(Header.size + old.bodySize(timeSize: 4)))
        else { return nil }
        var rest = bytes.dropFirst(Header.size + old.bodySize(timeSize: 4) + Header.size)
        let footer = rest.dropFirst(new.bodySize(timeSize: 8))
        guard rest.count >= new.bodySize(timeSize: 8), new.types > 0 else { return nil }
        let moments = (0..<new.times).map { _ in Self.number(8, &rest) }
        let kinds = (0..<new.times).map { _ in Int(Self.number(1, &rest)) }
        // Each type has its offset, whether it is daylight saving, and the place of its abbreviation.
        let types = (0..<new.types).map { _ in
            let offset = Int64(Int32(truncatingIfNeeded: Self.number(4, &rest)))
            _ = Self.number(2, &rest)
            return offset
        }
        guard kinds.allSatisfy({ $0 < types.count }), zip(moments, moments.dropFirst()).allSatisfy(<) else {
            return nil
        }
        self.moments = moments
        offsets = kinds.map { types[$0] }
        first = types[0]
        // The rule stands between two line feeds; it is empty where there is none.
        guard footer.first == 0x0A, let end = footer.dropFirst().firstIndex(of: 0x0A) else { return nil }
        let text = footer[footer.startIndex + 1..<end]
        rule = ClockRule(text)
        if rule == nil, !text.isEmpty { return nil }
    }

    /// In seconds ahead of UTC; below 0 west of Greenwich.
    func offset(at secondsSince1970: Int64) -> Int64 {
        if let rule, secondsSince1970 >= moments.last ?? .min { return rule.offset(at: secondsSince1970) }
        // The number of moments that are not later.
        var (low, high) = (0, moments.count)
        while low < high {
            let middle = (low + high) / 2
            if moments[middle] <= secondsSince1970 { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : offsets[low - 1]
    }

    /// The next bytes as a big-endian number. The caller ensures that there are enough.
    private static func number(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> Int64 {
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) }
    }

    private struct Header {
        static let size = 44

        let version: UInt8
        /// The six counts of the header, in the order of the file.
        private let counts: [Int]
        var times: Int { counts[3] }
        var types: Int { counts[4] }

        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count >= Self.size, bytes.starts(with: "TZif".utf8) else { return nil }
            version = bytes[bytes.startIndex + 4]
            var rest = bytes.dropFirst(20)
            counts = (0..<6).map { _ in Int(TimeZoneFile.number(4, &rest)) }
        }

        /// The size of the data after the header, in bytes.
        func bodySize(timeSize: Int) -> Int {
            // UT and standard indicators, leap seconds, times, types, characters of abbreviations.
            counts[0] + counts[1] + counts[2] * (timeSize + 4) + counts[3] * (timeSize + 1) + counts[4] * 6 + counts[5]
        }
    }
}
