// SPDX-License-Identifier: Apache-2.0

/// Removes characters around a text that do not belong to it.
package enum TrimmedText {
    /// Without spaces, tabs and line ends of any script.
    package static func trimmed(_ text: String) -> String { trimmed(text, of: isSpace) }

    /// - Parameter isOuter: whether a character is removed at either end.
    package static func trimmed(_ text: String, of isOuter: (Unicode.Scalar) -> Bool) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isOuter($0) }),
            let last = scalars.lastIndex(where: { !isOuter($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The separators of Unicode, the controls that move on a page, and the zero-width space, which spreadsheets leave behind.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x85, 0x200B: return true
        default: break
        }
        return [.spaceSeparator, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
}
