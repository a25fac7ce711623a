// SPDX-License-Identifier: Apache-2.0

/// As much of sh(1) as the documents' commands need. Pure.
enum ShellWords {
    /// The simple commands of a script, each as its words: without comments, redirections and here-documents.
    static func commands(in script: String) -> [[String]] {
        var commands: [[String]] = []
        var words: [String] = []
        var word: String?
        var end: String?
        func endWord() {
            if let done = word { words.append(done) }
            word = nil
        }
        func endCommand() {
            endWord()
            if words.first == "$" { words.removeFirst() }
            var kept: [String] = []
            var isRedirected = false
            for word in words {
                if isRedirected { isRedirected = false; continue }
                guard let sign = word.firstIndex(where: { $0 == "<" || $0 == ">" }),
                    word[..<sign].allSatisfy(\.isNumber)
                else {
                    kept.append(word)
                    continue
                }
                isRedirected = word[sign...].allSatisfy { "<>&".contains($0) }
            }
            if !kept.isEmpty { commands.append(kept) }
            words = []
        }
        for line in script.replacing("\\\n", with: " ").split(separator: "\n", omittingEmptySubsequences: false) {
            if let mark = end {
                if line == mark { end = nil }
                continue
            }
            if let mark = line.firstMatch(of: /<<'(?<mark>\w+)'/) { end = String(mark.mark) }
            var quote: Character?
            var rest = Substring(line)
            while let sign = rest.popFirst() {
                switch (quote, sign) {
                case (let open?, _) where open == sign: quote = nil
                case (nil, "'"), (nil, "\""): (quote, word) = (sign, word ?? "")
                case ("'", _): word = (word ?? "") + String(sign)
                case (_, "$") where rest.first == "(" && !rest.hasPrefix("(("):
                    rest.removeFirst()
                    quote = nil
                    endCommand()
                case (nil, "#") where word == nil: rest = ""
                case (nil, " "): endWord()
                case (nil, ";"), (nil, "|"), (nil, "("), (nil, ")"): endCommand()
                case (nil, "&") where word?.last != ">": endCommand()
                default: word = (word ?? "") + String(sign)
                }
            }
            endCommand()
        }
        return commands
    }
}
