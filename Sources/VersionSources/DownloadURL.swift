// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// What the relay takes as a download URL: any absolute URL, for an app's own scheme opens a store as well as https does.
package enum DownloadURL {
    package static let maximumLength = 2048
    static let example = "https://apps.apple.com/app/id1173193999"

    /// What is wrong with the text; nil when it is an absolute URL.
    package static func fault(in text: String) -> String? {
        let need = "an absolute URL is needed, such as \"\(example)\""
        guard text.utf8.count <= maximumLength else {
            return "has at most \(maximumLength) characters; it had \(text.utf8.count)"
        }
        // RFC 3986 section 2: a URI is written in visible ASCII; but phones take others too, so only what can never be
        // meant is refused.
        guard !text.unicodeScalars.contains(where: { $0 == " " || $0.properties.generalCategory == .control }) else {
            return "\(need), without spaces; it was \(JSONValue.string(text).sight)"
        }
        // RFC 3986 section 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first, isLetter(first),
            text.utf8[..<colon].allSatisfy({ isLetter($0) || (48...57).contains($0) || [43, 45, 46].contains($0) })
        else {
            return "\(need); it was \(JSONValue.string(text).sight)"
        }
        let rest = text[text.index(after: colon)...]
        let scheme = text[..<colon].lowercased()
        if scheme == "http" || scheme == "https" {
            guard rest.hasPrefix("//"), let host = rest.dropFirst(2).first, !"/?#:".contains(host) else {
                return "\(need); it was \(JSONValue.string(text).sight), which names no host"
            }
        }
        return rest.isEmpty ? "\(need); it was \(JSONValue.string(text).sight)" : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte)
    }
}
