// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Text that groff(7) and mandoc(1) accept without a warning: ASCII, and lines that are not too long. Pure.
enum Roff {
    /// mandoc(1) warns of more than 80 bytes.
    private static let width = 78

    /// Text with hyphens, backslashes and characters beyond ASCII escaped.
    static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\n": result += " "
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
        return result
    }

    /// A line that is not filled, as in an example.
    static func line(_ text: String) -> String {
        guarded(escaped(text))
    }

    /// A paragraph's lines; text between asterisks is bold.
    static func paragraph(_ text: String) -> [String] {
        // Word by word, so that a line may break in between.
        let text = text.replacing(/\*([^*]+)\*/) { bold in
            bold.output.1.split(separator: " ").map { "*\($0)*" }.joined(separator: " ")
        }
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map({ emphasised(escaped($0)) }) {
            if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > width {
                lines.append(guarded(line))
                line = ""
            }
            line += line.isEmpty ? word : " \(word)"
        }
        if !line.isEmpty { lines.append(guarded(line)) }
        return lines
    }

    /// `*word*`, with the text behind it: `\fBword\fR,`.
    private static func emphasised(_ word: String) -> String {
        word.replacing(/\*([^*]+)\*/) { "\\fB\($0.output.1)\\fR" }
    }

    /// A dot or an apostrophe must not begin a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    static func head(_ name: String, section: Int, _ volume: String) -> [String] {
        [
            ".\\\" made by \"make build\"",
            ".TH \(escaped(name.uppercased())) \(section) \(CommandLineTool.released) "
                + "\"upgrade\\-relay \(CommandLineTool.version)\" \"\(volume)\"",
        ]
    }
}
