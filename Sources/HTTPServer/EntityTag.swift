// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A strong entity tag (RFC 9110, section 8.8.3), made of the content.
package struct EntityTag: Hashable, Sendable {
    /// With its quotation marks.
    package let text: String

    /// 64 bits of FNV-1a: the content is ours, nobody gains by a collision.
    package init(of content: [UInt8]) {
        text = "\"\(String(FNV1a.hash(content), radix: 16))\""
    }

    /// Whether `If-None-Match` names it: then 304. The comparison is weak, whatever the tags say (RFC 9110, 13.1.2).
    package func isNamed(in header: String?) -> Bool {
        guard let header else { return false }
        if header == text { return true }
        // Our tags hold no comma, so cutting at commas finds them whole.
        return header.split(separator: ",").contains { part in
            let tag = part.drop { $0 == " " || $0 == "\t" }
            let end = tag.lastIndex { $0 != " " && $0 != "\t" }.map { tag.index(after: $0) } ?? tag.startIndex
            let bare = tag[..<end]
            return bare == "*" || bare == text || bare == "W/" + text
        }
    }
}

/// Content that is rendered once and answered many times.
package struct PreparedContent: Sendable {
    package let bytes: [UInt8]
    package let tag: EntityTag
    /// The whole content with its headers, for shared caches and for the client's own.
    private let shared: ReadyResponse?
    private let own: ReadyResponse?

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
        shared = ReadyResponse(200, Self.headers(tag, isShared: true), bytes)
        own = ReadyResponse(200, Self.headers(tag, isShared: false), bytes)
    }

    private static func headers(_ tag: EntityTag, isShared: Bool) -> [(name: String, value: String)] {
        [("Content-Type", "application/json")] + validators(tag, isShared: isShared)
    }

    private static func validators(_ tag: EntityTag, isShared: Bool) -> [(name: String, value: String)] {
        [("ETag", tag.text), ("Cache-Control", isShared ? "no-cache" : "private, no-cache")]
    }

    /// 200, or 304 where the client has it already.
    ///
    /// - Parameter isShared: whether a proxy may keep it. Whoever keeps it asks before using it again ("no-cache").
    package func response(to head: RequestHead, isShared: Bool) -> Response {
        if tag.isNamed(in: head.headers["if-none-match"]) {
            return Response(status: 304, headers: Self.validators(tag, isShared: isShared), body: .bytes([]))
        }
        if let ready = isShared ? shared : own { return Response(status: 200, headers: [], body: .ready(ready)) }
        return Response(status: 200, headers: Self.headers(tag, isShared: isShared), body: .bytes(bytes))
    }
}
