// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import OwnThread
import Terminal
import Testing

@testable import ClientCommands

/// Streams, one user's data and a canary with the daemon's own parts.
@Suite(.ownThread) struct UserCommandTests {
    private let daemon: RealDaemon

    init() throws {
        daemon = try RealDaemon()
    }

    private static let user = "13800138000"

    @Test func `Deliveries and devices are written to a file and filtered`() async throws {
        let tokens = try await daemon.register()
        let id = try await daemon.announce()
        #expect(await daemon.run("campaigns pause \(id)").code == .done)
        let path = "\(daemon.folder)/deliveries.csv"
        let result = await daemon.run("deliveries --campaign latest --csv --output \(path)")
        #expect(result.out == "\(path): 3 lines\n", "\(result.err)")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.first?.hasPrefix("campaign,app,platform,token,telephone,state,reason,") == true)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("\(id),\(RealDaemon.app),ios,") })
        let one = await daemon.run("deliveries --campaign \(id) --device \(tokens[1]) --ndjson")
        #expect(one.out.hasPrefix("{\"campaign\":\"\(id)\"") && one.out.split(separator: "\n").count == 1, "\(one)")
        #expect(await daemon.run("devices export --below 2.0.0").out.split(separator: "\n").count == 2)
        #expect(await daemon.run("devices export --environment sandbox --csv").out.split(separator: "\n").count == 2)
        let gone = await daemon.run("deliveries --campaign 0123456789ab --csv --output \(daemon.folder)/none.csv")
        #expect(gone.code == .failed && gone.err.contains("there is no campaign"), "\(gone.err)")
        #expect(!FileManager.default.fileExists(atPath: "\(daemon.folder)/none.csv"))
    }

    @Test func `A user is shown and erased by phone number`() async throws {
        let tokens = try await daemon.register()
        let shown = await daemon.run("devices show --telephone \(Self.user)")
        #expect(shown.out.contains(tokens[0]) && shown.out.contains("phone number  \(Self.user)"), "\(shown)")
        #expect(await daemon.run("devices show --token \(tokens[0])").out == shown.out)
        #expect(await daemon.run("devices show --device \(tokens[0])").out == shown.out)
        let nobody = await daemon.run("devices show --telephone 139")
        #expect(nobody.code == .failed)
        #expect(nobody.err.contains("no device has this phone number"), "\(nobody.err)")
        let erased = await daemon.run("devices remove --telephone \(Self.user) --yes")
        let says = "the user, 1 device: forgotten; the phone number is out of 0 deliveries. "
        #expect(erased.out.hasPrefix(says), "\(erased.out) \(erased.err)")
        #expect(await daemon.run("devices show \(tokens[0])").err.contains("no device has this token"))
        #expect(await daemon.run("devices export --csv").out.contains(Self.user) == false)
        let again = await daemon.run("devices remove --telephone \(Self.user) --yes")
        #expect(again.code == .failed)
        #expect(again.err.contains("nothing is known of this phone number"), "\(again.err)")
    }

