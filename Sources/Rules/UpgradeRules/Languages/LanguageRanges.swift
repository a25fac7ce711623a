// SPDX-License-Identifier: Apache-2.0

/// The languages that a user prefers, as `Accept-Language` writes them (RFC 9110, section 12.5.4): a "language priority list"
/// (RFC 4647, section 2.3).
package struct LanguageRanges: Hashable, Sendable {
    /// The most members that are read: phones send about ten at most, but any client may send a longer header.
    package static let maximumCount = 32

    /// In lower case, the most preferred first. "*" is left out: in a lookup it stands for the default (RFC 4647, section 3.4).
    package let ranges: [String]

    /// Skips members that are malformed or have the weight 0, "not acceptable". An underscore counts as a hyphen: phones
    /// write locales with one ("zh-Hans_CN").
    ///
    /// - Returns: nil where every member is malformed.
    package init?(_ text: some StringProtocol) {
        var wanted: [(range: String, weight: Int)] = []
        var isAnything = false
        for member in Substring(text).split(separator: ",", maxSplits: Self.maximumCount).prefix(Self.maximumCount) {
            guard let (range, weight) = Self.member(member) else { continue }
            isAnything = true
            if weight > 0, range != "*" { wanted.append((range, weight)) }
        }
        guard isAnything else { return nil }
        // Stable: members of equal weight keep their order.
        ranges = wanted.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
            .map(\.element.range)
    }

    /// The value of the tag that fits best (RFC 4647, section 3.4): each range "is progressively truncated from the end until a
    /// matching language tag is located. Single letter or digit subtags … are removed at the same time as their closest trailing
    /// subtag." Other spellings of the same language come after the range's own: `LanguageAlias`.
    ///
    /// - Parameter tags: in lower case.
    /// - Returns: nil where the default applies.
    package func lookup<Value>(in tags: [String: Value]) -> Value? {
        for range in ranges {
            for spelling in LanguageAlias.spellings(of: range) {
                var rest = spelling.range[...]
                while rest.utf8.count >= spelling.shortest {
                    if let value = tags[String(rest)] { return value }
                    rest = Self.truncated(rest)
                    if rest.isEmpty { break }
                }
            }
        }
        return nil
    }

    private static func truncated(_ range: Substring) -> Substring {
        guard let hyphen = range.lastIndex(of: "-") else { return "" }
        let rest = range[..<hyphen]
        let last = rest.lastIndex(of: "-").map { rest[rest.index(after: $0)...] } ?? rest
        guard last.utf8.count == 1 else { return rest }
        return truncated(rest)
    }

    /// `language-range [ weight ]`; the weight in thousandths.
    private static func member(_ text: Substring) -> (range: String, weight: Int)? {
        // A tag, a weight and white space together are shorter than this.
        guard text.utf8.count <= 128 else { return nil }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
        let range = parts[0].lowercased().map { $0 == "_" ? "-" : $0 }
        let subtags = String(range).split(separator: "-", omittingEmptySubsequences: false)
        let isRange =
            subtags == ["*"]
            || LanguageTag.isAlphanumeric(subtags[0], 1...8) && subtags[0].utf8.allSatisfy(LanguageTag.isLetter)
                && subtags.allSatisfy { LanguageTag.isAlphanumeric($0, 1...8) }
        guard isRange, range.count <= LanguageTag.maximumLength else { return nil }
        guard parts.count > 1 else { return (String(range), 1000) }
        guard parts.count == 2, let weight = weight(parts[1]) else { return nil }
        return (String(range), weight)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    /// `"q=" qvalue`, in thousandths (RFC 9110, section 12.4.2).
    private static func weight(_ text: Substring) -> Int? {
        guard text.lowercased().hasPrefix("q=") else { return nil }
        let value = text.utf8.dropFirst(2)
        guard let whole = value.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        var decimals = value.dropFirst()
        if !decimals.isEmpty {
            guard decimals.first == UInt8(ascii: ".") else { return nil }
            decimals = decimals.dropFirst()
        }
        guard decimals.count <= 3, decimals.allSatisfy(LanguageTag.isDigit) else { return nil }
        var weight = whole == UInt8(ascii: "1") ? 1 : 0
        for place in 0..<3 {
            let digit = decimals.dropFirst(place).first.map { Int($0 - UInt8(ascii: "0")) } ?? 0
            weight = weight * 10 + digit
        }
        return weight <= 1000 ? weight : nil
    }
}
