// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Terminal
import Testing

@testable import ClientCommands

/// Commands that have another name now go on working under their former one, and say so.
@Suite struct FormerNameTests {
    private static let campaign = "1f0c2ab93d44"

    @Test(arguments: [
        ("alerts show a ios", "alerts", "notice"),
        ("campaigns release \(campaign) --yes", "campaigns release", "campaigns approve"),
    ])
    func `A former name works and says the new one`(line: String, former: String, now: String) async {
        let answers: [String: (Int, String)] = [
            "GET /v1/apps/a/ios/notice": (200, #"{"app":"a","platform":"ios","message":"Back soon."}"#),
            "GET /v1/campaigns/\(Self.campaign)": (200, #"{"id":"1f0c2ab93d44","state":"running","counts":{}}"#),
            "POST /v1/campaigns/\(Self.campaign)/approve": (200, #"{"state":"running"}"#),
        ]
        let words = line.split(separator: " ").map(String.init)
        let transcript = Transcript()
        #expect(await transcript.run(words, ScriptedTransport(answers)) == .done, "\(transcript.err)")
        #expect(transcript.err.contains("note: \"\(former)\" is another word for \"\(now)\"\n"), "\(transcript.err)")
        let json = Transcript()
        #expect(await json.run(words + ["--json"], ScriptedTransport(answers)) == .done)
        #expect(!json.err.contains("note:"))
        let today = line.replacing(former, with: now).split(separator: " ").map(String.init)
        let other = Transcript()
        #expect(await other.run(today, ScriptedTransport(answers)) == .done)
        #expect(other.out == transcript.out && !other.err.contains("note:"))
    }
}
