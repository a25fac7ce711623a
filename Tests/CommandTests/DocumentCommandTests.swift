// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Terminal
@testable import upgrade_relay

/// Each command that a document names is one that the program takes as it stands there.
@Suite struct DocumentCommandTests {
    /// What stands for a value of the reader's, and one that could be his.
    private static let placeholders = ["APP": "com.example.app", "PLATFORM": "ios", "VERSION": "2.0.0"]

    /// Whether the program would take these words. Where the text breaks off, with "…" or because it names the command alone,
    /// what is missing is the reader's to add.
    private static func fault(_ words: [String], isBrokenOff: Bool) -> String? {
        do {
            switch try CommandTree.all.select(words) {
            case .version, .completion: return nil
            case .overview(_, let wasAsked): return wasAsked || isBrokenOff ? nil : "a command is missing"
            case .command(let command, let rest):
                do {
                    _ = try ArgumentParser(command.spec).parse(rest.map { placeholders[$0] ?? $0 })
                } catch  where (isBrokenOff || rest.isEmpty) && error.message.contains("is missing") {
                    return nil
                }
                return nil
            }
        } catch {
            return "\(error)"
        }
    }

    /// The image's guide names files and tags as "make image" makes them.
    @Test func theImageIsNamedAsItIsMade() throws {
        let versions = try DocumentTests.text("etc/CONTAINER.md").matches(
            of: /upgrade-relay[:_](?<version>\d+\.\d+\.\d+)|checkout v(?<tag>\d+\.\d+\.\d+)/)
        #expect(versions.count > 5)
        for version in versions {
            #expect(String(version.version ?? version.tag ?? "") == CommandLineTool.version, "\(version.0)")
        }
    }

    @Test func everyCommandThatIsNamedIsTaken() throws {
        let names = CommandTree.all.commands.map(\.spec.name)
        var (inProse, inBlocks) = (0, 0)
        for document in try DocumentTests.documents() where document != "CHANGELOG.md" {
            let text = try DocumentTests.text(document)
            for block in text.matches(of: /```(?:sh|console)\n(?<text>[\s\S]*?)```/) {
                for words in ShellWords.commands(in: String(block.text)) where words.first == "upgrade-relay" {
                    let fault = Self.fault(Array(words.dropFirst()), isBrokenOff: false)
                    #expect(fault == nil, "\(document): \(words.joined(separator: " "))")
                    inBlocks += 1
                }
            }
            let prose = text.replacing(/```[\s\S]*?```/, with: "")
            for match in prose.matches(of: /`(?<code>[^`]+)`/) {
                let code = match.code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                // "--token …": the value is the reader's.
                let whole = code.replacing(/(?<option>--[a-z-]+) …/) { "\($0.option) VALUE" }
                let isWhole = code.hasPrefix("upgrade-relay ")
                guard isWhole || names.contains(where: { code.hasPrefix($0 + " ") }) else { continue }
                for words in ShellWords.commands(in: whole.replacing("…", with: "")) {
                    let fault = Self.fault(
                        words.first == "upgrade-relay" ? Array(words.dropFirst()) : words,
                        isBrokenOff: code.contains("…"))
                    #expect(fault == nil, "\(document): \(code)")
                    inProse += 1
                }
            }
        }
        #expect(inBlocks > 60 && inProse > 60, "\(inBlocks) in blocks, \(inProse) in prose")
    }
}

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
