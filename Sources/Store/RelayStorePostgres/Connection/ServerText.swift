// SPDX-License-Identifier: Apache-2.0

/// A text of PostgreSQL's server, or of libpq, as the relay may pass it on: one line, not too long, without characters that
/// a terminal or a log would interpret. A server's texts come from its owner, its extensions and anyone in between, not from the relay.
enum ServerText {
    /// The most characters of a line.
    static let longest = 400

    /// - Parameter text: as it came.
    /// - Returns: never empty.
    static func line(_ text: String) -> String {
        var line = ""
        var isGap = false
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            // Line ends, escapes, and characters that turn the direction of writing or are invisible.
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

    /// The end of a sentence, with PostgreSQL named as its source.
    static func said(_ text: String) -> String { "PostgreSQL says: \(line(text))" }
}
