// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
import WireFormat

/// A strong entity tag (RFC 9110, section 8.8.3): a hash of the content.
package struct EntityTag: Hashable, Sendable {
    /// The tag with its quotation marks.
    package let text: String

    /// 64 bits of FNV-1a: the content is the relay's own, so a collision helps no attacker.
    package init(of content: [UInt8]) {
        text = "\"\(String(FNV1a.hash(content), radix: 16))\""
    }

    /// Whether `If-None-Match` names this tag: then the answer is 304. The comparison is always weak (RFC 9110, section
    /// 13.1.2).
    package func isNamed(in header: String?) -> Bool {
        guard let header else { return false }
        if header == text { return true }
        // Our tags hold no comma, so cutting at commas finds them whole.
        return ListBound.entityTags.members(of: header).contains { part in
            let tag = part.drop { $0 == " " || $0 == "\t" }
            let end = tag.lastIndex { $0 != " " && $0 != "\t" }.map { tag.index(after: $0) } ?? tag.startIndex
            let bare = tag[..<end]
            return bare == "*" || bare == text || bare == "W/" + text
        }
    }
}

/// Content that is rendered once and sent many times.
package struct PreparedContent: Sendable {
    private struct Form {
        var bytes: [UInt8]
        var tag: EntityTag

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            tag = EntityTag(of: bytes)
        }
    }

    private let plain: Form
    /// The content in gzip (RFC 1952), where that is worth it. It has a tag of its own (RFC 9110, section 8.8.3.3).
    private let compressed: Form?
    private let type: String
    private let isImmutable: Bool

    /// - Parameters:
    ///   - compressed: the same bytes in gzip.
    ///   - type: the media type.
    ///   - isImmutable: whether the path identifies the content, so that a cache that has it never asks again (RFC 8246).
    package init(
        _ bytes: [UInt8], compressed: [UInt8]? = nil, type: String = "application/json", isImmutable: Bool = false
    ) {
        (self.type, self.isImmutable) = (type, isImmutable)
        plain = Form(bytes)
        self.compressed = compressed.map(Form.init)
    }

    /// Returns a 200, or a 304 where the client already has the content.
    ///
    /// - Parameters:
    ///   - isShared: whether a proxy may keep the content. A cache must ask again before each use ("no-cache"), unless it is
    ///     immutable.
    ///   - vary: the request header that chose this content among several; nil: none did.
    package func response(to head: RequestHead, isShared: Bool, vary: String? = nil) -> Response {
        var form = plain
        var headers: [(name: String, value: String)] = []
        if let vary { headers.append(("Vary", vary)) }
        if let compressed {
            headers.append(("Vary", "Accept-Encoding"))
            if Self.takesGzip(head.headers["accept-encoding"]) { form = compressed }
        }
        headers.append(("ETag", form.tag.text))
        let reuse = isImmutable ? "max-age=31536000, immutable" : "no-cache"
        var response: Response
        if form.tag.isNamed(in: head.headers["if-none-match"]) {
            response = Response(status: 304, headers: headers, body: .bytes([]))
        } else {
            headers.append(("Content-Type", type))
            if form.tag != plain.tag { headers.append(("Content-Encoding", "gzip")) }
            response = Response(status: 200, headers: headers, body: .bytes(form.bytes))
        }
        response.cacheControl = isShared ? reuse : "private, \(reuse)"
        return response
    }

    /// Whether `Accept-Encoding` names gzip, and not with the weight 0, "not acceptable" (RFC 9110, section 12.4.2).
    package static func takesGzip(_ header: String?) -> Bool {
        guard let header else { return false }
        // Nearly all clients send one of these.
        if header == "gzip" || header == "identity" { return header == "gzip" }
        return ListBound.acceptedCodings.members(of: header).contains { member in
            guard member.utf8.count <= ListBound.longestMember else { return false }
            let parts = member.lowercased().split(separator: ";", maxSplits: 8).map {
                $0.filter { $0 != " " && $0 != "\t" }
            }
            guard parts.first == "gzip" || parts.first == "x-gzip" else { return false }
            return !parts.dropFirst().contains {
                $0.hasPrefix("q=0") && $0.dropFirst(3).allSatisfy { ".0".contains($0) }
            }
        }
    }
}
