// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct CampaignReferenceTests {
    private static func campaign(_ id: String) -> String {
        #"{"id":"\#(id)","app":"a","platform":"ios","required":"2.0.0","state":"running"}"#
    }

    /// Two pages, the newest first; of one app.
    private static let list: [String: (Int, String)] = [
        "GET /v1/apps": (200, #"{"items":[{"app":"a","platform":"ios"}]}"#),
        "GET /v1/campaigns?limit=1000": (
            200, #"{"items":[\#(campaign("1f0c2ab93d44")),\#(campaign("1f0d00000000"))],"next":"c"}"#
        ),
        "GET /v1/campaigns?limit=1000&cursor=c": (200, #"{"items":[\#(campaign("aa0000000000"))],"next":null}"#),
    ]

    @Test(arguments: [
        (["campaigns", "pause", "latest"], "POST /v1/campaigns/1f0c2ab93d44/pause"),
        (["campaigns", "pause", "1f0c"], "POST /v1/campaigns/1f0c2ab93d44/pause"),
        (["campaigns", "show", "a"], "GET /v1/campaigns/aa0000000000"),
        (["campaigns", "cancel", "a", "--json", "--yes"], "POST /v1/campaigns/aa0000000000/cancel"),
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

    // MARK: Several apps

    private static func campaign(
        _ id: String, _ app: String, _ platform: String, _ required: String = "2.0.0", state: String = "running"
    ) -> String {
        #"{"id":"\#(id)","app":"\#(app)","platform":"\#(platform)","required":"\#(required)","state":"\#(state)"}"#
    }

    private static let shared: [String: (Int, String)] = [
        "GET /v1/apps": (
            200,
            #"{"items":[{"app":"a","platform":"ios"},{"app":"a","platform":"android"},{"app":"b","platform":"ios"}]}"#
        ),
        "GET /v1/campaigns?limit=1000": (
            200,
            """
            {"items":[\(campaign("b00000000001", "b", "ios")),\(campaign("a00000000002", "a", "android")),\
            \(campaign("a00000000001", "a", "ios"))],"next":null}
            """
        ),
        "GET /v1/campaigns?limit=1000&app=a": (
            200,
            """
            {"items":[\(campaign("a00000000002", "a", "android")),\(campaign("a00000000001", "a", "ios"))],"next":null}
            """
        ),
        "GET /v1/campaigns?limit=1000&app=b": (
            200, #"{"items":[\#(campaign("b00000000001", "b", "ios"))],"next":null}"#
        ),
        "GET /v1/campaigns?limit=1000&app=c": (200, #"{"items":[],"next":null}"#),
    ]

    /// FAULTS 3.2: `campaigns release latest` released another app's campaign.
    @Test(arguments: ["pause", "approve", "resume", "cancel", "retry"])
    func `Whose campaign is the latest has to be said where there are several apps`(verb: String) async {
        let transport = ScriptedTransport(Self.shared)
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", verb, "latest"], transport) == .failed)
        #expect(
            transcript.err == """
                error: "latest" of which app? The relay has several apps or platforms; the newest of each:
                  b00000000001  b    ios       2.0.0     running
                  a00000000002  a    android   2.0.0     running
                  a00000000001  a    ios       2.0.0     running
                hint: name one with --app and --platform, or give the campaign's id

                """)
        #expect(transport.requests.allSatisfy { $0.method == "GET" })
    }

    @Test(arguments: [
        (["--app", "b"], "b00000000001"), (["--app", "a", "--platform", "ios"], "a00000000001"),
        (["--platform", "android"], "a00000000002"),
    ])
    func `"latest" of one app is that app's`(options: [String], id: String) async {
        let transport = ScriptedTransport(Self.shared)
        _ = await Transcript().run(["campaigns", "approve", "latest", "--yes"] + options, transport)
        #expect(transport.requests.last.map { "\($0.method) \($0.path)" } == "POST /v1/campaigns/\(id)/approve")
        _ = await Transcript().run(["deliveries", "--campaign", "latest"] + options, transport)
        #expect(transport.requests.last?.path == "/v1/campaigns/\(id)/deliveries?limit=50")
    }

    @Test func `What is still not clear with an app is refused, and an app without campaigns has none`() async {
        let transcript = Transcript()
        let words = ["campaigns", "cancel", "latest", "--app"]
        var several = Self.shared
        several["GET /v1/campaigns?limit=1000&app=a"] = (
            200,
            """
            {"items":[\(Self.campaign("a00000000002", "a", "android", "2.1.0")),\
            \(Self.campaign("a00000000001", "a", "ios"))],"next":null}
            """
        )
        #expect(await transcript.run(words + ["a"], ScriptedTransport(several)) == .failed)
        #expect(transcript.err.contains("\"latest\" of which app?"))
        #expect(await transcript.run(words + ["c"], ScriptedTransport(Self.shared)) == .failed)
        #expect(transcript.err.hasSuffix("error: there is no campaign of c yet\n"), "\(transcript.err)")
    }

    // MARK: One release on both platforms

    /// The newest of app a require 2.1.0 on both platforms; 2.0.0 came before, superseded on Android.
    private static let releases: [String: (Int, String)] = {
        let items = [
            campaign("a00000000004", "a", "android", "2.1.0"), campaign("a00000000003", "a", "ios", "2.1.0"),
            campaign("a00000000002", "a", "android", state: "superseded"), campaign("a00000000001", "a", "ios"),
        ].joined(separator: ",")
        var answers: [String: (Int, String)] = [
            "GET /v1/apps": (200, #"{"items":[{"app":"a","platform":"ios"},{"app":"a","platform":"android"}]}"#),
            "GET /v1/campaigns?limit=1000": (200, #"{"items":[\#(items)],"next":null}"#),
            "GET /v1/campaigns?limit=1000&app=a": (200, #"{"items":[\#(items)],"next":null}"#),
        ]
        for number in 1...4 {
            answers["POST /v1/campaigns/a0000000000\(number)/pause"] = (
                200, campaign("a0000000000\(number)", "a", "ios", state: "paused")
            )
        }
        return answers
    }()

    @Test(arguments: [
        (["latest"], ["a00000000004", "a00000000003"]), (["2.1.0"], ["a00000000004", "a00000000003"]),
        (["2.1"], ["a00000000004", "a00000000003"]), (["2.0.0", "--app", "a"], ["a00000000001"]),
        (["2.0.0", "--platform", "ios"], ["a00000000001"]), (["latest", "--platform", "ios"], ["a00000000003"]),
    ])
    func `A release names its campaign on each platform`(words: [String], ids: [String]) async {
        let transport = ScriptedTransport(Self.releases)
        _ = await Transcript().run(["campaigns", "pause"] + words, transport)
        let posted = transport.requests.filter { $0.method == "POST" }.map(\.path)
        #expect(posted == ids.map { "/v1/campaigns/\($0)/pause" })
    }

    @Test func `A release that fails on one platform ends there, and what was done is named`() async {
        var answers = Self.releases
        answers["POST /v1/campaigns/a00000000003/pause"] = (
            409, #"{"title":"Conflict","status":409,"detail":"it is completed"}"#
        )
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", "pause", "latest"], ScriptedTransport(answers)) == .failed)
        #expect(transcript.out.hasPrefix("campaign a00000000004 is paused\n"), "\(transcript.out)")
        #expect(transcript.err.contains("it is completed; done before it: campaign a00000000004"), "\(transcript.err)")
    }

    @Test func `A release that several apps have, or none, is refused`() async {
        let transcript = Transcript()
        #expect(await transcript.run(["campaigns", "pause", "2.0.0"], ScriptedTransport(Self.shared)) == .failed)
        #expect(transcript.err.contains("\"2.0.0\" of which app?"), "\(transcript.err)")
        #expect(await transcript.run(["campaigns", "pause", "9.0.0"], ScriptedTransport(Self.releases)) == .failed)
        #expect(transcript.err.hasSuffix("error: there is no campaign of 9.0.0 yet\n"), "\(transcript.err)")
        // An option takes one campaign.
        let words = ["deliveries", "--campaign", "2.1.0"]
        #expect(await transcript.run(words, ScriptedTransport(Self.releases)) == .failed)
        #expect(transcript.err.contains("\"2.1.0\" of which app?"), "\(transcript.err)")
    }

    @Test func `Who only reads the latest is told whose it is`() async {
        let transport = ScriptedTransport(Self.shared)
        let transcript = Transcript()
        _ = await transcript.run(["campaigns", "show", "latest"], transport)
        #expect(transport.requests.last?.path == "/v1/campaigns/b00000000001")
        #expect(transcript.err.hasPrefix("latest is b00000000001, of b ios, required 2.0.0\n"), "\(transcript.err)")
    }

    @Test func `An id wants no app beside it`() async {
        let transcript = Transcript()
        let words = ["campaigns", "release", "b00000000001", "--app", "a"]
        #expect(await transcript.run(words, ScriptedTransport(Self.shared)) == .usage)
        #expect(
            transcript.err.contains(
                "--app goes with \"latest\" or a version alone: it names the app whose campaign is meant")
        )
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

    // MARK: Proposals for a shell

    @Test(arguments: [
        (["campaigns", "list", "--state", "s"], ["suspended", "superseded"]),
        (["deliveries", "--state", "re"], ["retrying", "rejected"]),
        (["notifications", "--state", "d"], ["delivered", "dropped"]),
        (["tokens", "create", "--scope", "st"], ["status"]),
        (["version", "set", ""], ["a", "b"]), (["campaigns", "list", "--app", ""], ["a", "b"]),
        (["version", "set", "--re"], ["--required", "--required-build", "--required-from"]),
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

    // MARK: Users without the right to the socket

    @Test func `Who is not root is told what they can do`() {
        #expect(SocketAccess.hint("/run/x", group: nil).contains("--url with --token"))
        let hint = SocketAccess.hint("/run/x", group: "relay-operators")
        #expect(hint.contains("usermod -aG relay-operators NAME"))
    }
}
