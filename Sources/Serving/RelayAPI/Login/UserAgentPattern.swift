// SPDX-License-Identifier: Apache-2.0

/// Where a `User-Agent` holds an app's version: literal text with one `{version}`, and `*` for any text.
///
/// No regular expression: a client's header must not be able to make the thread that serves it work for long. Each byte of the
/// pattern is compared with each of the header once. A run of digits and dots is taken for the version as a whole.
package struct UserAgentPattern: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a pattern.
    package static let maximumLength = 255
    /// The longest header that is compared, in bytes.
    static let longestHeader = 1024

    package let text: String
    /// The text before the version and the text behind it.
    private let (before, behind): ([UInt8], [UInt8])

    /// - Throws: `UserAgentPatternError`.
    package init(_ text: String) throws(UserAgentPatternError) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength else { throw .length }
        // Header values are usually limited to these characters (RFC 9110, section 5.5); others would match hardly anything.
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { throw .characters }
        let pieces = text.split(separator: "{version}", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard pieces.count == 2 else { throw .versions(pieces.count - 1) }
        if let last = pieces[0].last, Self.isOfVersion(last) || last == Self.asterisk { throw .joined }
        if let first = pieces[1].first, Self.isOfVersion(first) { throw .joined }
        self.text = text
        (before, behind) = (pieces[0], pieces[1])
    }

    private static let asterisk = UInt8(ascii: "*")

    private static func isOfVersion(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte == UInt8(ascii: ".") }

    /// The text of the version at the first place that the pattern allows; nil: the header does not match.
    package func version(in header: String) -> String? {
        let text = Array(header.utf8)
        guard text.count <= Self.longestHeader else { return nil }
        let heads = Self.lengths(of: before, text)
        let tails = Self.lengths(of: behind.reversed(), text.reversed())
        let run = text.split { !Self.isOfVersion($0) }.first { heads[$0.startIndex] && tails[text.count - $0.endIndex] }
        return run.map { String(decoding: $0, as: UTF8.self) }
    }

    /// For each length, whether the text's prefix of that length matches the pattern.
    private static func lengths(of pattern: [UInt8], _ text: [UInt8]) -> [Bool] {
        var found = [true] + Array(repeating: false, count: text.count)
        // No longer prefix matches; below 0, none does, which is the case for most headers.
        var last = 0
        for step in pattern where last >= 0 {
            if step == asterisk {
                for length in 1..<found.count where found[length - 1] { found[length] = true }
                last = found.count - 1
            } else {
                let most = min(last + 1, found.count - 1)
                last = -1
                for length in stride(from: most, to: 0, by: -1) {
                    found[length] = found[length - 1] && text[length - 1] == step
                    if last < 0, found[length] { last = length }
                }
                found[0] = false
            }
        }
        return found
    }

    package var description: String { text }
}

package enum UserAgentPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    case length
    case characters
    /// The pattern has this many places for a version.
    case versions(Int)
    /// A character beside the version could be a part of it.
    case joined

    package var description: String {
        switch self {
        case .length: "is empty or has more than \(UserAgentPattern.maximumLength) bytes"
        case .characters: "has characters that no User-Agent has; printable ASCII only"
        case .versions(let count):
            "has \(count) places for the version; exactly one is needed, such as \"ExampleApp/{version} *\""
        case .joined:
            "does not say where the version begins or ends; before {version} stands neither a digit nor a dot nor *, "
                + "behind it neither a digit nor a dot"
        }
    }
}
