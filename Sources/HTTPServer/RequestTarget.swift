// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A request's target cut into its parts, each decoded once and after the cutting, so that an encoded slash stays inside
/// its segment.
package struct RequestTarget: Hashable, Sendable {
    package var segments: [String]
    package var query: [QueryItem]

    package struct QueryItem: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// nil when the path is not absolute or something in it does not decode to UTF-8.
    package init?(_ text: String) {
        // Bytes, not characters: RFC 3986 knows no others, and looking for the ends of characters took a tenth of what a
        // login's question costs.
        let (path, rest) = Self.cut(text.utf8[...], at: UInt8(ascii: "?"))
        guard path.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let decoded = Self.decode(segment, plusIsSpace: false) else { return nil }
            segments.append(decoded)
        }
        var query: [QueryItem] = []
        for pair in rest?.split(separator: UInt8(ascii: "&")) ?? [] {
            let (name, value) = Self.cut(pair, at: UInt8(ascii: "="))
            guard let name = Self.decode(name, plusIsSpace: true),
                let value = value.map({ Self.decode($0, plusIsSpace: true) }) ?? ""
            else { return nil }
            query.append(QueryItem(name: name, value: value))
        }
        self.segments = segments
        self.query = query
    }

    /// What stands before the first separator, and what behind it; nil where there is none.
    private static func cut(
        _ text: Substring.UTF8View, at separator: UInt8
    ) -> (Substring.UTF8View, Substring.UTF8View?) {
        guard let index = text.firstIndex(of: separator) else { return (text, nil) }
        return (text[..<index], text[text.index(after: index)...])
    }

    /// - Parameter plusIsSpace: in a query, as every library that writes forms has it (WHATWG URL, section 5.1).
    private static func decode(_ text: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        let encoded = text.contains { byte in
            byte == UInt8(ascii: "%") || byte == 0 || byte == UInt8(ascii: "+") && plusIsSpace
        }
        // Nearly all of what apps send.
        if !encoded { return String(Substring(text)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Hex.value), let low = rest.next().flatMap(Hex.value) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(0x20)
            default:
                bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
