// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The download URLs that the relay takes: https, or a scheme that the configuration allows for the app, such as
/// itms-apps. Phones open them without asking, so a bump's sender must not choose what else a scheme may do to them.
///
/// Before iOS 17 `NSURL` is nil for a text that breaks RFC 3986, and a prompt without an address leads nowhere. So a
/// path in another script is encoded here, and an ambiguous text is refused with the text to send.
package enum DownloadURL {
    /// As it is sent, in characters.
    package static let maximumLength = 2048
    package static let example = "https://apps.apple.com/app/id1173193999"

    /// Schemes that no configuration may allow: those that run what they hold or read the phone, and those that any
    /// machine between the server and the phone may answer.
    static let neverAllowed: Set<String> = ["http", "ftp", "javascript", "data", "vbscript", "file", "blob", "about"]

    /// The fault of a scheme that a configuration lists; nil: none.
    package static func fault(inScheme text: String) -> String? {
        let example = "a custom scheme such as \"itms-apps\", without the colon"
        guard let first = text.unicodeScalars.first, isLetter(first), text.utf8.count <= 64,
            text.unicodeScalars.allSatisfy(isOfScheme)
        else { return "is not the name of a scheme; \(example)" }
        return neverAllowed.contains(text.lowercased()) ? "is never allowed; \(example)" : nil
    }

    /// The fault of a text; nil when it is an absolute URL of https or of one of the schemes.
    ///
    /// - Parameters:
    ///   - schemes: nil: any that is not `neverAllowed`.
    ///   - repeats: whether the fault quotes the text; not where the caller's report quotes it.
    package static func fault(in text: String, schemes: [String]? = [], repeats: Bool = true) -> String? {
        if case .failure(let fault) = judged(text, schemes: schemes, repeats: repeats) { return fault.reason }
        return nil
    }

    /// The URL as phones get it; the text as it is where that is no download URL.
    package static func sent(_ text: String) -> String {
        (try? judged(text, schemes: nil).get()) ?? text
    }

    /// Why a text is no download URL.
    package struct Fault: Error, Hashable {
        package var reason: String
    }

    /// The URL in visible ASCII, as RFC 3986 writes it, or its fault.
    package static func judged(
        _ text: String, schemes: [String]? = [], repeats: Bool = true
    ) -> Result<String, Fault> {
        do throws(Fault) {
            return .success(try read(text, schemes, repeats ? "; got \(JSONValue.string(text).sight)" : ""))
        } catch {
            return .failure(error)
        }
    }

    private static func read(_ text: String, _ schemes: [String]?, _ was: String) throws(Fault) -> String {
        // By scalars: a combining mark would hide the colon or the slash that it follows.
        let scalars = text.unicodeScalars
        let need = "an absolute URL is needed, such as \"\(example)\""
        // A longer text is not looked at.
        guard scalars.count <= maximumLength else { throw tooLong(scalars.count) }
        if let fault = PlainText.fault(in: text, lines: false, joins: false) { throw Fault(reason: fault) }
        // RFC 3986 section 2: a URI is written in visible ASCII.
        guard !scalars.contains(where: { $0.properties.isWhitespace }) else {
            throw Fault(reason: "\(need), without spaces\(was)")
        }
        // RFC 3986 section 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
        guard let colon = scalars.firstIndex(of: ":"), let first = scalars.first, isLetter(first),
            scalars[..<colon].allSatisfy(isOfScheme)
        else { throw Fault(reason: "\(need)\(was)") }
        var rest = scalars[colon...].dropFirst()
        let scheme = text[..<colon].lowercased()
        guard isAllowed(scheme, schemes) else {
            let allowed = (["https"] + (schemes ?? ["a custom scheme"])).joined(separator: " or ")
            let hint =
                neverAllowed.contains(scheme) ? "" : "; downloadSchemes in the app's configuration can allow another"
            throw Fault(reason: "its scheme must be \(allowed)\(was)\(hint)")
        }
        guard !rest.isEmpty else { throw Fault(reason: "\(need)\(was)") }
        var sent = String(scalars[...colon])
        if rest.starts(with: "//".unicodeScalars) {
            let authority = rest.dropFirst(2).prefix { !"/?#".unicodeScalars.contains($0) }
            if scheme == "https" {
                guard !authority.isEmpty, authority.first != ":" else {
                    throw Fault(reason: was.isEmpty ? "\(need), with a host" : "\(need)\(was), which names no host")
                }
                // RFC 3986 section 3.2.1: every phone would be given the password.
                guard !authority.contains("@") else {
                    throw Fault(reason: "\(need), without a user name or password")
                }
            }
            if let fault = URLHost.fault(in: String(authority), isNamed: scheme == "https") {
                throw Fault(reason: fault + was)
            }
            sent += "//" + String(authority)
            rest = rest[authority.endIndex...]
        } else if scheme == "https" {
            throw Fault(reason: was.isEmpty ? "\(need), with a host" : "\(need)\(was), which names no host")
        }
        sent += try encoded(rest, was)
        guard sent.utf8.count <= maximumLength else { throw tooLong(sent.utf8.count) }
        return sent
    }

    private static func tooLong(_ count: Int) -> Fault {
        Fault(reason: "has at most \(maximumLength) characters; it had \(count)")
    }

    private static func isAllowed(_ scheme: String, _ schemes: [String]?) -> Bool {
        if scheme == "https" { return true }
        guard let schemes else { return !neverAllowed.contains(scheme) }
        return schemes.contains { $0.lowercased() == scheme }
    }

    /// Path, query and fragment: `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"` (RFC 3986 section 3.3).
    /// Characters outside ASCII "must be percent-encoded" as their bytes in UTF-8 (section 2.5).
    private static func encoded(
        _ text: Substring.UnicodeScalarView, _ was: String
    ) throws(Fault) -> String {
        var sent = ""
        var place = text.startIndex
        var isFragment = false
        while place < text.endIndex {
            let scalar = text[place]
            let next = text.index(after: place)
            switch scalar {
            case "%":
                guard text[next...].prefix(2).count(where: isHexDigit) == 2 else {
                    throw Fault(
                        reason:
                            "holds a % that begins no byte such as %2F; send %25 where the character itself is meant\(was)"
                    )
                }
                sent.unicodeScalars.append(scalar)
            case "#":
                guard !isFragment else { throw misplaced(scalar, was) }
                isFragment = true
                sent.unicodeScalars.append(scalar)
            case _ where !scalar.isASCII:
                for byte in String(scalar).utf8 { sent += percent(byte) }
            case _ where isPlain(scalar):
                sent.unicodeScalars.append(scalar)
            default:
                throw misplaced(scalar, was)
            }
            place = next
        }
        return sent
    }

    private static func misplaced(_ scalar: Unicode.Scalar, _ was: String) -> Fault {
        Fault(
            reason:
                "holds \(String(scalar).debugDescription), which phones do not read there; send \(percent(UInt8(scalar.value))) in its place\(was)"
        )
    }

    static func percent(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return (byte < 16 ? "%0" : "%") + digits
    }

    /// Unreserved, a sub-delimiter, or one of ":@/?".
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || ("0"..."9").contains(scalar) || "-._~!$&'()*+,;=:@/?".unicodeScalars.contains(scalar)
    }

    private static func isHexDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar) || ("a"..."f").contains(scalar) || ("A"..."F").contains(scalar)
    }

    private static func isOfScheme(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || "0123456789+-.".unicodeScalars.contains(scalar)
    }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
