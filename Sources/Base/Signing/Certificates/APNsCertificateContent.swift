// SPDX-License-Identifier: Apache-2.0

/// Apple's two worlds of push services.
package enum APNsWorld: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
}

/// The purpose of an Apple certificate for pushes, by its extensions (PROTOCOLS 1.4; Apple, "Certificate Policy WWDR").
package struct APNsCertificateContent: Sendable, Hashable {
    /// A topic and what may be pushed to it: "app", "voip", "complication".
    package struct Topic: Sendable, Hashable {
        package var name: String
        package var uses: [String]
    }

    package var worlds: Set<APNsWorld>
    /// Every topic that it names.
    package var topics: [Topic]

    /// The topics that an alert may be pushed to. Apple's certificate for one app names three topics: the app's
    /// identifier, and the same with ".voip" and with ".complication" at its end; no alert goes to the last two.
    package var alertTopics: [String] {
        topics.filter { $0.uses.isEmpty || $0.uses.contains("app") }.map(\.name)
    }

    private enum Extension {
        static let development = "1.2.840.113635.100.6.3.1"
        static let production = "1.2.840.113635.100.6.3.2"
        static let topics = "1.2.840.113635.100.6.3.6"
    }

    /// - Parameter content: the content of the extension with this identifier; nil: the certificate does not have it.
    init(userID: String?, content: (String) -> [UInt8]?) {
        worlds = []
        if content(Extension.development) != nil { worlds.insert(.sandbox) }
        if content(Extension.production) != nil { worlds.insert(.production) }
        // In a certificate for one app the subject's UID is the topic.
        topics =
            content(Extension.topics).flatMap(Self.topics)
            ?? userID.map { [Topic(name: $0, uses: [])] } ?? []
    }

    // MARK: DER

    /// Parses a sequence in which each topic, a UTF8String, is followed by a sequence of its uses. nil for anything else.
    static func topics(_ bytes: [UInt8]) -> [Topic]? {
        var rest = bytes[...]
        guard let outer = element(&rest), outer.tag == Tag.sequence, rest.isEmpty else { return nil }
        rest = outer.content
        var topics: [Topic] = []
        while let next = element(&rest) {
            switch next.tag {
            case Tag.text:
                topics.append(Topic(name: String(decoding: next.content, as: UTF8.self), uses: []))
            case Tag.sequence where !topics.isEmpty:
                var inner = next.content
                while let use = element(&inner), use.tag == Tag.text {
                    topics[topics.count - 1].uses.append(String(decoding: use.content, as: UTF8.self))
                }
            default: return nil
            }
        }
        return rest.isEmpty && !topics.isEmpty ? topics : nil
    }

    private enum Tag {
        static let sequence: UInt8 = 0x30
        static let text: UInt8 = 0x0C
    }

    /// Takes one element (X.690, 8.1): a tag of one byte and a definite length.
    private static func element(_ rest: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        var bytes = rest
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first & 0x80 != 0 {
            let count = Int(first & 0x7F)
            guard (1...3).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { return nil }
        rest = bytes.dropFirst(length)
        return (tag, bytes.prefix(length))
    }
}
