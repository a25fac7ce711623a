// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import UpgradeRules
import WireFormat

/// How a release's tag holds a version: a regular expression with exactly one capture group, which is the version.
///
/// Kept as text and compiled once, behind a lock: `Regex` is not Sendable.
package struct TagPattern: Hashable, Sendable, CustomStringConvertible {
    /// "2.1.0" or "v2.1.0", and nothing else.
    package static let standard = TagPattern(known: #"^v?(\d+(?:\.\d+)*)$"#)
    /// The most characters of a pattern, and of a tag that is matched: a regular expression may take long over more.
    package static let maximumLength = 255

    package let text: String
    private let compiled: Compiled

    private final class Compiled: Sendable {
        let regex: Mutex<Regex<AnyRegexOutput>?>

        init(_ text: String) { regex = Mutex(try? Regex(text).asciiOnlyDigits()) }
    }

    /// - Throws: `TagPatternError` when it does not compile or does not have exactly one capture group.
    package init(_ text: String) throws(TagPatternError) {
        guard !text.isEmpty, text.unicodeScalars.count <= Self.maximumLength else { throw .length }
        do {
            _ = try Regex(text)
        } catch {
            throw .invalid("\(error)")
        }
        // An empty alternative in front matches everywhere, and a match has a place for every group of the whole pattern.
        let groups = (try? Regex("|" + text)).flatMap { "".prefixMatch(of: $0) }.map { $0.output.count - 1 }
        guard groups == 1 else { throw .groups(groups ?? 0) }
        self.init(known: text)
    }

    /// For a pattern that is known to be right.
    init(known text: String) {
        self.text = text
        compiled = Compiled(text)
    }

    package static func == (left: TagPattern, right: TagPattern) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package enum Reading: Hashable, Sendable {
        case version(Version)
        /// The tag does not match, or its capture is no version; with the reason.
        case none(String)
    }

    package func read(_ tag: String) -> Reading {
        let sight = JSONValue.string(tag).sight
        guard tag.unicodeScalars.count <= Self.maximumLength else {
            return .none("the tag \(sight) has more than \(Self.maximumLength) characters")
        }
        let found = compiled.regex.withLock { regex -> String? in
            guard let regex, let match = tag.firstMatch(of: regex), match.output.count == 2 else { return nil }
            return match.output[1].substring.map(String.init)
        }
        guard let captured = found else { return .none("the tag \(sight) does not match the pattern \(text)") }
        do throws(VersionError) {
            return .version(try Version(captured))
        } catch {
            return .none("what the pattern \(text) captures in the tag \(sight) is no version: \(error)")
        }
    }

    package var description: String { text }
}

package enum TagPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    case length
    /// The message of the regular expression compiler; it holds parts of the pattern.
    case invalid(String)
    /// It has this many capture groups.
    case groups(Int)

    package var description: String {
        switch self {
        case .length: "is empty or has more than \(TagPattern.maximumLength) characters"
        case .invalid(let reason): "is no regular expression: \(reason)"
        case .groups(let count):
            "has \(count) capture groups; exactly one is needed, around the version, and (?:…) around all others"
        }
    }
}
