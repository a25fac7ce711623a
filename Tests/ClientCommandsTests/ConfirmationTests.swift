// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Terminal
import Testing

@testable import ClientCommands

/// What cannot be undone wants a yes from a person, and asks nobody who is not there.
@Suite struct ConfirmationTests {
    private static func plan(rises: Bool = true, needsConfirmation: Bool = false) -> (Int, String) {
        (
            200,
            """
            {"app":"a","platform":"ios","audience":10,"toPush":9,"filteredBy":{"noTelephone":1},"required":"20.0.0",\
            "rises":\(rises),"largestKnown":"1.9.3","needsConfirmation":\(needsConfirmation),"warnings":[],\
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

    @Test(arguments: [("y", true), ("YES ", true), ("n", false), ("", false), ("yesterday", false)])
    func `A rise shows the plan and wants a yes`(word: String, isYes: Bool) async {
        let result = await run(
            Self.set, types: word,
            ["POST /v1/apps/a/ios/plan": Self.plan(), "PUT /v1/apps/a/ios/version": Self.bumped])
        #expect(result.err.contains("would be pushed"))
        #expect(result.err.contains("highest version beyond doubt: 1.9.3\n"))
        #expect(result.err.contains("Require 20.0.0 of a ios and push it? [y/N] "))
        #expect(result.code == (isYes ? .done : .failed))
        #expect(result.requests.count == (isYes ? 2 : 1))
        #expect(result.err.contains("nothing was changed") == !isYes)
    }

    @Test func `Who says yes to a doubtful rise has confirmed it`() async {
        let result = await run(
            Self.set, types: "y",
            ["POST /v1/apps/a/ios/plan": Self.plan(needsConfirmation: true), "PUT /v1/apps/a/ios/version": Self.bumped])
        #expect(result.err.contains("is it a typing error?"))
        #expect(result.requests.last == #"PUT /v1/apps/a/ios/version {"required":"20.0.0","confirm":true}"#)
    }

    @Test func `What raises nothing is not asked about`() async {
        let result = await run(
            Self.set, types: "n",
            ["POST /v1/apps/a/ios/plan": Self.plan(rises: false), "PUT /v1/apps/a/ios/version": Self.bumped])
        #expect(result.code == .done)
        #expect(!result.err.contains("[y/N]"))
    }

    @Test func `A script is not asked, and confirms only with --yes`() async {
        let answers = ["PUT /v1/apps/a/ios/version": Self.bumped]
        let plain = await run(Self.set, types: nil, answers)
        #expect(plain.requests == [#"PUT /v1/apps/a/ios/version {"required":"20.0.0"}"#])
        let sure = await run(Self.set + ["--yes"], types: "n", answers)
        #expect(sure.requests == [#"PUT /v1/apps/a/ios/version {"required":"20.0.0","confirm":true}"#])
    }

    @Test func `Cancelling wants a yes`() async {
        let words = ["campaigns", "cancel", "1f0c2ab93d44"]
        let (facts, deed) = ("GET /v1/campaigns/1f0c2ab93d44", "POST /v1/campaigns/1f0c2ab93d44/cancel")
        let done = #"{"id":"1f0c","state":"cancelled","counts":{}}"#
        let answers = [facts: (200, "{}"), deed: (200, done)]
        let no = await run(words, types: "n", answers)
        #expect(no.code == .failed)
        #expect(no.requests == [facts + " "])
        let yes = await run(words, types: "y", answers)
        #expect(yes.code == .done)
        #expect(yes.requests == [facts + " ", deed + " "])
        let script = await run(words + ["--yes"], types: "n", answers)
        #expect(script.requests == [deed + " "])
    }

    /// FAULTS 1.6: the same twice took back what was required before, too.
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
        let named = await run(words + ["--required", "19.0.0", "--yes"], types: nil, answers)
        #expect(named.requests == [facts + " ", deed + #" {"required":"19.0.0"}"#])
        let nothing = await run(words, types: "y", [facts: (200, #"{"required":null}"#)])
        #expect(nothing.code == .failed && nothing.err.contains("nothing is required of a ios"), "\(nothing.err)")
    }

    /// What wants a yes: the words, what is asked before, the question, and the deed.
    private static let deeds: [(words: [String], facts: [String], question: String, deed: String)] = [
        (
            ["campaigns", "release", "1f0c2ab93d44"], ["GET /v1/campaigns/1f0c2ab93d44 "],
            "Release campaign 1f0c2ab93d44? [y/N] ", "POST /v1/campaigns/1f0c2ab93d44/release "
        ),
        (
            ["version", "release", "a", "ios"], ["GET /v1/apps/a/ios/version "],
            "Put it in force for everybody who uses a ios? [y/N] ", "POST /v1/apps/a/ios/release "
        ),
        (
            ["alerts", "set", "a", "ios", "--message", "Back soon.", "--blocking", "--until", "2026-01-31T18:00:00Z"],
            [], "Lock a ios for all its users? [y/N] ",
            #"PUT /v1/apps/a/ios/alert {"message":"Back soon.","blocking":true,"endsAt":"2026-01-31T18:00:00.000Z"}"#
        ),
        (
            ["tokens", "revoke", "ci"], ["GET /v1/tokens "], "Revoke the token ci? [y/N] ", "DELETE /v1/tokens/ci "
        ),
    ]
    private static let facts: [String: (Int, String)] = [
        "GET /v1/campaigns/1f0c2ab93d44": (200, #"{"id":"1f0c2ab93d44","state":"waiting","counts":{}}"#),
        "GET /v1/apps/a/ios/version": (200, #"{"required":"20.0.0","inForce":"1.9.0"}"#),
        "GET /v1/tokens": (
            200,
            #"{"items":[{"name":"ci","scopes":["versions"],"apps":["a"]},{"name":"other","scopes":["status"]}]}"#
        ),
        "POST /v1/campaigns/1f0c2ab93d44/release": (200, "{}"), "POST /v1/apps/a/ios/release": (200, "{}"),
        "PUT /v1/apps/a/ios/alert": (200, "{}"), "DELETE /v1/tokens/ci": (204, ""),
    ]

    /// FAULTS 3.2
    @Test(arguments: deeds.indices)
    func `What cannot be taken back wants a yes`(index: Int) async {
        let (words, facts, question, deed) = Self.deeds[index]
        let no = await run(words, types: "n", Self.facts)
        #expect(no.code == .failed && no.requests == facts)
        #expect(no.err.contains(question) && no.err.contains("nothing was changed"), "\(no.err)")
        #expect(!no.err.contains("other"))
        let yes = await run(words, types: "y", Self.facts)
        #expect(yes.code == .done && yes.requests == facts + [deed])
        let script = await run(words, types: nil, Self.facts)
        #expect(script.code == .done && script.requests == [deed])
        let sure = await run(words + ["--yes"], types: "n", Self.facts)
        #expect(sure.code == .done && sure.requests == [deed])
    }

    @Test func `An alert that blocks nobody is not asked about`() async {
        let words = ["alerts", "set", "a", "ios", "--message", "Back soon."]
        let result = await run(words, types: "n", Self.facts)
        #expect(result.code == .done && result.requests.count == 1)
    }

    @Test func `Pruning wants a yes`() async {
        let deed = "POST /v1/store/prune"
        let answers = [
            "GET /v1/store": (200, #"{"path":"/var/lib/relay.db","size":1048576}"#), deed: (200, #"{"isDone":true}"#),
        ]
        let words = ["store", "prune", "--older-than", "90d"]
        let no = await run(words, types: "n", answers)
        #expect(no.code == .failed && no.requests == ["GET /v1/store "])
        #expect(no.err.contains("/var/lib/relay.db") && no.err.contains("Delete it for good? [y/N] "), "\(no.err)")
        let yes = await run(words, types: "y", answers)
        #expect(yes.requests.count == 2 && yes.requests.last?.hasPrefix(deed) == true)
        let sure = await run(words + ["--yes"], types: "n", answers)
        #expect(sure.requests.count == 1)
    }
}
