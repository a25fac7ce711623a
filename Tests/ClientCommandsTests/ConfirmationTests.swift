// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import RelayStore
import Requirements
import Testing

@testable import ClientCommands
@testable import RelayAPI
@testable import Terminal

/// An act that cannot be undone needs a person's yes, and is refused where no person can be asked.
@Suite struct ConfirmationTests {
    private static func plan(rises: Bool = true, needsConfirmation: Bool = false) -> (Int, String) {
        let doubts = needsConfirmation ? #"[{"reason":"implausible-rise","version":"20.0.0"}]"# : "[]"
        return (
            200,
            """
            {"app":"a","platform":"ios","audience":10,"toPush":9,"filteredBy":{"noTelephone":1},"required":"20.0.0",\
            "rises":\(rises),"largestKnown":"1.9.3","needsConfirmation":\(needsConfirmation),"doubts":\(doubts),"warnings":[],\
            "samplePayload":{},"samplePayloadSize":2}
            """
        )
    }
    private static let bumped = (
        202, #"{"version":{"required":"20.0.0"},"campaign":{"id":"1f0c2ab93d44"},"warnings":[]}"#
    )
    private static let set = ["version", "set", "a", "ios", "--required", "20.0.0"]

    private func run(
        _ words: [String], types: String?, _ answers: [String: (Int, String)]
    ) async -> (code: ExitCode, err: String, requests: [String]) {
        let transport = ScriptedTransport(answers)
        let typed: (@Sendable () -> String?)? = types == nil ? nil : { @Sendable in types }
        let transcript = Transcript(typed: typed)
        let code = await transcript.run(words, transport)
        let requests = transport.requests.map { request in
            let body = request.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return "\(request.method) \(request.path) \(body)"
        }
        return (code, transcript.err, requests)
    }

    /// The daemon's answer before a bump, and the facts of it that the bump sends back.
    private static let look = "GET /v1/apps/a/ios/version"
    private static let seen = (
        200, #"{"required":"1.9.0","shown":{"ifVersion":"1.9.0","ifState":"inForce","ifDevices":10},"releasable":null}"#
    )
    private static let carried = #""ifVersion":"1.9.0","ifDevices":10"#

    @Test(arguments: [("y", true), ("YES ", true), ("n", false), ("", false), ("yesterday", false)])
    func `A rise shows the plan and wants a yes`(word: String, isYes: Bool) async {
        let result = await run(
            Self.set, types: word,
            [
                Self.look: Self.seen, "POST /v1/apps/a/ios/plan": Self.plan(),
                "PUT /v1/apps/a/ios/version": Self.bumped,
            ])
        #expect(result.err.contains("would be pushed"))
        #expect(result.err.contains("highest version beyond doubt: 1.9.3\n"))
        #expect(result.err.contains("Require 20.0.0 of a ios and push it, 9 devices? [y/N] "))
        #expect(result.code == (isYes ? .done : .failed))
        #expect(result.requests.first == Self.look + " ", "it is read before the plan")
        #expect(result.requests.count == (isYes ? 3 : 2))
        #expect(result.err.contains("nothing was changed") == !isYes)
    }

    @Test func `Who says yes to a doubtful rise has confirmed it`() async {
        let result = await run(
            Self.set, types: "y",
            [
                Self.look: Self.seen, "POST /v1/apps/a/ios/plan": Self.plan(needsConfirmation: true),
                "PUT /v1/apps/a/ios/version": Self.bumped,
            ])
        #expect(result.err.contains("is it a typing error?"))
        #expect(
            result.requests.last
                == #"PUT /v1/apps/a/ios/version {"required":"20.0.0","#
                + #""confirm":[{"reason":"implausible-rise","version":"20.0.0"}],\#(Self.carried)}"#)
    }

    @Test func `What raises nothing is not asked about`() async {
        let result = await run(
            Self.set, types: "n",
            ["POST /v1/apps/a/ios/plan": Self.plan(rises: false), "PUT /v1/apps/a/ios/version": Self.bumped])
        #expect(result.code == .done)
        #expect(!result.err.contains("[y/N]"))
    }

