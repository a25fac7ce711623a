// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Terminal
@testable import upgrade_relay

/// Each command in a document is one that the program takes as it stands there.
@Suite struct DocumentCommandTests {
    /// The documents' placeholders for a reader's values, and values that a reader could have.
    private static let placeholders = ["APP": "com.example.app", "PLATFORM": "ios", "VERSION": "2.0.0"]

    /// The reason that the program would refuse these words; nil: it would take them.
    ///
    /// - Parameter isBrokenOff: whether the reader has to add the rest.
    private static func fault(_ words: [String], isBrokenOff: Bool) -> String? {
        do {
            switch try CommandTree.all.select(words) {
            case .version, .completion: return nil
            case .overview(_, let wasAsked): return wasAsked || isBrokenOff ? nil : "a command is missing"
            case .command(let command, let rest):
                _ = try ArgumentParser(command.spec).parse(rest.map { placeholders[$0] ?? $0 })
                return nil
            }
        } catch {
            return isBrokenOff && error.message.contains("is missing") ? nil : "\(error)"
        }
    }

    /// The image's guide names files and tags as "make image" makes them.
    @Test func theImageIsNamedAsItIsMade() throws {
        let versions = try ManualTests.file("etc/CONTAINER.md").matches(
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
            let text = try ManualTests.file(document)
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
                guard
                    names.contains(where: { "\(code) ".hasPrefix("upgrade-relay \($0) ") || code.hasPrefix("\($0) ") })
                else { continue }
                // "--token …": the value is the reader's.
                let text = code.replacing(/(?<option>--[a-z-]+) …/) { "\($0.option) VALUE" }.replacing("…", with: "")
                for var words in ShellWords.commands(in: text) {
                    if words.first == "upgrade-relay" { words.removeFirst() }
                    // Named alone, or with "…".
                    let isBrokenOff = code.contains("…") || names.contains(words.joined(separator: " "))
                    let fault = Self.fault(words, isBrokenOff: isBrokenOff)
                    #expect(fault == nil, "\(document): \(code)")
                    inProse += 1
                }
            }
        }
        #expect(inBlocks > 60 && inProse > 60, "\(inBlocks) in blocks, \(inProse) in prose")
    }
}
