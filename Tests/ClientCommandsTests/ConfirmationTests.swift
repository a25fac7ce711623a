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
        #expect(result.err.contains("largest version known: 1.9.3\n"))
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
}
