// SPDX-License-Identifier: Apache-2.0

/// Texts with places for values.
package enum TextPattern {
    /// Puts the values into the places of a pattern, in order. Each "%" is a place; one without a value stays.
    package static func filled(_ pattern: String, _ values: [String]) -> String {
        var (text, rest) = ("", values[...])
        // By bytes, which costs less than by characters.
        let parts = pattern.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        for part in parts.enumerated() {
            if part.offset > 0 { text += rest.popFirst() ?? "%" }
            text += Substring(part.element)
        }
        return text
    }
}
