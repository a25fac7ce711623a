// SPDX-License-Identifier: Apache-2.0

/// A path of this server, with a query. It begins with one slash and a segment of the page's own, so that it never names another host.
package struct PagePath: Hashable, Sendable {
    package private(set) var text: String
    private var hasQuery = false

    /// The first screen.
    package static let home = PagePath()

    private init() { text = "/" }

    package init(_ root: StaticString, _ segments: String...) {
        text = "/" + root.description + segments.map { "/" + Self.encode($0) }.joined()
    }

    /// A view that a form or a link names, to lead back there; nil: it is no view of the page, or not written as one.
    package init?(view text: String) {
        guard text != "/" else {
            self = .home
            return
        }
        let path = text.prefix { $0 != "?" }
        // No view has more segments.
        let segments = path.split(separator: "/", maxSplits: 15, omittingEmptySubsequences: false)
        guard text.utf8.count <= 2048, segments.count > 2, segments.count < 16, segments[0].isEmpty,
            segments[1] == "page",
            !["assets", "enter", "language", "session", "zone"].contains(segments[2]), !segments.contains(".."),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}#".utf8.contains($0) })
        else { return nil }
        (self.text, hasQuery) = (text, text.utf8.count > path.utf8.count)
    }

    /// Adds a query parameter; nil or an empty value adds none.
    package func with(_ name: StaticString, _ value: String?) -> PagePath {
        guard let value, !value.isEmpty else { return self }
        var path = self
        path.text += (hasQuery ? "&" : "?") + name.description + "=" + Self.encode(value)
        path.hasQuery = true
        return path
    }

    /// The same path, at the element with an id.
    package func at(_ id: StaticString) -> PagePath {
        var path = self
        path.text += "#" + id.description
        return path
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
    private static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count == 1 ? "0" + digits : digits)
            }
        }
        // Dots alone would be taken for this folder or the one above (RFC 3986, section 5.2.4).
        return encoded == "." || encoded == ".." ? encoded.replacing(".", with: "%2E") : encoded
    }
}
