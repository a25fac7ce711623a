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

    @Test(arguments: [GenerateCommand.Kind.bash, .zsh, .fish, .man])
    func `Every command and every option is in it`(kind: GenerateCommand.Kind) {
        let text = GenerateCommand.text(kind, of: .all).replacing("\\-", with: "-")
        for spec in Self.specs {
            for word in spec.path { #expect(text.contains(word), "\(word) in \(kind)") }
            for option in spec.options {
                let spelled = kind == .fish ? "-l \(option.name)" : "--\(option.name)"
                #expect(text.contains(spelled), "\(spec.name) \(spelled) in \(kind)")
            }
        }
    }

    /// What bash proposes for a line, by the real bash.
    private func complete(_ lines: [[String]]) throws -> [Set<String>] {
        var script = GenerateCommand.text(.bash, of: .all) + "compopt() { :; }\n"
        for words in lines {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            script += "COMP_WORDS=(upgrade-relay \(list)); COMP_CWORD=\(words.count); COMPREPLY=()\n"
            script += "_upgrade_relay; echo \"${COMPREPLY[*]}\"\n"
        }
        let bash = Process()
        bash.executableURL = URL(filePath: "/bin/bash")
        bash.arguments = ["-u", "-s"]
        let (input, output) = (Pipe(), Pipe())
        (bash.standardInput, bash.standardOutput) = (input, output)
        try bash.run()
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        bash.waitUntilExit()
        #expect(bash.terminationStatus == 0)
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

    @Test(arguments: [("zsh", "-n"), ("fish", "--no-execute")])
    func `The other shells can read theirs`(shell: String, option: String) throws {
        let kind = try #require(GenerateCommand.Kind(rawValue: shell))
        let path = "/usr/bin/\(shell)"
        try #require(
            FileManager.default.isExecutableFile(atPath: path), "there is no \(path); \"make test\" installs it")
        let file = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try Data(GenerateCommand.text(kind, of: .all).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = try Process.run(URL(filePath: path), arguments: [option, file.path])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `The command that makes them is known and not shown`() async {
        let transcript = Transcript()
        #expect(await transcript.run(["generate", "fish"], of: .all) == .done)
        #expect(transcript.out.hasPrefix("# fish completion"))
        #expect(await transcript.run(["generate", "csh"], of: .all) == .usage)
        #expect(transcript.err.contains("\"csh\" is none of bash, zsh, fish, man, configuration, metrics"))
        #expect(!CommandTree.all.overview(of: nil).contains("generate"))
    }
}
