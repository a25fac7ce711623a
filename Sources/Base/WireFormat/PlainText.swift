// SPDX-License-Identifier: Apache-2.0

/// The characters that are allowed in texts that people read on a phone or in a terminal.
package enum PlainText {
    /// Unicode's explicit directional embeddings, overrides and isolates (UAX #9, section 2): an unclosed one
    /// reverses the text behind it.
    private static let turning = [0x202A...0x202E, 0x2066...0x2069]

    /// Invisible, but a part of spelling: the joiners of Persian and of emoji, the marks of direction, which need no closing
    /// mark, and the soft hyphen.
    private static let joining: Set<UInt32> = [0xAD, 0x61C, 0x200C, 0x200D, 0x200E, 0x200F]

    /// Format characters that are visible: signs that stand about numbers in Arabic, Syriac and Kaithi.
    private static let seen: Set<UInt32> = [
        0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x1_10BD, 0x1_10CD,
    ]

    /// The fault of a text; nil: it has none.
    ///
    /// - Parameters:
    ///   - lines: whether it may have several lines.
    ///   - joins: whether it may have the invisible characters that a script needs. Default yes; no for a telephone or a
    ///     URL.
    package static func fault(in text: String, lines: Bool, joins: Bool = true) -> String? {
        var before: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            defer { before = scalar }
            if (0x20..<0x7F).contains(scalar.value) || lines && scalar == "\n" { continue }
            if scalar.properties.generalCategory == .control
                || turning.contains(where: { $0.contains(Int(scalar.value)) })
            {
                return "must not hold the control character \(name(scalar))"
            }
            if isHidden(scalar, behind: before, joins: joins) {
                return "must not hold the invisible character \(name(scalar))"
            }
        }
        return nil
    }

    private static func isHidden(_ scalar: Unicode.Scalar, behind before: Unicode.Scalar, joins: Bool) -> Bool {
        switch scalar.properties.generalCategory {
        case .format:
            if seen.contains(scalar.value) { return false }
            if joins, joining.contains(scalar.value) { return false }
            // The flags of England, Scotland and Wales are a black flag and letters of tags (UTS #51, annex C).
            let isTag = (0xE_0020...0xE_007F).contains(scalar.value)
            return !(joins && isTag && (before.value == 0x1_F3F4 || (0xE_0020...0xE_007E).contains(before.value)))
        case .lineSeparator, .paragraphSeparator: return true
        default:
            // Fillers that are letters by name alone.
            return [0x115F, 0x1160, 0x3164, 0xFFA0].contains(scalar.value)
                || scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value)
        }
    }

    private static func name(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }
}
