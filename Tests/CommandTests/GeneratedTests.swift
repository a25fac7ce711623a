// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import OwnThread
import Testing

@testable import ClientCommands
@testable import Terminal
@testable import upgrade_relay

/// What is made of the command tree covers all of it.
@Suite(.ownThread) struct GeneratedTests {
    private static let specs = CommandTree.all.commands.map { $0.spec }

    @Test func `Every command has its page in the manual, with every option`() async {
        let manual = Generated.man.text(of: .all).replacing("\\-", with: "-")
        let names = Generated.pages.text(of: .all).split(separator: "\n").map(String.init)
        #expect(names.count == Self.specs.count)
        for (spec, name) in zip(Self.specs, names) {
            #expect(manual.contains(".BR \(name) (1)\n"), "\(name)")
            let transcript = Transcript(isOutputTerminal: false)
            #expect(await transcript.run(["generate", "man", name], of: .all) == .done)
            let text = transcript.out.replacing("\\-", with: "-")
            for option in spec.allOptions {
                #expect(text.contains("--\(option.name)"), "\(spec.name) --\(option.name)")
            }
        }
    }

    /// Where the program is that the scripts ask: beside the tests.
    private static let program: String = {
        guard let test = CommandLine.arguments.first(where: { $0.contains(".xctest") }) else { return "" }
        return URL(filePath: test.components(separatedBy: ".xctest")[0]).deletingLastPathComponent().path
    }()

    /// What a shell writes for a script, with the program in its path.
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

    /// What bash proposes for a line, by the real bash.
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

    @Test func `The command that makes them is known and not shown`() async {
        let transcript = Transcript()
        #expect(await transcript.run(["generate", "pages"], of: .all) == .done)
        #expect(transcript.out.hasPrefix("upgrade-relay-serve\n"), "\(transcript.out.prefix(40))")
        #expect(await transcript.run(["generate", "csh"], of: .all) == .usage)
        #expect(transcript.err.contains("\"csh\" is none of man, pages, configuration, metrics"))
        #expect(CommandTree.all.overview(of: nil).contains("For packagers:\n  generate  Prints a manual page"))
    }
}
