// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Synchronization
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal
@testable import upgrade_relay

@Suite struct CommandLineTests {
    private func run(
        _ words: [String], environment: [String: String] = [:]
    ) async -> (code: ExitCode, out: String, err: String) {
        let transcript = Transcript()
        let code = await transcript.run(words, of: .all, environment: environment)
        return (code, transcript.out, transcript.err)
    }

    @Test func `The version is printed`() async {
        let result = await run(["--version"])
        #expect(result.code == .done)
        #expect(result.out == "upgrade-relay \(CommandLineTool.version)\n")
    }

    @Test func `Every command of the contract has a page of help`() async {
        let names = [
            "init", "serve", "demo", "check-config", "simulate-apns", "simulate-fcm", "simulate-receiver",
            "version set", "version show", "version adoption",
            "version release",
            "version block", "version unblock", "version withdraw", "test-push", "devices import",
            "devices export", "devices show", "devices remove", "users explain", "campaigns list", "campaigns show",
            "campaigns watch",
            "campaigns adoption", "campaigns pause", "campaigns approve", "campaigns resume", "campaigns cancel",
            "campaigns retry",
            "approvals list", "approvals approve", "approvals refuse",
            "deliveries", "plan",
            "tokens create",
            "tokens list",
            "tokens revoke", "sessions list", "sessions end", "log level", "reload", "store status", "store backup",
            "store check", "store prune",
            "store restore", "store migrate", "store accept",
            "notifications", "audit", "nodes", "page", "campaigns report",
            "notice set", "notice show", "notice clear",
        ]
        #expect(Set(CommandTree.all.commands.map { $0.spec.name }) == Set(names))
        for name in names {
            let result = await run(name.split(separator: " ").map(String.init) + ["--help"])
            #expect(result.code == .done)
            #expect(result.out.contains("upgrade-relay \(name)"), "help of \(name)")
            for part in ["Usage:", "Options:", "Exit codes:", "Example"] {
                #expect(result.out.contains(part), "\(part) in the help of \(name)")
            }
            let long = result.out.split(separator: "\n").filter {
                DisplayWidth.columns(String($0)) > 80 && !$0.contains("upgrade-relay")
            }
            #expect(long.isEmpty, "lines of the help of \(name) fit a terminal")
        }
    }

    @Test(arguments: [
        ([], "Usage: upgrade-relay COMMAND"),
        (["frobnicate"], "error: unknown command \"frobnicate\"\n"),
        (["devcies", "list"], "did you mean \"devices\"?"),
        (["campaigns", "lst"], "did you mean \"campaigns list\"?"),
        (["campaigns"], "Usage: upgrade-relay campaigns COMMAND"),
        (["campaigns", "list", "--jsn"], "did you mean \"--json\"?"),
        (["version", "set", "a", "windows", "--required", "1"], "\"windows\" is not a platform; ios or android"),
        (["version", "set", "a", "ios"], "nothing is named that would change: give --required VERSION"),
        (["version", "set", "a", "ios", "--required", "1.x"], "--required: \"1.x\" is not a version"),
        (["tokens", "create", "--name", "n", "--scope", "devics"], "did you mean \"devices\"?"),
        (["deliveries"], "one of --campaign, --telephone and --device is needed"),
        (["deliveries", "--campaign", "x", "--state", "acepted"], "did you mean \"accepted\"?"),
        (["campaigns", "list", "--token", "t"], "--token goes with --url"),
        (["--json"], "a command is missing"),
    ])
    func `Wrong usage ends with 2`(words: [String], message: String) async {
        let result = await run(words)
        #expect(result.code == .usage)
        #expect(result.err.contains(message))
        #expect(result.out.isEmpty)
    }

    @Test func `No daemon ends with 3 and a hint`() async {
        let result = await run(["--socket", "/nonexistent/control.sock", "campaigns", "list"])
        #expect(result.code == .unreachable)
        #expect(result.err.contains("no control socket at /nonexistent/control.sock; is the daemon running?"))
    }

    @Test func `No configuration ends with 78`() async {
        for command in ["serve", "check-config"] {
            let result = await run([command], environment: ["UPGRADE_RELAY_CONFIG": "/nonexistent/config.json5"])
            #expect(result.code == .configuration)
            #expect(result.err.contains("/nonexistent/config.json5"))
            #expect(result.err.contains("the file does not exist"))
        }
    }
}

@Suite struct ConnectionOptionsTests {
    private func options(_ words: [String], of command: CommandEntry) throws -> ConnectionOptions {
        try ConnectionOptions(ArgumentParser(command.spec).parse(words))
    }

    private let bump = ["a", "ios", "--required", "2"]

    @Test(arguments: [CommandEntry.versionSet, .plan])
    func `--url is the daemon's address in a bump too`(command: CommandEntry) throws {
        let options = try options(
            bump + ["--url", "http://127.0.0.1:1", "--token", "t", "--download-url", "https://apps.apple.com/1"],
            of: command)
        #expect(options.address == "http://127.0.0.1:1")
    }

    @Test(arguments: CommandTree.all.commands.map { $0.spec })
    func `No command has a second meaning of --url`(spec: CommandSpec) {
        #expect(spec.option(named: "api") == nil)
        if let url = spec.option(named: "url") { #expect(url.summary.hasPrefix("the daemon's HTTP address")) }
    }

    /// `--url` of version set was the page of a store until it became `--download-url`.
    @Test func `A page of a store is not taken for the daemon`() throws {
        let words = bump + ["--url", "https://apps.apple.com/app/id1"]
        let error = #expect(throws: UsageError.self) {
            try BumpArguments.body(ArgumentParser(CommandEntry.versionSet.spec).parse(words))
        }
        #expect(error?.suggestion == "--download-url https://apps.apple.com/app/id1")
        _ = try BumpArguments.body(
            ArgumentParser(CommandEntry.versionSet.spec).parse(bump + ["--url", "https://relay.example:8443/"]))
    }

    @Test(
        arguments: [
            (["en=Now"], .string("en=Now")), (["50% off = more"], .string("50% off = more")), ([], nil),
            (["en=Now", "zh-Hans=a=b", "*="], ["en": .string("Now"), "zh-Hans": .string("a=b"), "*": .string("")]),
        ] as [([String], JSONValue?)])
    func `One message is taken as it is, of several each names its language`(texts: [String], message: JSONValue?)
        throws
    {
        let words = bump + texts.flatMap { ["--message", $0] }
        let body = try BumpArguments.body(ArgumentParser(CommandEntry.versionSet.spec).parse(words))
        #expect(body.find(["message"]) == message)
    }

    @Test(arguments: [["Now", "de=Jetzt"], ["en=Now", "=Jetzt"], ["en=Now", "EN=Jetzt"], ["en=Now", "50% = half"]])
    func `Of several messages none may leave its language out`(texts: [String]) throws {
        let words = bump + texts.flatMap { ["--message", $0] }
        #expect(throws: UsageError.self) {
            try BumpArguments.body(ArgumentParser(CommandEntry.versionSet.spec).parse(words))
        }
    }

    @Test func `An option before the command is the command's`() throws {
        let words = ["--url", "http://127.0.0.1:1", "--token", "t", "version", "set"] + bump
        guard case .command(let type, let rest) = try CommandTree.all.select(words) else {
            Issue.record("no command was selected")
            return
        }
        #expect(try options(rest, of: type).address == "http://127.0.0.1:1")
    }
}
