// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Demo
import Foundation
import OwnThread
import RelayDaemon
import Testing

@testable import ClientCommands
@testable import Terminal

/// The output of each command, as files: a change of words is a change of a file, and is reviewed as one. A new command needs a
/// line here. With RELAY_WRITE_TRANSCRIPTS=1 the files are written anew.
@Suite(.ownThread) struct CommandTextTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

    /// The words of each command by its name; FILE is a file of devices, NEW a file that is not there yet, GOOD and BROKEN are
    /// configurations. A command whose progress has a rate runs quietly: the rate depends on the machine.
    private static let lines: [String: [String]] = [
        "serve": [], "demo": [], "simulate-apns": [], "simulate-fcm": [],
        "check-config": ["--config GOOD", "--config GOOD --online", "--config BROKEN"],
        "version set": [
            "com.example.app ios --required 2.0.0 --latest 2.1.0 --yes", "com.example.app all --required 2.0.0 --yes",
            "com.example.app all --required 2.0.0 --minimum-os 15.0",
        ],
        "version show": ["", "com.example.app"],
        "version adoption": ["com.example.app ios"],
        "version release": ["com.example.app ios --yes"],
        "version block": ["com.example.app ios 1.9.4 --yes"],
        "version unblock": ["com.example.app ios 1.9.4 --yes"],
        "version withdraw": ["com.example.app ios --required 2.0.0 --yes"],
        "plan": ["com.example.app ios --required 2.0.0"],
        "test-push": ["com.example.app ios --telephone 13800138000"],
        "notice set": ["com.example.app ios --message Maintenance --yes"],
        "notice show": ["com.example.app ios"],
        "notice clear": ["com.example.app ios"],
        "devices import": ["FILE --app com.example.app --platform ios --quiet"],
        "devices export": ["--csv"],
        "devices show": [String(repeating: "0123456789abcdef", count: 4)],
        "devices remove": [
            String(repeating: "0123456789abcdef", count: 4) + " --app com.example.app --platform ios --yes"
        ],
        "users explain": ["13800138000"],
        "campaigns list": [""],
        "campaigns show": ["0123456789ab"],
        "campaigns watch": ["0123456789ab"],
        "campaigns adoption": ["0123456789ab"],
        "campaigns pause": ["0123456789ab"],
        "campaigns resume": ["0123456789ab"],
        "campaigns approve": ["0123456789ab --yes"],
        "campaigns cancel": ["0123456789ab --yes"],
        "campaigns retry": ["0123456789ab"],
        "approvals list": [""],
        "approvals approve": ["3 --yes"],
        "approvals refuse": ["3 --reason later"],
        "deliveries": ["--campaign 0123456789ab", "--telephone 13800138000"],
        "tokens create": ["--name ci --scope versions"],
        "tokens list": [""],
        "tokens revoke": ["ci --yes"],
        "sessions list": [""],
        "sessions end": ["5f3a9c1e77d04b62 --yes"],
        "page": [""],
        "campaigns report": ["0123456789ab --output NEW"],
        "notifications": [""],
        "audit": ["", "--campaign 0123456789ab"],
        "nodes": [""],
        "store status": [""],
        "store backup": ["NEW"],
        "store restore": ["NEW"],
        "store migrate": ["--from NEW"],
        "store check": [""],
        "store prune": ["--older-than 30d --yes --quiet"],
        "store accept": ["--yes"],
        "log level": ["", "debug"],
        "reload": [""],
    ]

    /// The tool's commands. The output of serve, demo and the simulators at work depends on the machine and the time.
    private static let commands = [.serve, .demo, .checkConfig] + CommandEntry.simulators + CommandTree.client

    private static let good = """
        { store: { sqlite: { path: "/tmp/relay.db" } }, apps: { "com.example.app": { ios: {
          downloadUrl: "https://apps.apple.com/app/id1173193999", apns: null } } } }
        """
    private static let broken = """
        { listen: { address: "127.0.0.1" }, store: { keep: "90" }, appz: {},
          apps: { "com.example.app": { ios: { downloadUrl: "apps.apple.com", push: { priority: 7 } } } } }
        """

    private static let chinese = [
        "name": "发布流水线令牌", "message": "请升级到最新版本，才能继续使用。", "reason": "凭证被拒绝：请检查密钥", "actor": "王小明",
    ]

    private static func shown(_ text: String) -> String {
        var text = text.replacing("\u{1B}", with: "\\e").replacing("\r", with: "\\r")
        if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        return text
    }

    private static func run(
        _ words: [String], columns: Int?, hasColour: Bool = true, words chinese: [String: String] = [:]
    ) async throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "words-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let device = String(repeating: "0123456789abcdef", count: 4)
        try Data("token,telephone,version\n\(device),13800138000,1.9.0\n".utf8).write(to: URL(filePath: path))
        try Data(good.utf8).write(to: URL(filePath: "\(path).good"))
        try Data(broken.utf8).write(to: URL(filePath: "\(path).broken"))
        defer { for end in ["good", "broken"] { try? FileManager.default.removeItem(atPath: "\(path).\(end)") } }
        let transcript = Transcript(
            isTerminal: columns != nil, isOutputTerminal: columns != nil, columns: columns ?? 80)
        let environment = columns == nil ? [:] : hasColour ? ["TERM": "xterm"] : ["TERM": "xterm", "NO_COLOR": "1"]
        let transport = DocumentedTransport(words: chinese)
        let files = ["NEW": "\(path).new", "GOOD": "\(path).good", "BROKEN": "\(path).broken", "FILE": path]
        let places = words.map { files[$0] ?? $0 }
        let code = await ConnectionOptions.$transport.withValue(transport) {
            await transcript.run(
                places,
                of: CommandTree(
                    commands: commands, leadingOptions: ConnectionOptions.specs, lookup: Proposals.of),
                environment: environment)
        }
        func named(_ text: String) -> String {
            // The longest first: one path begins with the other.
            shown(
                files.sorted { $0.value.count > $1.value.count }.reduce(text) { $0.replacing($1.value, with: $1.key) })
        }
        let errors = transcript.err.isEmpty ? "" : "--- standard error\n\(named(transcript.err))"
        return named(transcript.out) + errors + (code == .done ? "" : "--- exit code \(code.rawValue)\n")
    }

    @Test(arguments: commands.map(\.spec.name))
    func `Each command writes what its file holds`(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        var text = "$ upgrade-relay \(command) --help\n" + (try await Self.run(words + ["--help"], columns: 80))
        for line in try #require(Self.lines[command], "\(command) has no line in CommandTextTests") {
            let all = words + line.split(separator: " ").map(String.init)
            let title = "\n$ upgrade-relay \(all.joined(separator: " "))"
            text += "\(title)    # 80 columns\n" + (try await Self.run(all, columns: 80))
            text += "\(title)    # 120 columns\n" + (try await Self.run(all, columns: 120))
            text += "\(title)    # no terminal\n" + (try await Self.run(all, columns: nil))
            text +=
                "\(title)    # 80 columns, no colour, Chinese names\n"
                + (try await Self.run(all, columns: 80, hasColour: false, words: Self.chinese))
        }
        let file = Self.folder.appending(path: command.replacing(" ", with: "-") + ".txt")
        if ProcessInfo.processInfo.environment["RELAY_WRITE_TRANSCRIPTS"] == "1" {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let (got, old) = (
            text.split(separator: "\n", omittingEmptySubsequences: false),
            expected.split(separator: "\n", omittingEmptySubsequences: false)
        )
        let place =
            zip(got, old).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(got.count, old.count)
        #expect(
            text == expected,
            """
            \(file.lastPathComponent) differs from line \(place + 1) on: \
            \(got.dropFirst(place).first ?? "nothing"), not \(old.dropFirst(place).first ?? "nothing"); \
            RELAY_WRITE_TRANSCRIPTS=1 writes it anew
            """)
    }

    @Test func `No file is of a command that is gone`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(Self.commands.map { $0.spec.name.replacing(" ", with: "-") + ".txt" }))
    }
}
