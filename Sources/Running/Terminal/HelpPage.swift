// SPDX-License-Identifier: Apache-2.0

/// The help of one command, laid out like the first page of a manual. Pure.
package struct HelpPage: Sendable {
    package let spec: CommandSpec

    /// The widest line of text; synopses may be longer.
    package static let width = 80

    package init(_ spec: CommandSpec) {
        self.spec = spec
    }

    /// One line: "upgrade-relay devices show TOKEN [--app APP]".
    package var usage: String {
        var words = ["upgrade-relay"] + spec.path
        words += spec.positionals.map(\.usage)
        words += spec.options.filter(\.isRequired).map { "--\($0.name) \($0.value ?? "")\($0.isRepeatable ? "…" : "")" }
        words.append("[options]")
        return words.joined(separator: " ")
    }

    package var text: String {
        var lines = Self.wrap("\(spec.purpose).", indent: 0)
        lines += ["", "Usage:", "  \(usage)"]
        if !spec.discussion.isEmpty {
            for paragraph in spec.discussion.split(separator: "\n\n") {
                lines += [""] + Self.wrap(String(paragraph), indent: 0)
            }
        }
        if !spec.positionals.isEmpty {
            lines += ["", "Arguments:"]
            lines += Self.definitions(spec.positionals.map { ($0.name, $0.summary) })
        }
        lines += ["", "Options:"]
        lines += Self.definitions(spec.allOptions.map { (Self.head(of: $0), $0.help) })
        if !spec.examples.isEmpty {
            lines += ["", spec.examples.count == 1 ? "Example:" : "Examples:"]
            lines += spec.examples.map { "  \($0)" }
        }
        lines += ["", "Exit codes:"]
        lines += spec.exitCodes.map { code in
            let number = String(code.rawValue)
            return "  \(number)\(String(repeating: " ", count: 4 - number.count))\(code.meaning)"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func head(of option: OptionSpec) -> String {
        let short = option.short.map { "-\($0), " } ?? ""
        return short + "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
    }

    /// Terms at the left, their meaning beside them, or below where a term is too long for its column.
    package static func definitions(_ entries: [(term: String, meaning: String)]) -> [String] {
        let longest = entries.map(\.term.count).filter { $0 <= 26 }.max() ?? 26
        let column = 2 + longest + 2
        return entries.flatMap { entry -> [String] in
            let body = wrap(entry.meaning, indent: column)
            guard entry.term.count <= longest, let first = body.first else { return ["  \(entry.term)"] + body }
            let gap = String(repeating: " ", count: longest - entry.term.count + 2)
            return ["  \(entry.term)\(gap)\(first.dropFirst(column))"] + body.dropFirst()
        }
    }

    package static func wrap(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(margin + line) }
        return lines
    }
}
