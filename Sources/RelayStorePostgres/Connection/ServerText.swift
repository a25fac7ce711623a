// SPDX-License-Identifier: Apache-2.0

/// What PostgreSQL's server, or libpq, says, as the relay may pass it on: one line, no longer than that, without what a terminal or a
/// log would take for its own. A server's texts are its owner's, its extensions' and whoever's who stands between: not the relay's.
enum ServerText {
    /// Characters of it, at most.
    static let longest = 400

    /// - Parameter text: as it came.
    /// - Returns: never empty.
    static func line(_ text: String) -> String {
        var line = ""
        var isGap = false
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            // Line ends, escapes, and what turns the direction of writing or is not seen.
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned,
                .spaceSeparator:
                isGap = !line.isEmpty
            default:
                guard line.unicodeScalars.count < longest else { return line + "…" }
                if isGap { line += " " }
                isGap = false
                line.unicodeScalars.append(scalar)
            }
        }
        return line.isEmpty ? "nothing that can be read" : line
    }

    /// As a sentence's end, which names who says it.
    static func said(_ text: String) -> String { "PostgreSQL says: \(line(text))" }
}
