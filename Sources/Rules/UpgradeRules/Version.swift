// SPDX-License-Identifier: Apache-2.0

/// An app's version: numeric segments of any count, separated by dots.
///
/// Missing segments are 0 and leading zeros mean nothing, so "1.01" equals "1.1", "2.0" equals "2.0.0" and "1.10" is
/// newer than "1.9". That is how the App Store itself orders versions; the clients that compare strings are wrong
/// (SEEDS S4, S5). The text is kept as it was given, for showing; comparison and hashing use the numbers.
///
/// A segment holds at most 18 digits, so that it fits SQLite's 64-bit integers; a version holds at most 64 characters.
public struct Version: Sendable {
    /// The version as it was written, for example "1.01".
    public let text: String

    /// The numbers without trailing zeros, so that equal versions have equal segments.
    public let segments: [UInt64]

    /// The most characters that a version may have.
    public static let maximumLength = 64
    /// The most digits that one segment may have, leading zeros not counted.
    public static let maximumDigits = 18

    /// Version 0, which no other is older than: for an app that cannot read its own version.
    public static let zero = Version(text: "0", segments: [0])

    private init(text: String, segments: [UInt64]) {
        self.text = text
        self.segments = segments
    }

    /// Reads a version such as "2.1.0".
    ///
    /// - Throws: `VersionError`, which names the offending character and its place.
    public init(_ text: String) throws(VersionError) {
        guard let segments = Self.segments(of: text) else {
            throw VersionError(text: text, problem: Self.problem(of: text))
        }
        self.init(text: text, segments: segments)
    }

    /// nil where the text is no version. Reads bytes, because reading characters takes ten times as long.
    private static func segments(of text: String) -> [UInt64]? {
        guard text.utf8.count <= maximumLength else { return nil }
        var segments: [UInt64] = []
        segments.reserveCapacity(4)
        var (value, digits, significantDigits) = (UInt64(0), 0, 0)
        for byte in text.utf8 {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return nil }
                segments.append(value)
                (value, digits, significantDigits) = (0, 0, 0)
                continue
            }
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            digits += 1
            if significantDigits > 0 || byte > UInt8(ascii: "0") { significantDigits += 1 }
            guard significantDigits <= maximumDigits else { return nil }
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        guard digits > 0 else { return nil }
        segments.append(value)
        while segments.count > 1, segments.last == 0 { segments.removeLast() }
        return segments
    }

    /// The first fault of a text that is no version, and the place of its character.
    private static func problem(of text: String) -> VersionError.Problem {
        guard !text.isEmpty else { return .empty }
        var (digits, significantDigits) = (0, 0)
        for (offset, character) in text.enumerated() {
            guard offset < maximumLength else { return .tooLong }
            if character == "." {
                guard digits > 0 else { return .emptySegment(offset: offset) }
                (digits, significantDigits) = (0, 0)
                continue
            }
            guard character.isASCII, let digit = character.wholeNumberValue else {
                return .badCharacter(character, offset: offset)
            }
            digits += 1
            if significantDigits > 0 || digit > 0 { significantDigits += 1 }
            guard significantDigits <= maximumDigits else { return .segmentTooLarge(offset: offset) }
        }
        return .emptySegment(offset: text.count)
    }

    /// The one spelling that all equal versions share: no leading zeros, no trailing zero segments ("2" for "2.0.0").
    public var canonical: String {
        segments.map(String.init).joined(separator: ".")
    }
}

extension Version: Hashable, Comparable {
    /// Whether both mean the same version, however they are written.
    public static func == (left: Version, right: Version) -> Bool {
        left.segments == right.segments
    }

    /// Hashes the numbers, so that equal versions hash alike.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(segments)
    }

    /// Whether `left` is older than `right`, segment by segment as numbers.
    public static func < (left: Version, right: Version) -> Bool {
        left.segments.lexicographicallyPrecedes(right.segments)
    }
}

extension Version: CustomStringConvertible {
    /// The version as it was written.
    public var description: String { text }
}