    @Test func `A user is explained`() async throws {
        let tokens = try await daemon.register()
        let id = try await daemon.announce()
        #expect(await daemon.run("campaigns pause \(id)").code == .done)
        let shown = await daemon.run("users explain \(Self.user)")
        #expect(shown.code == .done, "\(shown.err)")
        let line = try #require(shown.out.firstMatch(of: /^.+ on iOS( since [^:]+:\d\d UTC): .+\n/), "\(shown.out)")
        #expect(
            line.0.replacing(line.1, with: "")
                == "Locked out on iOS: 2.0.0 is required, has 1.0.0. Push in line. Can get it: unknown.\n")
        #expect(
            shown.out.dropFirst(line.0.count).hasPrefix(
                "\n\(Self.user)\n\n\(RealDaemon.app) ios: 2.0.0 is required of everybody, 2.1.0 is announced\n"))
        #expect(
            shown.out.contains("device aaaaaa…aaaa, version 1.0.0\n  known: by its registration or an import, 20"),
            "\(shown.out)")
        #expect(
            shown.out.contains("  push: will be pushed: it is in line in campaign \(id); it is paused\n"),
            "\(shown.out)")
        #expect(
            shown.out.contains("  login check: must upgrade: 1.0.0 is below 2.0.0, which is required of everybody\n"),
            "\(shown.out)")
        #expect(shown.out.contains("asked at login to upgrade: never"))
        #expect(shown.out.contains(/2\.0\.0 +\w{12} +pending +- +aaaaaa…aaaa/), "\(shown.out)")
        #expect(await daemon.run("users explain \(Self.user) --json").out.contains(tokens[0]))
        let nobody = await daemon.run(["users", "explain", "+86 \(Self.user)"])
        #expect(
            nobody.out
                == """
                nothing is known of +86 \(Self.user)
                looked for character by character, as apps compare it: 15 characters, 2 of them no digits (PLUS SIGN at 1, SPACE at 4)
                known instead: \(Self.user)

                """, "\(nobody)")
    }

    @Test func `Each app and platform has its sentence, which names the app where there are several`() async {
        func item(_ app: String, _ sentence: String) -> String {
            #"{"app":"\#(app)","platform":"ios","sentence":"\#(sentence)"}"#
        }
        func shown(_ items: String...) async -> String {
            let answer = #"{"summary":[\#(items.joined(separator: ","))],"telephone":"138","known":true,"apps":[]}"#
            let transcript = Transcript()
            let transport = ScriptedTransport(["GET /v1/users?telephone=138": (200, answer)])
            #expect(await transcript.run(["users", "explain", "138"], transport) == .done)
            return transcript.out
        }
        #expect(await shown(item("a", "One."), item("a", "Two.")) == "One.\nTwo.\n\n138\n")
        #expect(await shown(item("a", "One."), item("b", "Two.")) == "a: One.\nb: Two.\n\n138\n")
        #expect(await shown() == "138\n", "a daemon of an older release sends no sentence")
    }

    @Test func `A number that is known in another spelling is named by each command`() async throws {
        _ = try await daemon.register()
        let miss = "+86\(Self.user)"
        for command in [
            "users explain", "devices show --telephone", "devices remove --yes --telephone",
            "devices export --telephone",
            "devices export --csv --telephone", "deliveries --telephone", "deliveries --csv --telephone",
            "test-push \(RealDaemon.app) ios --telephone",
        ] {
            let result = await daemon.run("\(command) \(miss)")
            #expect((result.out + result.err).contains(/known (as|instead:) 13800138000\b/), "\(command): \(result)")
        }
    }

    @Test(arguments: [("y", true), ("", false)])
    func `Erasure shows the devices and wants a yes`(word: String, isYes: Bool) async {
        let item = #"{"app":"a","platform":"ios","token":"ff","telephone":"138","registeredAt":"x"}"#
        let transport = ScriptedTransport([
            "GET /v1/devices?telephone=138&limit=1000": (200, "{\"items\":[\(item)],\"next\":\"n\"}"),
            "DELETE /v1/users?telephone=138": (
                200, #"{"devices":2,"deliveries":1,"sentence":"the user, 2 devices: forgotten."}"#
            ),
        ])
        let transcript = Transcript(typed: { word })
        let code = await transcript.run(["devices", "remove", "--telephone", "138"], transport)
        #expect(
            transcript.err.contains("a    ios       ff     -        x\nand more\n\nPushes stay"), "\(transcript.err)")
        #expect(transcript.err.contains(" at the next login.\nForget this user? [y/N] "), "\(transcript.err)")
        #expect(code == (isYes ? .done : .failed))
        #expect(transcript.out == (isYes ? "the user, 2 devices: forgotten.\n" : ""))
        #expect(transport.requests.map(\.method) == (isYes ? ["GET", "DELETE"] : ["GET"]))
    }

    @Test func `A deprecated option works as before, and names its replacement`() async throws {
        _ = try await daemon.register()
        let set = await daemon.run("version set \(RealDaemon.app) ios --required 1.5.0 --telephone \(Self.user)")
        #expect(set.code == .done, "\(set)")
        #expect(set.err.contains("note: --telephone is deprecated, and a later release refuses it: write --canary\n"))
        #expect(await daemon.run("version show \(RealDaemon.app)").out.contains("1 phone number"))
        let plan = await daemon.run("plan \(RealDaemon.app) ios --required 1.6.0 --canary \(Self.user)")
        #expect(!plan.err.contains("deprecated"), "\(plan)")
    }

    @Test func `A canary is announced, shown and released`() async throws {
        _ = try await daemon.register()
        let app = RealDaemon.app
        let set = await daemon.run("version set \(app) ios --required 1.5.0 --canary \(Self.user) --canary 13800138009")
        let id = try #require(set.out.firstMatch(of: /campaign (\w+) started/)?.output.1, "\(set)")
        let before = await daemon.run("campaigns show \(id)").out
        #expect(before.contains(/canary +2 phone numbers, and no other user yet\n/), "\(before)")
        let json = await daemon.run("campaigns show \(id) --json").out
        #expect(
            json.contains(#""canary":{"phase":"alone","telephones":2,"endedAt":null,"releasedAt":null}"#), "\(json)")
        #expect(await daemon.run("version show \(app)").out.contains("2 phone numbers"))
        let released = await daemon.run("campaigns approve \(id) --yes")
        #expect(released.code == .done, "\(released.err)")
        #expect(await !daemon.run("version show \(app)").out.contains("phone number"), "the canary is over")
        let after = await daemon.run("campaigns show \(id)").out
        #expect(after.contains(/canary +2 phone numbers first, everybody since \d{4}-\S+Z\n/), "\(after)")
        #expect(await daemon.run("campaigns approve \(id) --yes").code == .failed)
        _ = await daemon.run("version set \(app) ios --required 2.0.0")
        #expect(await daemon.run("campaigns show latest --json").out.contains(#""canary":null"#))
        #expect(await daemon.run("campaigns show latest").out.contains("canary") == false)
    }

    @Test(arguments: [(["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": "1"], false), ([:], false)])
    func `A campaign's states have colours on a terminal`(environment: [String: String], hasColour: Bool) async {
        let campaign = #"{"id":"0123456789ab","state":"cancelled","counts":{"audience":3,"accepted":1,"rejected":2}}"#
        let transport = ScriptedTransport(["GET /v1/campaigns/0123456789ab": (200, campaign)])
        let transcript = Transcript(isOutputTerminal: true)
        let code = await ConnectionOptions.$transport.withValue(transport) {
            await transcript.run(
                ["campaigns", "show", "0123456789ab"], of: CommandTree(commands: CommandTree.client),
                environment: environment)
        }
        #expect(code == .done)
        #expect(transcript.out.contains("\u{1B}[31mcancelled\u{1B}[0m\n") == hasColour, "\(transcript.out)")
        #expect(transcript.out.contains("\u{1B}[32maccepted\u{1B}[0m") == hasColour)
        #expect(transcript.out.contains("\u{1B}[31mrejected\u{1B}[0m") == hasColour)
        #expect(transcript.out.contains("\u{1B}") == hasColour)
    }
}
