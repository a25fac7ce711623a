// SPDX-License-Identifier: Apache-2.0

/// The abilities of standard output: how wide a table may be, and whether colours are welcome.
package struct Screen: Sendable, Equatable {
    /// Columns; nil: there is no terminal, and nothing is cut.
    package var width: Int?
    package var hasColour = false

    /// The screen of the running command.
    @TaskLocal package static var current = Screen(width: nil)

    package init(width: Int?, hasColour: Bool = false) {
        self.width = width
        self.hasColour = hasColour
    }

    /// No colours where `NO_COLOR` is set and not empty, whatever its value (https://no-color.org). Without `TERM` it is unknown
    /// what the terminal obeys (POSIX.1-2024, XBD 8.3).
    init(_ console: Console, environment: [String: String]) {
        let terminal = environment["TERM"] ?? ""
        guard console.isOutputTerminal, !terminal.isEmpty else {
            self.init(width: nil)
            return
        }
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        self.init(width: console.width, hasColour: !isRefused && terminal != "dumb")
    }
}

/// The colours of a state, as every terminal has them (ECMA-48, 8.3.117 SGR).
package enum Tint: String, Sendable, CaseIterable {
    case red = "31"
    case green = "32"
    case yellow = "33"

    private static let end = "\u{1B}[0m"

    func painted(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\(Self.end)" }

    /// Sanitises all but the sequences above: these change only a colour, and foreign text that was sanitised before holds none
    /// of them.
    static func sanitised(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let escape = rest.firstIndex(of: "\u{1B}") {
            result += DisplayWidth.sanitised(String(rest[..<escape]), keepsLines: true)
            rest = rest[escape...]
            let known = [end] + allCases.map { "\u{1B}[\($0.rawValue)m" }
            if let sequence = known.first(where: { rest.hasPrefix($0) }) {
                result += sequence
                rest = rest.dropFirst(sequence.count)
            } else {
                result += "\u{FFFD}"
                rest = rest.dropFirst()
            }
        }
        return result + DisplayWidth.sanitised(String(rest), keepsLines: true)
    }
}
