// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// Where a `User-Agent` holds an app's version: literal text with one `{version}`, and `*` for any text.
///
/// No regular expression: a header of anybody's must not be able to make the thread that serves it work for long. The text
/// is gone over from left to right; where it has a digit or a dot, the whole run of them is taken for the version or for none
/// of it, so no run is looked at twice for one part of the pattern. The whole header must match.
package struct UserAgentPattern: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a pattern.
    package static let maximumLength = 255
    /// The most bytes of a header that is looked at.
    static let longestHeader = 1024

    package let text: String
    /// What stands between the asterisks.
    private let parts: [Part]

    private struct Part: Hashable, Sendable {
        var before: [UInt8]
        /// nil: the version is in another part.
        var after: [UInt8]?
    }

    /// - Throws: `UserAgentPatternError`.
    package init(_ text: String) throws(UserAgentPatternError) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength else { throw .length }
        // What no header's value holds (RFC 9110, section 5.5) matches nothing.
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { throw .characters }
        let pieces = Self.cut(Array(text.utf8))
        guard pieces.count == 2 else { throw .versions(pieces.count - 1) }
        if let last = pieces[0].last, Self.isOfVersion(last) || last == Self.asterisk { throw .joined }
        if let first = pieces[1].first, Self.isOfVersion(first) { throw .joined }
        var parts = Self.literals(pieces[0])
        let behind = Self.literals(pieces[1])
        parts[parts.endIndex - 1].after = behind[0].before
        self.text = text
        self.parts = parts + behind.dropFirst()
    }

    private static let asterisk = UInt8(ascii: "*")

    /// What stands before, between and behind the places of a version.
    private static func cut(_ text: [UInt8]) -> [[UInt8]] {
        let place = Array("{version}".utf8)
        var pieces: [[UInt8]] = [[]]
        var rest = text[...]
        while let first = rest.first {
            let isPlace = rest.starts(with: place)
            if isPlace { pieces.append([]) } else { pieces[pieces.endIndex - 1].append(first) }
            rest = rest.dropFirst(isPlace ? place.count : 1)
        }
        return pieces
    }

    private static func literals(_ text: [UInt8]) -> [Part] {
        text.split(separator: asterisk, omittingEmptySubsequences: false).map { Part(before: Array($0)) }
    }

    private static func isOfVersion(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte == UInt8(ascii: ".") }

    // MARK: Reading

    /// The version as it stands there; nil: the header is not of the pattern.
    package func version(in header: String) -> String? {
        let text = Array(header.utf8)
        guard text.count <= Self.longestHeader else { return nil }
        var (place, version) = (0, ArraySlice<UInt8>())
        for (index, part) in parts.enumerated() {
            // The first part stands at the beginning, the last one at the end, any other where it is found first.
            let isLast = index == parts.count - 1
            let found: Match?
            switch (index == 0, isLast) {
            case (true, let isWhole):
                found = Self.match(part, text, at: 0).flatMap { !isWhole || $0.end == text.count ? $0 : nil }
            case (false, true): found = Self.last(part, text, from: place)
            case (false, false): found = Self.first(part, text, from: place)
            }
            guard let found else { return nil }
            place = found.end
            if part.after != nil { version = found.version }
        }
        return String(decoding: version, as: UTF8.self)
    }

    private struct Match {
        var end: Int
        var version: ArraySlice<UInt8>
    }

    private static func match(_ part: Part, _ text: [UInt8], at start: Int) -> Match? {
        guard text[start...].starts(with: part.before) else { return nil }
        let behind = start + part.before.count
        guard let after = part.after else { return Match(end: behind, version: []) }
        let run = text[behind...].prefix(while: isOfVersion)
        guard !run.isEmpty, text[run.endIndex...].starts(with: after) else { return nil }
        return Match(end: run.endIndex + after.count, version: run)
    }

    private static func first(_ part: Part, _ text: [UInt8], from start: Int) -> Match? {
        for place in start...text.count {
            if let match = match(part, text, at: place) { return match }
        }
        return nil
    }

    private static func last(_ part: Part, _ text: [UInt8], from start: Int) -> Match? {
        guard part.after != nil else {
            let place = text.count - part.before.count
            return place >= start ? match(part, text, at: place) : nil
        }
        for place in start...text.count {
            if let match = match(part, text, at: place), match.end == text.count { return match }
        }
        return nil
    }

    package var description: String { text }
}

package enum UserAgentPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    case length
    case characters
    /// It has this many places for a version.
    case versions(Int)
    /// What stands beside the version could be a part of it.
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
