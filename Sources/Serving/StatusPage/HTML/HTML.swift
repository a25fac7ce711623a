// SPDX-License-Identifier: Apache-2.0

/// A document that is written element by element. Text from elsewhere can only become text or an attribute's value, and is
/// escaped there (WHATWG HTML, section 13.1.2); there is no way to add markup as a string.
package struct HTML: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The id of the only part to write; nil: all of the document.
    private let wanted: String?
    /// Where that part is in `bytes`.
    private var found: Range<Int>?
    /// The zone of the moments in it.
    var zone = PageZone.browser

    package init(only wanted: String? = nil) { self.wanted = wanted }

    /// The page's own text.
    package mutating func text(_ text: String) { Self.escape(text, to: &bytes) }

    /// Text from elsewhere: a name, a reason, a message. Its direction stays its own (WHATWG HTML, section 4.5.24, `bdi`).
    package mutating func foreign(_ text: String) { tag("bdi", text: text) }

    package mutating func tag(
        _ name: StaticString, _ attributes: [Attribute] = [], _ content: (inout HTML) throws -> Void
    ) rethrows {
        open(name, attributes)
        try content(&self)
        close(name)
    }

    package mutating func tag(_ name: StaticString, _ attributes: [Attribute] = [], text: String) {
        open(name, attributes)
        self.text(text)
        close(name)
    }

    /// An element without content (WHATWG HTML, section 13.1.2, "void elements").
    package mutating func void(_ name: StaticString, _ attributes: [Attribute] = []) { open(name, attributes) }

    /// An element that the script fetches again, alone, whenever one of `topics` has changed. Where another part is wanted,
    /// `content` is not called.
    package mutating func part(
        _ id: String, _ element: StaticString = "div", on topics: [String], _ attributes: [Attribute] = [],
        _ content: (inout HTML) throws -> Void
    ) rethrows {
        guard wanted == nil || wanted == id else { return }
        let start = bytes.count
        try tag(
            element, [.id(id), .named("data-live", topics.joined(separator: " "))] + attributes, content)
        if wanted != nil { found = start..<bytes.count }
    }

    /// The one part that was wanted; nil: no part has its id.
    package var part: [UInt8]? { found.map { Array(bytes[$0]) } }

    /// A style sheet of the page's own, inline. Text from elsewhere cannot get in this way.
    mutating func sheet(_ file: PageAssets.File) {
        open("style", [])
        bytes += file.bytes
        close("style")
    }

    package mutating func doctype() { bytes += "<!doctype html>\n".utf8 }

    private mutating func open(_ name: StaticString, _ attributes: [Attribute]) {
        bytes.append(UInt8(ascii: "<"))
        append(name)
        for attribute in attributes where attribute.isPresent {
            bytes.append(0x20)
            append(attribute.name)
            guard let value = attribute.value else { continue }
            bytes += "=\"".utf8
            Self.escape(value, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func close(_ name: StaticString) {
        bytes += "</".utf8
        append(name)
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ name: StaticString) { bytes += name.description.utf8 }

    private static func escape(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            // HTML allows none of them (WHATWG HTML, section 13.1.4); a line break in a text shows as a space.
            case 0..<0x20 where byte != 0x09 && byte != 0x0A, 0x7F: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
    }
}

/// One attribute. Its name is the page's own; a link leads only to a path of this server.
package struct Attribute: Sendable {
    let name: StaticString
    /// nil: an attribute without a value.
    let value: String?
    let isPresent: Bool

    private init(_ name: StaticString, value: String?, isPresent: Bool = true) {
        self.name = name
        self.value = value
        self.isPresent = isPresent
    }

    /// Traps on names that would run code or lead elsewhere: `on…`, `style`, `srcdoc`, and those that take a path (see below).
    package static func named(_ name: StaticString, _ value: String) -> Attribute {
        let text = name.description
        precondition(
            !text.hasPrefix("on") && !["style", "srcdoc", "href", "src", "action", "formaction"].contains(text))
        return Attribute(name, value: value)
    }

    package static func named(_ name: StaticString, _ value: Int64) -> Attribute { .named(name, String(value)) }

    /// "checked", "required" and the like, which are present or absent.
    package static func flag(_ name: StaticString, _ isPresent: Bool = true) -> Attribute {
        Attribute(name, value: nil, isPresent: isPresent)
    }

    package static func id(_ value: String) -> Attribute { Attribute("id", value: value) }
    package static func `class`(_ value: String) -> Attribute {
        Attribute("class", value: value, isPresent: !value.isEmpty)
    }
    package static func href(_ path: PagePath) -> Attribute { Attribute("href", value: path.text) }
    package static func src(_ path: PagePath) -> Attribute { Attribute("src", value: path.text) }
    package static func action(_ path: PagePath) -> Attribute { Attribute("action", value: path.text) }
    /// A place in the same document.
    package static func anchor(_ id: String) -> Attribute { Attribute("href", value: "#" + id) }
}
