// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import Terminal
@testable import manual
@testable import upgrade_relay

/// Everything that is generated from the command tree covers all of it.
@Suite(.ownThread) struct GeneratedTests {
    private static let specs = CommandTree.all.commands.map { $0.spec }

    @Test func `Every command has its page in the manual, with every option`() {
        #expect(CommandSpec.all.map(\.path) == Self.specs.map(\.path))
        let pages = ManualPage.pages.map { $0.1.replacing("\\-", with: "-") }
        #expect(pages.count == Self.specs.count + 1)
        for (spec, page) in zip(Self.specs, pages.dropFirst()) {
            #expect(pages[0].contains(".BR \(ManualPage.name(of: spec)) (1)\n"), "\(spec.name)")
            for option in spec.allOptions {
                #expect(page.contains("--\(option.name)"), "\(spec.name) --\(option.name)")
            }
        }
    }

    /// The folder of the program that the scripts ask: beside the tests.
    private static let program: String = {
        guard let test = CommandLine.arguments.first(where: { $0.contains(".xctest") }) else { return "" }
        return URL(filePath: test.components(separatedBy: ".xctest")[0]).deletingLastPathComponent().path
    }()

    /// The output of a shell for a script, with the program in its path.
    private func output(of shell: String, _ options: [String], _ script: String) throws -> String {
        let path = "/usr/bin/\(shell)"
        try #require(
            FileManager.default.isExecutableFile(atPath: path), "there is no \(path); \"make test\" installs it")
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = options
        process.environment = ["PATH": "\(Self.program):/usr/bin:/bin", "HOME": "/nonexistent", "TERM": "dumb"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }

    /// The real bash's proposals for each line.
    private func complete(_ lines: [[String]]) throws -> [Set<String>] {
        var script = try ManualTests.file("etc/completions/upgrade-relay.bash") + "compopt() { :; }\n"
        for words in lines {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            script += "COMP_WORDS=(upgrade-relay \(list)); COMP_CWORD=\(words.count); COMPREPLY=()\n"
            script += "_upgrade_relay; echo \"${COMPREPLY[*]}\"\n"
        }
        let text = try output(of: "bash", ["-u", "-s"], script)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            Set($0.split(separator: " ").map(String.init))
        }
    }

    @Test func `bash proposes the commands, and of each all options`() throws {
        let proposals = try complete([[""]] + Self.specs.map { $0.path + ["-"] })
        #expect(proposals.count == Self.specs.count + 1)
        #expect(proposals[0] == Set(Self.specs.map { $0.path[0] }).union(["--help", "--version"]))
        for (spec, proposal) in zip(Self.specs, proposals.dropFirst()) {
            #expect(proposal == Set(spec.allOptions.map { "--\($0.name)" }), "\(spec.name)")
        }
    }

    @Test func `bash knows second words, values and places`() throws {
        let proposals = try complete([
            ["devices", ""], ["version", "set", "com.example.app", ""], ["version", "set", "com.example.app", "a"],
            ["serve", "--log-level", "n"], ["campaigns", "list", "--limit", ""],
            ["--socket", "/run/x", "tokens", "l"], ["devices", "import", "/etc/passw"],
        ])
        #expect(proposals[0] == ["import", "export", "show", "remove", "--help"])
        #expect(proposals[1] == ["ios", "android"])
        #expect(proposals[2] == ["android"])
        #expect(proposals[3] == ["notice"])
        #expect(proposals[4].isEmpty)
        #expect(proposals[5] == ["list"])
        #expect(proposals[6].contains("/etc/passwd"))
    }

    @Test func `zsh is given each word with its meaning, and told of files`() throws {
        let stubs =
            "_describe() { print -l -- $entries }\n_files() { print files }\nCURRENT=2\nwords=(upgrade-relay x-none)\n"
        let calls = [["campaigns", "w"], ["devices", "import", ""], ["--ur"]].map { words in
            "words=(upgrade-relay \(words.map { "'\($0)'" }.joined(separator: " "))); CURRENT=\(words.count + 1); _upgrade_relay\n"
        }
        let text = try output(
            of: "zsh", ["-f", "-s"], stubs + ManualTests.file("etc/completions/_upgrade-relay") + calls.joined())
        #expect(text == "\nwatch:Follows a campaign until it ends\nfiles\n\n")
    }

    @Test func `fish proposes each word with its meaning`() throws {
        let script =
            try ManualTests.file("etc/completions/upgrade-relay.fish") + """
                complete -C 'upgrade-relay campaigns w'
                complete -C 'upgrade-relay version set com.example.app a'
                complete -C 'upgrade-relay devices import /etc/passw'
                complete -C 'upgrade-relay campaigns list --limit '

                """
        let text = try output(of: "fish", ["--no-config"], script)
        let lines = text.split(separator: "\n")
        #expect(lines.prefix(2) == ["watch\tFollows a campaign until it ends", "android"])
        #expect(lines.dropFirst(2).contains { $0.hasPrefix("/etc/passwd") }, "\(text)")
    }
}
