// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// What the relay takes as a download URL: any absolute URL, for an app's own scheme opens a store as well as https does.
package enum DownloadURL {
    package static let maximumLength = 2048
    static let example = "https://apps.apple.com/app/id1173193999"

    /// What is wrong with the text; nil when it is an absolute URL.
    package static func fault(in text: String) -> String? {
        // By scalars: a combining mark would hide the colon or the slash that it follows.
        let scalars = text.unicodeScalars
        let need = "an absolute URL is needed, such as \"\(example)\""
        guard scalars.count <= maximumLength else {
            return "has at most \(maximumLength) characters; it had \(scalars.count)"
        }
        // RFC 3986 section 2: a URI is written in visible ASCII; but phones take others too, so only what can never be
        // meant is refused.
        guard !scalars.contains(where: { $0 == " " || $0.properties.generalCategory == .control }) else {
            return "\(need), without spaces; it was \(JSONValue.string(text).sight)"
        }
        // RFC 3986 section 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
        guard let colon = scalars.firstIndex(of: ":"), let first = scalars.first, isLetter(first),
            scalars[..<colon].allSatisfy({ isLetter($0) || "0123456789+-.".unicodeScalars.contains($0) })
        else {
            return "\(need); it was \(JSONValue.string(text).sight)"
        }
        let rest = scalars[colon...].dropFirst()
        let scheme = text[..<colon].lowercased()
        if scheme == "http" || scheme == "https" {
            guard rest.starts(with: "//".unicodeScalars), let host = rest.dropFirst(2).first,
                !"/?#:".unicodeScalars.contains(host)
            else {
                return "\(need); it was \(JSONValue.string(text).sight), which names no host"
            }
        }
        return rest.isEmpty ? "\(need); it was \(JSONValue.string(text).sight)" : nil
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