    @Test func `A script is not asked, and confirms only with --yes what it names`() async {
        let answers = [Self.look: Self.seen, "PUT /v1/apps/a/ios/version": Self.bumped]
        let plain = await run(Self.set, types: nil, answers)
        #expect(plain.requests.last == #"PUT /v1/apps/a/ios/version {"required":"20.0.0",\#(Self.carried)}"#)
        let sure = await run(Self.set + ["--latest", "21", "--yes"], types: "n", answers)
        #expect(
            sure.requests.last
                == #"PUT /v1/apps/a/ios/version {"required":"20.0.0","latest":"21","confirm":[{"reason":"implausible-rise","#
                + #""version":"20.0.0"},{"reason":"implausible-rise","version":"21"}],\#(Self.carried)}"#)
        let block = await run(["version", "block", "a", "ios", "2.1.5", "--yes"], types: nil, answers)
        #expect(
            block.requests.last
                == #"PUT /v1/apps/a/ios/version {"blocked":["2.1.5"],"#
                + #""confirm":[{"reason":"nothing-above","version":"2.1.5"}],\#(Self.carried)}"#)
    }

    /// A token without the right to look may act: the act then carries no facts.
    @Test func `Who may not look acts by what is there`() async {
        let answers = [Self.look: (403, "{}"), "PUT /v1/apps/a/ios/version": Self.bumped]
        let plain = await run(Self.set, types: nil, answers)
        #expect(plain.code == .done && plain.requests.last == #"PUT /v1/apps/a/ios/version {"required":"20.0.0"}"#)
    }

