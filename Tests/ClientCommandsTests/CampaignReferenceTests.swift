// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct CampaignReferenceTests {
    private static func campaign(_ id: String) -> String {
        #"{"id":"\#(id)","app":"a","platform":"ios","required":"2.0.0","state":"running"}"#
    }

    /// Two pages, the newest first.
    private static let list: [String: (Int, String)] = [
        "GET /v1/campaigns?limit=1000": (
            200, #"{"items":[\#(campaign("1f0c2ab93d44")),\#(campaign("1f0d00000000"))],"next":"c"}"#
        ),
        "GET /v1/campaigns?limit=1000&cursor=c": (200, #"{"items":[\#(campaign("aa0000000000"))],"next":null}"#),
    ]

    @Test(arguments: [
        (["campaigns", "pause", "latest"], "POST /v1/campaigns/1f0c2ab93d44/pause"),
        (["campaigns", "pause", "1f0c"], "POST /v1/campaigns/1f0c2ab93d44/pause"),
        (["campaigns", "show", "a"], "GET /v1/campaigns/aa0000000000"),
        (["campaigns", "cancel", "a", "--json"], "POST /v1/campaigns/aa0000000000/cancel"),
        (["campaigns", "adoption", "1f0d"], "GET /v1/campaigns/1f0d00000000/adoption"),
        (["deliveries", "--campaign", "aa"], "GET /v1/campaigns/aa0000000000/deliveries?limit=50"),
        (["notifications", "--campaign", "latest"], "GET /v1/notifications?limit=50&campaign=1f0c2ab93d44"),
    ])
    func `A few characters or "latest" name a campaign`(words: [String], request: String) async {
        let transport = ScriptedTransport(Self.list)
        _ = await Transcript().run(words, transport)
        #expect(transport.requests.last.map { "\($0.method) \($0.path)" } == request)
    }

    @Test func `Several that are meant are an error that lists them`() async {
        let transport = ScriptedTransport(Self.list)
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", "cancel", "1f0"], transport) == .failed)
        #expect(
            transcript.err == """
                error: "1f0" begins the ids of 2 campaigns:
                  1f0c2ab93d44  a    ios       2.0.0     running
                  1f0d00000000  a    ios       2.0.0     running
                hint: give more of the id

                """)
        #expect(transport.requests.allSatisfy { $0.method == "GET" })
    }

    @Test(arguments: [("1f0c2ab93d45", 1), ("xyz", 1), ("bb", 3)])
    func `What is none is the API's to refuse`(text: String, requests: Int) async {
        let transport = ScriptedTransport(Self.list)
        #expect(await Transcript().run(["campaigns", "show", text], transport) == .failed)
        #expect(transport.requests.count == requests)
        #expect(transport.requests.last?.path == "/v1/campaigns/\(text)")
    }

    @Test func `Where there is no campaign, none is the latest`() async {
        let transport = ScriptedTransport(["GET /v1/campaigns?limit=1000": (200, #"{"items":[],"next":null}"#)])
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", "show", "latest"], transport) == .failed)
        #expect(transcript.err == "error: there is no campaign yet\n")
    }

    @Test func `The list is filtered by the daemon`() async {
        let transport = ScriptedTransport([
            "GET /v1/campaigns?limit=50&app=a&state=running": (
                200, #"{"items":[\#(Self.campaign("1f0c2ab93d44"))],"next":null}"#
            )
        ])
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", "list", "--app", "a", "--state", "running"], transport) == .done)
        #expect(transcript.out.contains("1f0c2ab93d44"))
        #expect(await transcript.run(["campaigns", "list", "--state", "runing"], transport) == .usage)
        #expect(transcript.err.contains("did you mean \"running\"?"))
    }

    // MARK: What a shell proposes

    @Test(arguments: [
        (["campaigns", "list", "--state", "s"], ["suspended", "superseded"]),
        (["deliveries", "--state", "re"], ["retrying", "rejected"]),
        (["notifications", "--state", "d"], ["delivered", "dropped"]),
        (["tokens", "create", "--scope", "st"], ["status"]),
        (["version", "set", ""], ["a", "b"]), (["campaigns", "list", "--app", ""], ["a", "b"]),
        (["version", "set", "--re"], ["--required", "--required-build"]),
        (["campaigns", "show", "l"], ["latest"]), (["deliveries", "--campaign", "1f"], ["1f0c2ab93d44"]),
    ])
    func `States, scopes, apps and campaigns are proposed`(words: [String], proposals: [String]) async {
        let transport = ScriptedTransport([
            "GET /v1/campaigns?limit=50": (200, #"{"items":[\#(Self.campaign("1f0c2ab93d44"))],"next":null}"#),
            "GET /v1/apps": (
                200,
                #"{"items":[{"app":"a","platform":"ios"},{"app":"a","platform":"android"},{"app":"b","platform":"ios"}]}"#
            ),
        ])
        let transcript = Transcript()
        #expect(await transcript.run(["complete"] + words, transport) == .done)
        #expect(
            transcript.out.split(separator: "\n").map { String($0.prefix { $0 != "\t" && $0 != "\u{FFFD}" }) }
                == proposals)
    }

    @Test func `Nothing is proposed where no daemon answers`() async {
        let transcript = Transcript()
        #expect(await transcript.run(["complete", "campaigns", "show", ""], ScriptedTransport([:])) == .done)
        #expect(transcript.out.isEmpty)
    }

    // MARK: Who may not use the socket

    @Test func `Who is not root is told what they can do`() {
        #expect(SocketAccess.hint("/run/x", group: nil).contains("--url with --token"))
        let hint = SocketAccess.hint("/run/x", group: "relay-operators")
        #expect(hint.contains("usermod -aG relay-operators NAME"))
    }
}
