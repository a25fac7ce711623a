// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is not a version, with the place of the fault.
public struct VersionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault of the text; offsets count characters from 0.
    public enum Problem: Hashable, Sendable {
        /// Nothing was given.
        case empty
        /// More than `Version.maximumLength` characters.
        case tooLong
        /// A character that is neither a digit 0 to 9 nor a dot.
        case badCharacter(Character, offset: Int)
        /// A dot with no digit before it, or a dot at the end.
        case emptySegment(offset: Int)
        /// A number of more than `Version.maximumDigits` digits.
        case segmentTooLarge(offset: Int)
    }

    /// The text that was refused.
    public let text: String
    /// Its fault.
    public let problem: Problem

    /// Makes an error for `text`.
    public init(text: String, problem: Problem) {
        self.text = text
        self.problem = problem
    }

    /// One sentence for the person who sent the text. Invisible characters are shown as escapes, a long text is cut.
    public var description: String {
        let shown = Self.shown(text, limit: Version.maximumLength)
        return switch problem {
        case .empty:
            "a version is needed, such as 2.1.0; it was empty"
        case .tooLong:
            "a version has at most \(Version.maximumLength) characters; this one has \(text.count)"
        case .badCharacter(let character, let offset):
            "\(shown) is not a version: \(Self.shown(String(character), limit: 8)) at position \(offset + 1) "
                + "is neither a digit nor a dot"
        case .emptySegment(let offset):
            "\(shown) is not a version: a number is missing at position \(offset + 1)"
        case .segmentTooLarge(let offset):
            "\(shown) is not a version: the number at position \(offset + 1) has more than "
                + "\(Version.maximumDigits) digits"
        }
    }

    /// The text in quotes. It is cut by scalars, because one character may have any number of them.
    private static func shown(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text.debugDescription }
        return (String(scalars[..<end]) + "…").debugDescription
    }
}