    /// FAULTS 1.6: a second withdrawal took back the version that was required before, too.
    @Test func `Withdrawing wants a yes and sends the version that it showed`() async {
        let done = #"{"withdrawn":"20.0.0","version":{},"campaign":null}"#
        let (facts, deed) = ("GET /v1/apps/a/ios/version", "POST /v1/apps/a/ios/withdraw")
        let answers = [facts: (200, #"{"required":"20.0.0"}"#), deed: (200, done)]
        let words = ["version", "withdraw", "a", "ios"]
        let no = await run(words, types: "n", answers)
        #expect(no.code == .failed && no.requests == [facts + " "])
        #expect(no.err.contains("Withdraw 20.0.0 of a ios?"), "\(no.err)")
        let yes = await run(words, types: "y", answers)
        #expect(yes.code == .done && yes.requests == [facts + " ", deed + #" {"required":"20.0.0"}"#])
        let script = await run(words, types: nil, answers)
        #expect(script.code == .usage && script.requests == [facts + " "])
        let named = await run(words + ["--required", "19.0.0", "--yes"], types: nil, answers)
        #expect(named.requests == [facts + " ", deed + #" {"required":"19.0.0"}"#])
        let nothing = await run(words, types: "y", [facts: (200, #"{"required":null}"#)])
        #expect(nothing.code == .failed && nothing.err.contains("nothing is required of a ios"), "\(nothing.err)")
    }

    /// The acts that need a yes: the words, the requests before, the question, and the act's request.
    private static let deeds: [(words: [String], facts: [String], question: String, deed: String)] = [
        (
            ["campaigns", "approve", "1f0c2ab93d44"], ["GET /v1/campaigns/1f0c2ab93d44 "],
            "Approve campaign 1f0c2ab93d44, 10 devices? [y/N] ",
            #"POST /v1/campaigns/1f0c2ab93d44/approve {"ifVersion":"2.0.0","ifState":"suspended","ifWave":2,"ifDevices":10}"#
        ),
        (
            ["campaigns", "resume", "1f0c2ab93d44"], ["GET /v1/campaigns/1f0c2ab93d44 "],
            "Approve campaign 1f0c2ab93d44, 10 devices? [y/N] ",
            #"POST /v1/campaigns/1f0c2ab93d44/resume {"ifVersion":"2.0.0","ifState":"suspended","ifWave":2,"ifDevices":10}"#
        ),
        (
            ["campaigns", "cancel", "1f0c2ab93d44"], ["GET /v1/campaigns/1f0c2ab93d44 "],
            "Cancel campaign 1f0c2ab93d44, 10 devices? [y/N] ",
            #"POST /v1/campaigns/1f0c2ab93d44/cancel {"ifVersion":"2.0.0","ifState":"suspended","ifWave":2,"ifDevices":10}"#
        ),
        (
            ["version", "release", "a", "ios"], ["GET /v1/apps/a/ios/version "],
            "Release 20.0.0 of a ios, 10 devices? [y/N] ",
            #"POST /v1/apps/a/ios/release {"ifVersion":"20.0.0","ifState":"waiting","ifDevices":10}"#
        ),
        (
            ["version", "withdraw", "a", "ios"], ["GET /v1/apps/a/ios/version "],
            "Withdraw 20.0.0 of a ios, 10 devices? [y/N] ",
            #"POST /v1/apps/a/ios/withdraw {"required":"20.0.0","ifVersion":"20.0.0","ifState":"waiting","ifDevices":10}"#
        ),
        (
            ["version", "unblock", "a", "ios", "2.1.5"], ["GET /v1/apps/a/ios/version "],
            "Let 2.1.5 of a ios be used again, 10 devices? [y/N] ",
            #"POST /v1/apps/a/ios/withdraw {"blocked":["2.1.5"],"ifDevices":10,"ifState":"inForce"}"#
        ),
        (
            ["notice", "set", "a", "ios", "--message", "Back soon.", "--blocking", "--until", "2026-01-31T18:00:00Z"],
            ["GET /v1/apps/a/ios/notice "], "Lock a ios for all its users? [y/N] ",
            #"PUT /v1/apps/a/ios/notice {"message":"Back soon.","blocking":true,"endsAt":"2026-01-31T18:00:00.000Z","ifText":"Old "}"#
        ),
        (
            ["devices", "remove", "ab", "--app", "a", "--platform", "ios"], ["GET /v1/apps/a/ios/devices/ab "],
            "Forget this device? [y/N] ", "DELETE /v1/apps/a/ios/devices/ab?ifText=138%20 "
        ),
        (
            ["devices", "remove", "--telephone", "138 "], ["GET /v1/devices?telephone=138%20&limit=1000 "],
            "Forget this user? [y/N] ", "DELETE /v1/users?telephone=138%20&ifDevices=1 "
        ),
        (
            ["tokens", "revoke", "ci"], ["GET /v1/tokens "], "Revoke the token ci? [y/N] ",
            "DELETE /v1/tokens/ci?ifState=active "
        ),
    ]
    private static let facts: [String: (Int, String)] = [
        "GET /v1/campaigns/1f0c2ab93d44": (
            200,
            #"{"id":"1f0c2ab93d44","state":"suspended","counts":{"audience":10},"wave":{"number":1,"of":3,"endedAt":"2026-01-31T18:00:00Z"},"#
                + #""shown":{"ifVersion":"2.0.0","ifState":"suspended","ifWave":2,"ifRound":1,"ifDevices":10},"#
                + #""effects":{"resume":["By resume."],"approve":["By approve."],"cancel":["By cancel.","It stays."]}}"#
        ),
        "GET /v1/apps/a/ios/version": (
            200,
            #"{"required":"20.0.0","inForce":"1.9.0","blocks":[{"version":"2.1.5","state":"inForce"}],"#
                + #""shown":{"ifVersion":"20.0.0","ifState":"waiting","ifDevices":10},"#
                + #""releasable":{"ifVersion":"20.0.0","ifState":"waiting","ifDevices":10}}"#
        ),
        "GET /v1/tokens": (
            200,
            #"{"items":[{"name":"ci","scopes":["versions"],"apps":["a"]},{"name":"other","scopes":["status"]}]}"#
        ),
        "GET /v1/apps/a/ios/notice": (200, #"{"message":"Old "}"#),
        "GET /v1/apps/a/ios/devices/ab": (200, #"{"token":"ab","telephone":"138 "}"#),
        "GET /v1/devices?telephone=138%20&limit=1000": (
            200, #"{"items":[{"token":"ab","telephone":"138 "}],"next":null}"#
        ),
        "POST /v1/campaigns/1f0c2ab93d44/approve": (200, "{}"), "POST /v1/apps/a/ios/release": (200, "{}"),
        "POST /v1/campaigns/1f0c2ab93d44/cancel": (200, "{}"), "POST /v1/campaigns/1f0c2ab93d44/pause": (200, "{}"),
        "POST /v1/campaigns/1f0c2ab93d44/resume": (200, "{}"), "POST /v1/campaigns/1f0c2ab93d44/retry": (200, "{}"),
        "POST /v1/apps/a/ios/withdraw": (200, "{}"), "DELETE /v1/apps/a/ios/devices/ab?ifText=138%20": (204, ""),
        "DELETE /v1/users?telephone=138%20&ifDevices=1": (200, "{}"), "PUT /v1/apps/a/ios/version": (200, "{}"),
        "PUT /v1/apps/a/ios/notice": (200, "{}"), "DELETE /v1/apps/a/ios/notice?ifText=Old%20": (204, ""),
        "DELETE /v1/tokens/ci?ifState=active": (204, ""),
    ]

    /// FAULTS 2.9: release and `devices remove` acted where no person could be asked.
    @Test(arguments: deeds.indices)
    func `What cannot be taken back wants a yes, and is done as it was shown`(index: Int) async {
        let (words, facts, question, deed) = Self.deeds[index]
        let no = await run(words, types: "n", Self.facts)
        #expect(no.code == .failed && no.requests == facts)
        #expect(no.err.contains(question) && no.err.contains("nothing was changed"), "\(no.err)")
        #expect(!no.err.contains("other"))
        // The question about a campaign has the effect of this act, and of no other.
        let effect = words[0] == "campaigns" ? words[1] == "resume" ? "approve" : words[1] : "nothing"
        for verb in ["resume", "approve", "cancel"] {
            #expect(no.err.contains("\nBy \(verb).\n") == (verb == effect), "\(no.err)")
        }
        let yes = await run(words, types: "y", Self.facts)
        #expect(yes.code == .done && yes.requests == facts + [deed], "\(yes.requests)")
        let script = await run(words, types: nil, Self.facts)
        #expect(script.code == .usage && script.requests == facts)
        #expect(script.err.contains("nothing was changed") && script.err.contains("--yes"), "\(script.err)")
        let sure = await run(words + ["--yes"], types: "n", Self.facts)
        #expect(sure.code == .done && sure.requests == facts + [deed])
    }

    /// Between waves it is one of the acts above.
    @Test(arguments: ["n", nil])
    func `Resuming what no wave waits for asks nothing`(types: String?) async {
        var paused = Self.facts
        paused["GET /v1/campaigns/1f0c2ab93d44"] = (
            200, #"{"id":"1f0c2ab93d44","state":"paused","counts":{},"shown":{"ifState":"paused"}}"#
        )
        let plain = await run(["campaigns", "resume", "1f0c2ab93d44"], types: types, paused)
        #expect(plain.code == .done && !plain.err.contains("[y/N]"), "\(plain.err)")
        #expect(plain.requests.last == #"POST /v1/campaigns/1f0c2ab93d44/resume {"ifState":"paused"}"#)
    }

    /// By the table of the commands' requests in COSTS.md, which another test compares with the commands.
    @Test func `Each command whose route is an act sends all that it was shown`() async throws {
        let examples: [String: [String]] = [
            "version set": Self.set, "version block": ["version", "block", "a", "ios", "2.1.5"],
            "notice clear": ["notice", "clear", "a", "ios"],
            "campaigns pause": ["campaigns", "pause", "1f0c2ab93d44"],
            "campaigns retry": ["campaigns", "retry", "1f0c2ab93d44"],
        ]
        let acts = Dictionary(
            uniqueKeysWithValues: Route.all.compactMap { route in route.act.map { (route.pattern, $0) } })
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Tests/RelayAPITests/COSTS.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").drop { $0 != "| command | asks for | beside that |" }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }.map {
                $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
        #expect(rows.count > 30)
        for row in rows {
            for asked in row[1].components(separatedBy: ", ") {
                guard let act = acts[asked] else { continue }
                let deeds =
                    Self.deeds.map(\.words) + examples.values.filter { $0.prefix(2).joined(separator: " ") == row[0] }
                let words = deeds.filter { $0.prefix(2).joined(separator: " ") == row[0] }
                #expect(!words.isEmpty, "\(row[0]) has no example here")
                let facts = (row[0] == "version unblock" ? ActKind.unblock : act).facts
                var isCarried = false
                for words in words {
                    let takesYes = CommandSpec.named(row[0]).options.contains { $0.name == "yes" }
                    let result = await run(words + (takesYes ? ["--yes"] : []), types: nil, Self.facts)
                    let last = result.requests.last ?? ""
                    guard last.hasPrefix(asked.prefix { $0 != " " } + " ") else { continue }
                    if facts.allSatisfy({ last.contains($0.rawValue) }) { isCarried = true }
                }
                #expect(isCarried, "\(row[0]) does not carry \(facts) to \(asked)")
            }
        }
    }

    @Test func `A notice that blocks nobody is not asked about`() async {
        let words = ["notice", "set", "a", "ios", "--message", "Back soon."]
        let result = await run(words, types: "n", Self.facts)
        #expect(result.code == .done && result.requests.count == 2)
    }

    @Test func `Pruning wants a yes`() async {
        let deed = "POST /v1/store/prune"
        let answers = [
            "GET /v1/store": (200, #"{"path":"/var/lib/relay.db","size":1048576}"#), deed: (200, #"{"isDone":true}"#),
        ]
        let words = ["store", "prune", "--older-than", "90d"]
        let no = await run(words, types: "n", answers)
        #expect(no.code == .failed && no.requests == ["GET /v1/store "])
        #expect(no.err.contains("/var/lib/relay.db") && no.err.contains(" for good? [y/N] "), "\(no.err)")
        let yes = await run(words, types: "y", answers)
        #expect(yes.requests.count == 2 && yes.requests.last?.hasPrefix(deed) == true)
        let script = await run(words, types: nil, answers)
        #expect(script.code == .usage && script.requests.isEmpty)
        let sure = await run(words + ["--yes"], types: "n", answers)
        #expect(sure.requests.count == 1)
    }
}
