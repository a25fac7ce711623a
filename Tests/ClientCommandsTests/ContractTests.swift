// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Terminal
import Testing

@testable import ClientCommands

/// Each command against the API that the daemon serves: the fields that a command reads are those that are sent.
@Suite(.ownThread) struct ContractTests {
    private let daemon: RealDaemon

    init() throws {
        daemon = try RealDaemon()
    }

    private func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "  ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return fields
    }

    /// The cells of a table's rows, the header's first.
    private func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").map { line in
            line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }

    @Test func `A plan tells the counts and the push as the API does`() async throws {
        _ = try await daemon.register()
        // The joiner of an emoji is escaped on the wire: measuring the push after reading it counts too few bytes.
        let words = ["plan", RealDaemon.app, "ios", "--required", "2.0.0", "--message", "Now\u{200D}, please."]
        let result = await daemon.run(words)
        #expect(result.code == .done, "\(result.err)")
        let rows = rows(result.out)
        for row in [
            ["audience", "3", "100%"], ["would be pushed", "1", "33%"], ["filtered", "2", "67%"],
            ["noTelephone", "1", "33%"], ["alreadyCurrent", "1", "34%"],
        ] {
            #expect(rows.contains(row), "\(row)")
        }
        let json = await daemon.run(words + ["--json"]).out
        let size = try #require(json.firstMatch(of: /"samplePayloadSize":(\d+)/)?.output.1)
        #expect(result.out.contains("\none push, \(size) of 4096 bytes\n"), "\(result.out)")
        #expect(result.out.contains("\"needUpgrade\""))
    }

    @Test func `Versions are set and shown with their history`() async throws {
        let id = try await daemon.announce()
        #expect(!id.isEmpty)
        let again = await daemon.run("version set \(RealDaemon.app) ios --latest 2.2.0")
        #expect(again.out.contains("\(RealDaemon.app) ios: required 2.0.0, latest 2.2.0\n"))
        #expect(again.out.contains("nothing is pushed: the required version did not rise\n"))
        let shown = await daemon.run("version show \(RealDaemon.app)")
        let fields = fields(shown.out)
        #expect(fields["app"] == "\(RealDaemon.app) ios")
        #expect(fields["required"] == "2.0.0")
        #expect(fields["latest"] == "2.2.0")
        #expect(fields["updated"]?.hasSuffix("Z") == true)
        let history = rows(shown.out).filter { $0.count == 5 && $0[0].hasSuffix("Z") }
        #expect(history.map { Array($0[1...2]) } == [["2.0.0", "2.2.0"], ["2.0.0", "2.1.0"]])
        let all = rows(await daemon.run("version show").out)
        #expect(all.first == ["APP", "PLATFORM", "REQUIRED", "IN FORCE", "LATEST", "UPDATED"])
        #expect(all.last.map { Array($0.prefix(5)) } == [RealDaemon.app, "ios", "2.0.0", "2.0.0", "2.2.0"])
        let unknown = await daemon.run("version show com.example.gone")
        #expect(unknown.code == .failed)
        let fallen = await daemon.run("version set \(RealDaemon.app) ios --required 1.0.0")
        #expect(fallen.code == .failed)
        #expect(fallen.err.contains("  required: must not be below 2.0.0; got 1.0.0\n"), "\(fallen.err)")
    }

    @Test func `Devices are imported, shown, exported and removed`() async throws {
        let tokens = try await daemon.register()
        let fields = fields(await daemon.run("devices show \(tokens[0])").out)
        #expect(fields["token"] == tokens[0])
        #expect(fields["app"] == "\(RealDaemon.app) ios")
        #expect(fields["phone number"] == "13800138000")
        #expect(fields["version"] == "1.0.0")
        #expect(fields["environment"] == "production")
        #expect(fields["registered"]?.hasSuffix("Z") == true)
        let lines = await daemon.run("devices export --csv").out.split(separator: "\n").map(String.init)
        #expect(
            lines.first
                == "app,platform,token,telephone,version,environment,osVersion,country,registeredAt,deadSince,seenAt")
        let line = try #require(lines.first { $0.hasPrefix("\(RealDaemon.app),ios,\(tokens[1]),,1.0.0,sandbox,") })
        #expect(line.hasSuffix("Z,,"))
        #expect(lines.count == 4)
        let json = await daemon.run("devices export").out.split(separator: "\n")
        #expect(json.count == 3)
        let removed = await daemon.run("devices remove \(tokens[1]) --yes")
        #expect(removed.out.hasPrefix("the device of \(RealDaemon.app) ios: forgotten.\n"), "\(removed.out)")
        #expect(await daemon.run("devices show \(tokens[1])").err.contains("no device has this token"))
        let path = "\(daemon.folder)/bad.csv"
        try Data("app,platform,token\n\(RealDaemon.app),ios,zz\n".utf8).write(to: URL(filePath: path))
        let refused = await daemon.run("devices import \(path)")
        #expect(refused.code == .failed)
        #expect(refused.out == "0 new, 0 updated, 0 unchanged, 1 refused\n")
        #expect(refused.err.contains("line 2: token: "), "\(refused.err)")
    }

    @Test func `An import leaves alone what its file does not mention, and forgets what is empty there`() async throws {
        let tokens = try await daemon.register()
        let path = "\(daemon.folder)/versions.csv"
        let words = ["devices", "import", path, "--app", RealDaemon.app, "--platform", "ios"]
        try Data("token,version\n\(tokens[0]),1.5.0\n\(tokens[1]),\n".utf8).write(to: URL(filePath: path))
        #expect(await daemon.run(words).code == .done)
        let first = fields(await daemon.run("devices show \(tokens[0])").out)
        #expect(first["phone number"] == "13800138000")
        #expect(first["version"] == "1.5.0")
        let second = fields(await daemon.run("devices show \(tokens[1])").out)
        #expect(second["version"] == "-")
        #expect(second["environment"] == "sandbox")
        try Data("token,telephone\n\(tokens[0]),\n".utf8).write(to: URL(filePath: path))
        #expect(await daemon.run(words).code == .done)
        let forgotten = fields(await daemon.run("devices show \(tokens[0])").out)
        #expect(forgotten["phone number"] == "-")
        #expect(forgotten["version"] == "1.5.0")
    }

    @Test func `A file with faults is mended by way of its rejects, and looked at before it is stored`() async throws {
        _ = try await daemon.register()
        let tokens = (1...6).map { String(repeating: "0\($0)", count: 32) }
        let (path, rejects) = ("\(daemon.folder)/faulty.csv", "\(daemon.folder)/rejects.csv")
        let text = """
            token;telephone;phone;version
            \(tokens[0]);1;x;1.0
            \(tokens[1]);"2;x;1.0
            \(tokens[2]);3;x;1.0.x
            \(tokens[3]);NULL;x;1.0
            zz;5;x;1.0
            \(tokens[5]);6;x;1.0

            """
        try Data(text.utf8).write(to: URL(filePath: path))
        let words = ["devices", "import", path, "--app", RealDaemon.app, "--platform", "ios"]
        let rehearsed = await daemon.run(words + ["--dry-run"])
        #expect(rehearsed.code == .failed)
        #expect(rehearsed.out == "dry run, nothing was stored: 3 new, 0 updated, 0 unchanged, 3 refused\n")
        #expect(await daemon.run("devices export").out.split(separator: "\n").count == 3)
        let result = await daemon.run(words + ["--rejects", rejects, "--strict"])
        #expect(result.code == .failed)
        #expect(
            result.out == "2 new, 0 updated, 0 unchanged, 4 refused\nthe refused lines are in \(rejects)\n",
            "\(result.err)")
        for text in [
            "warning: the column \"phone\" is ignored\n", "line 3: a quote is never closed\n", "line 4: version: ",
            "line 5: phone number that a program printed where it had none\n", "line 6: token: only hex digits",
        ] {
            #expect(result.err.contains(text), "\(text): \(result.err)")
        }
        var written = try String(contentsOfFile: rejects, encoding: .utf8)
        #expect(
            written == """
                token;telephone;phone;version
                \(tokens[1]);"2;x;1.0
                \(tokens[2]);3;x;1.0.x
                \(tokens[3]);NULL;x;1.0
                zz;5;x;1.0

                """)
        let mode = try FileManager.default.attributesOfItem(atPath: rejects)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        written = written.replacing("\"2", with: "2").replacing("1.0.x", with: "1.0").replacing("NULL", with: "4")
            .replacing("zz", with: tokens[4])
        try Data(written.utf8).write(to: URL(filePath: rejects))
        let mended = await daemon.run([
            "devices", "import", rejects, "--app", RealDaemon.app, "--platform", "ios", "--rejects", path,
        ])
        #expect(mended.code == .done)
        #expect(mended.out == "4 new, 0 updated, 0 unchanged, 0 refused\n")
        #expect(!FileManager.default.fileExists(atPath: path), "nothing was refused")
        let same = await daemon.run(words.map { $0 == path ? rejects : $0 } + ["--rejects", rejects])
        #expect(same.err.contains("is the file that is imported"))
        #expect(try !Data(contentsOf: URL(filePath: rejects)).isEmpty)
    }

    @Test func `What is exported changes nothing when it is imported`() async throws {
        _ = try await daemon.register()
        for options in [["--csv"], []] {
            let export = await daemon.run(["devices", "export"] + options).out
            let path = "\(daemon.folder)/export"
            try Data(export.utf8).write(to: URL(filePath: path))
            let result = await daemon.run("devices import \(path)")
            #expect(result.out == "0 new, 0 updated, 3 unchanged, 0 refused\n", "\(result.err)")
            #expect(await daemon.run(["devices", "export"] + options).out == export)
        }
    }

    @Test func `A campaign is listed, shown, moved and watched, with its deliveries and notifications`() async throws {
        let tokens = try await daemon.register()
        let id = try await daemon.announce()
        for (verb, state) in [("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")] {
            let answer = await daemon.run("campaigns \(verb) \(id)" + (verb == "cancel" ? " --yes" : "")).out
            #expect(answer.hasPrefix("campaign \(id) is \(state)\n2.0.0 of \(RealDaemon.app) ios"), "\(answer)")
            #expect(answer.contains("2.0.0 stays required of everybody") == (verb == "cancel"), "\(answer)")
        }
        let watched = await daemon.run("campaigns watch \(id)")
        #expect(watched.code == .failed)
        let shown = await daemon.run("campaigns show \(id)")
        #expect(shown.out == watched.out)
        let fields = fields(shown.out)
        #expect(fields["campaign"] == id)
        #expect(fields["required"] == "2.0.0")
        #expect(fields["latest"] == "2.1.0")
        #expect(fields["download URL"] == "https://example.com/app")
        #expect(fields["state"] == "cancelled")
        for name in ["created", "finished"] { #expect(fields[name]?.hasSuffix("Z") == true, "\(name)") }
        #expect(rows(shown.out).contains(["audience", "3", "100%"]))
        // Pushes in flight when it was cancelled still settle. Whether the one device that is up to date was filtered before
        // that is a race; the list must match the campaign.
        var counts: [[String]]
        let deadline = ContinuousClock.now + .seconds(30)
        repeat {
            counts = rows(await daemon.run("campaigns show \(id)").out)
        } while counts.contains { $0.first == "inFlight" } && ContinuousClock.now < deadline
        let filtered = counts.first { $0.first == "filtered" }
        let list = rows(await daemon.run("campaigns list").out)
        #expect(list.count == 2)
        #expect(filtered == nil || filtered == ["filtered", "1", "33%"])
        #expect(
            list.last.map { Array($0.prefix(7)) } == [
                id, RealDaemon.app, "ios", "2.0.0", "cancelled", "3", filtered == nil ? "0%" : "33%",
            ])
        let deliveries = rows(await daemon.run("deliveries --campaign \(id)").out)
        #expect(deliveries.count == 4)
        #expect(deliveries.contains { $0.contains(tokens[0]) && $0.contains("13800138000") })
        #expect(rows(await daemon.run("deliveries --device \(tokens[0])").out).count == 2)
        let first = await daemon.run("deliveries --campaign \(id) --limit 1")
        let cursor = try #require(first.err.firstMatch(of: /--cursor (\S+)/)?.output.1)
        #expect(rows(await daemon.run("deliveries --campaign \(id) --cursor \(cursor)").out).count == 3)
        #expect(await daemon.run("notifications --campaign \(id)").code == .done)
    }

    @Test func `A campaign is sent again, and a superseded one is not`() async throws {
        _ = try await daemon.register()
        let id = try await daemon.announce()
        let early = await daemon.run("campaigns retry \(id)")
        #expect(early.code == .failed)
        #expect(early.err.contains("only a campaign that is cancelled or completed can be retried"), "\(early.err)")
        _ = await daemon.run("campaigns cancel \(id) --yes")
        let wrong = await daemon.run("campaigns retry \(id) --state cancelled,accepted")
        #expect(wrong.code == .usage && wrong.err.contains("\"accepted\" is not a state"), "\(wrong.err)")
        let nothing = await daemon.run("campaigns retry \(id) --state rejected")
        #expect(nothing.code == .failed && nothing.err.contains("no device that is rejected"), "\(nothing.err)")
        let again = await daemon.run("campaigns retry \(id) --state cancelled,rejected")
        #expect(
            again.out.hasPrefix(
                "campaign \(id) is running\n2.0.0 of \(RealDaemon.app) ios, 3 devices: sent again, 2 left."))
        let shown = await daemon.run("campaigns show \(id)").out
        #expect(fields(shown)["state"] == "running")
        #expect(fields(shown)["retried"]?.hasSuffix("devices (rejected, cancelled)") == true, "\(shown)")
        #expect(await daemon.run("version set \(RealDaemon.app) ios --required 3.0.0").code == .done)
        let superseded = await daemon.run("campaigns retry \(id)")
        #expect(superseded.code == .failed)
        #expect(superseded.err.contains("was superseded and cannot be sent again"), "\(superseded.err)")
        #expect(superseded.err.contains("retry that one"), "\(superseded.err)")
    }

    @Test func `Tokens are made, listed and revoked`() async {
        let made = await daemon.run("tokens create --name backend --scope devices status")
        #expect(made.out.hasPrefix("urt_"))
        let listed = rows(await daemon.run("tokens list").out)
        #expect(listed.last.map { Array($0.prefix(2)) } == ["backend", "status devices"])
        #expect(listed.last?.last == "-")
        #expect(await daemon.run("tokens revoke backend --yes").out.hasPrefix("the token backend: revoked.\n"))
        #expect(rows(await daemon.run("tokens list").out).last?.last?.hasSuffix("Z") == true)
        #expect(await daemon.run("tokens revoke backend --yes").code == .failed)
        let json = await daemon.run("tokens create --name other --scope devices --json").out
        #expect(json.hasPrefix(#"{"name":"other","scopes":["devices"],"apps":null,"token":"urt_"#))
        let bound = await daemon.run("tokens create --name team --scope status --app \(RealDaemon.app) --json").out
        #expect(bound.contains(#""apps":["\#(RealDaemon.app)"]"#))
    }

    @Test func `An alert is set, shown and cleared`() async {
        let words = ["notice", "set", RealDaemon.app, "ios", "--message", "Back at 6 pm.", "--blocking", "--yes"]
        let set = await daemon.run(words + ["--until", "2100-01-31T18:00:00Z"])
        let line = "\(RealDaemon.app) ios: blocking notice until 2100-01-31T18:00:00.000Z: Back at 6 pm.\n"
        #expect(set.out.hasPrefix(line), "\(set.out)\(set.err)")
        #expect(await daemon.run("notice show \(RealDaemon.app) ios").out == line)
        let cleared = await daemon.run("notice clear \(RealDaemon.app) ios")
        #expect(cleared.out.hasPrefix("\(RealDaemon.app) ios: the notice is cleared.\n"), "\(cleared.out)")
        #expect(await daemon.run("notice show \(RealDaemon.app) ios").code == .failed)
    }

    @Test func `The store is shown, checked, pruned and copied`() async throws {
        let fields = fields(await daemon.run("store status").out)
        #expect(fields["store"] == "\(daemon.folder)/relay.db")
        #expect(fields["schema"]?.hasPrefix("version ") == true)
        #expect(fields["current"]?.hasPrefix("release \(CommandLineTool.version), schema version ") == true)
        let checked = await daemon.run("store check")
        #expect(checked.out == "the store is sound\n")
        #expect(checked.err.contains(" …\n"))
        let pruned = await daemon.run("store prune --older-than 90d --yes")
        #expect(pruned.code == .done, "\(pruned.err)")
        #expect(pruned.out.contains("campaigns             0, their counts are kept\n"), "\(pruned.out)")
        let copy = "\(daemon.folder)/copy.db"
        #expect(await daemon.run("store backup \(copy)").out.hasPrefix("\(copy): "))
        #expect(await daemon.run("store check \(copy)").out == "the store is sound\n")
    }

    @Test func `The log's level is shown and changed`() async {
        #expect(await daemon.run("log level").out == "the log's level is error\n")
        #expect(await daemon.run("log level debug").out == "the log's level is debug\n")
        #expect(await daemon.run("log level").out == "the log's level is debug\n")
    }
}
