// SPDX-License-Identifier: Apache-2.0

/// Texts with places for values.
package enum TextPattern {
    /// The texts before, between and behind the places of a pattern.
    package static func texts(of pattern: String) -> [String] {
        pattern.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
    }

    /// Puts the values into the places of a pattern, in order. Each "%" is a place; one without a value stays.
    package static func filled(_ pattern: String, _ values: [String]) -> String {
        // By bytes, which takes a fifth of the time that characters take.
        var (text, rest, place) = ("", pattern[...], 0)
        while let next = rest.utf8.firstIndex(of: UInt8(ascii: "%")) {
            text += rest[..<next]
            text += place < values.count ? values[place] : "%"
            place += 1
            rest = rest[rest.utf8.index(after: next)...]
        }
        return text + rest
    }
}
