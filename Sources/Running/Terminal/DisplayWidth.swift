// SPDX-License-Identifier: Apache-2.0

/// Counts the columns that a text takes on a terminal, and makes foreign text safe to show there.
package enum DisplayWidth {
    /// East Asian wide and full-width characters and emoji take two columns, combining marks none.
    package static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    package static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0..<0x20, 0x7F: return 0
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default:
            return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }

    /// The text with control characters replaced: text that a client stored must not control the operator's terminal.
    ///
    /// - Parameter keepsLines: whether line feeds stay, in a text of many lines.
    package static func sanitised(_ text: String, keepsLines: Bool = false) -> String {
        func isObeyed(_ scalar: Unicode.Scalar) -> Bool { isControl(scalar) && !(keepsLines && scalar == "\n") }
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isObeyed(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }

    /// A text of several lines, all but the first indented, so that none looks like a line of the command's own.
    package static func indented(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        return lines.enumerated().map { number, line in
            let isSetIn = number == 0 || line.hasPrefix("  ")
            return (isSetIn ? "" : "  ") + sanitised(String(line))
        }.joined(separator: "\n")
    }

    /// Whether a terminal or a log's reader would obey the character instead of showing it.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        return switch scalar.properties.generalCategory {
        // Format characters include the bidirectional overrides.
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// As much of the text as fits into `width` columns, with "…" where something was cut.
    package static func truncated(_ text: String, to width: Int) -> String {
        // Combining marks take no column, and a character may have any number of them.
        let longest = 8 * max(width, 1)
        let isLong = text.unicodeScalars.count > longest
        guard isLong || columns(text) > width else { return text }
        var result = ""
        var used = 0
        for character in isLong ? String(text.unicodeScalars.prefix(longest)) : text {
            let next = columns(character)
            guard used + next <= width - 1 else { break }
            result.append(character)
            used += next
        }
        return width > 0 ? result + "…" : ""
    }
}
