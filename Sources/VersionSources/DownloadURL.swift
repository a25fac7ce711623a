// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// What the relay takes as a download URL: https, or a scheme that the configuration allows for the app, such as itms-apps.
/// Phones open it without asking, so what else a scheme may do to them is not for whoever may send a bump to choose.
package enum DownloadURL {
    package static let maximumLength = 2048
    static let example = "https://apps.apple.com/app/id1173193999"

    /// Schemes that no configuration allows: those that run what they hold or read the phone, and those that anybody between
    /// the server and the phone may answer.
    static let neverAllowed: Set<String> = ["http", "ftp", "javascript", "data", "vbscript", "file", "blob", "about"]

    /// What is wrong with a scheme that a configuration wants to allow; nil: nothing.
    package static func fault(inScheme text: String) -> String? {
        let example = "a custom scheme such as \"itms-apps\", without the colon"
        guard let first = text.unicodeScalars.first, isLetter(first), text.utf8.count <= 64,
            text.unicodeScalars.allSatisfy(isOfScheme)
        else { return "is not the name of a scheme; \(example)" }
        return neverAllowed.contains(text.lowercased()) ? "is never allowed; \(example)" : nil
    }

    /// What is wrong with the text; nil when it is an absolute URL of https or of one of the schemes.
    ///
    /// - Parameter repeats: whether it says what the text was; not where whoever reports it says that himself.
    package static func fault(in text: String, schemes: [String] = [], repeats: Bool = true) -> String? {
        let was = repeats ? "; got \(JSONValue.string(text).sight)" : ""
        // By scalars: a combining mark would hide the colon or the slash that it follows.
        let scalars = text.unicodeScalars
        let need = "an absolute URL is needed, such as \"\(example)\""
        guard scalars.count <= maximumLength else {
            return "has at most \(maximumLength) characters; it had \(scalars.count)"
        }
        // RFC 3986 section 2: a URI is written in visible ASCII; but phones take others too, so only what can never be
        // meant is refused.
        guard !scalars.contains(where: { $0 == " " || $0.properties.generalCategory == .control }) else {
            return "\(need), without spaces\(was)"
        }
        // RFC 3986 section 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
        guard let colon = scalars.firstIndex(of: ":"), let first = scalars.first, isLetter(first),
            scalars[..<colon].allSatisfy(isOfScheme)
        else {
            return "\(need)\(was)"
        }
        let rest = scalars[colon...].dropFirst()
        let scheme = text[..<colon].lowercased()
        if scheme == "https" {
            guard rest.starts(with: "//".unicodeScalars), let host = rest.dropFirst(2).first,
                !"/?#:".unicodeScalars.contains(host)
            else {
                return repeats ? "\(need)\(was), which names no host" : "\(need), with a host"
            }
            // RFC 3986 section 3.2.1: every phone would be given the password.
            let authority = rest.dropFirst(2).prefix { !"/?#".unicodeScalars.contains($0) }
            guard !authority.contains("@") else { return "\(need), without a user name or password" }
        }
        guard scheme == "https" || schemes.contains(where: { $0.lowercased() == scheme }) else {
            let allowed = (["https"] + schemes).joined(separator: " or ")
            let hint =
                neverAllowed.contains(scheme) ? "" : "; downloadSchemes in the app's configuration can allow another"
            return "its scheme must be \(allowed)\(was)\(hint)"
        }
        return rest.isEmpty ? "\(need)\(was)" : nil
    }

    private static func isOfScheme(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || "0123456789+-.".unicodeScalars.contains(scalar)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
