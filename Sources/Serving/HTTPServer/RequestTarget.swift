// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A request's target, split into its parts. Each part is decoded once, after the split, so that an encoded slash stays
/// inside its segment.
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

    /// Why a target is refused.
    package enum Fault: Error, Hashable, Sendable {
        /// The path is not absolute, or something does not decode to UTF-8.
        case malformed
        /// More segments than `ListBound.pathSegments`; no path of the API has so many.
        case tooManySegments
        /// More parameters than `ListBound.queryParameters`.
        case tooManyParameters
    }

    package init(_ text: String) throws(Fault) {
        // Bytes, not characters: RFC 3986 is defined in bytes. Those of an array, which are looked at one by one without a call.
        let bytes = Array(text.utf8)
        let (path, rest) = Self.cut(bytes[...], at: UInt8(ascii: "?"))
        guard path.first == UInt8(ascii: "/") else { throw .malformed }
        let parts = ListBound.pathSegments.whole(path.dropFirst(), at: UInt8(ascii: "/"), omittingEmpty: false)
        guard let parts else { throw .tooManySegments }
        segments = []
        segments.reserveCapacity(parts.count)
        for segment in parts {
            guard let decoded = Self.decode(segment, plusIsSpace: false) else { throw .malformed }
            segments.append(decoded)
        }
        query = []
        guard let rest else { return }
        guard let pairs = ListBound.queryParameters.whole(rest, at: UInt8(ascii: "&")) else {
            throw .tooManyParameters
        }
        query.reserveCapacity(pairs.count)
        for pair in pairs {
            let (name, value) = Self.cut(pair, at: UInt8(ascii: "="))
            guard let name = Self.decode(name, plusIsSpace: true),
                let value = value.map({ Self.decode($0, plusIsSpace: true) }) ?? ""
            else { throw .malformed }
            query.append(QueryItem(name: name, value: value))
        }
    }

    /// The parts before and after the first separator; the second is nil where there is none.
    private static func cut(
        _ text: ArraySlice<UInt8>, at separator: UInt8
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let index = text.firstIndex(of: separator) else { return (text, nil) }
        return (text[..<index], text[(index + 1)...])
    }

    /// - Parameter plusIsSpace: true in a query, as every library writes forms (WHATWG URL, section 5.1).
    private static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
        let encoded = text.contains { byte in
            byte == UInt8(ascii: "%") || byte == 0 || byte == UInt8(ascii: "+") && plusIsSpace
        }
        // Nearly all values that apps send.
        if !encoded { return String(decoding: text, as: UTF8.self) }
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
