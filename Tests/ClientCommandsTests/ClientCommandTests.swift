// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct ClientCommandTests {
    private func run(
        _ words: [String], _ transport: ScriptedTransport
    ) async -> (code: ExitCode, out: String, err: String) {
        let transcript = Transcript()
        let code = await transcript.run(words, transport)
        return (code, transcript.out, transcript.err)
    }

    private static func campaign(_ state: String, accepted: Int) -> String {
        """
        {"id":"1f0c2ab93d44","app":"a","platform":"ios","required":"2.0.0","state":"\(state)","reason":null,\
        "createdAt":"2026-11-20T00:00:00Z","counts":{"audience":10,"pending":\(9 - accepted),"inFlight":0,\
        "accepted":\(accepted),"retrying":0,"rejected":0,"unregistered":0,"expired":0,"filtered":1,"cancelled":0},\
        "filteredBy":{"noTelephone":1,"alreadyCurrent":0},"rejectedBy":{},"upgraded":0,"ratePerSecond":5,"secondsLeft":1}
        """
    }

    @Test func `A bump tells what it started`() async {
        let answer = #"{"version":{"required":"2.0.0","latest":"2.0.0"},"campaign":{"id":"1f0c2ab93d44"}}"#
        let transport = ScriptedTransport(["PUT /v1/apps/a/ios/version": (202, answer)])
        let result = await run(
            ["version", "set", "a", "ios", "--required", "2.0.0", "--download-url", "https://x.y"], transport)
        #expect(result.code == .done)
        #expect(result.out.contains("required 2.0.0, latest 2.0.0"))
        #expect(result.out.contains("campaign 1f0c2ab93d44 started"))
        let body = transport.requests.first { $0.method == "PUT" }?.body.map { String(decoding: $0, as: UTF8.self) }
        #expect(body == #"{"required":"2.0.0","downloadUrl":"https://x.y"}"#)
    }

    /// FAULTS 4: "did not rise, or the app has no push service".
    @Test(arguments: [
        (200, "nothing is pushed: the required version did not rise\n"),
        (
            202,
            "nothing is pushed: the app has no push service in the configuration (apns, fcm); the other channels say it\n"
        ),
    ])
    func `A bump without a campaign says why it has none`(status: Int, words: String) async {
        let answer = #"{"version":{"required":"2.0.0","latest":"2.0.0"},"campaign":null,"warnings":[]}"#
        let transport = ScriptedTransport(["PUT /v1/apps/a/ios/version": (status, answer)])
        let result = await run(["version", "set", "a", "ios", "--required", "2.0.0"], transport)
        #expect(result.out == "a ios: required 2.0.0, latest 2.0.0\n" + words)
    }

    /// FAULTS 4: "download URL -" where the configuration has one.
    @Test func `Where the bump brought no download URL the configuration's holds`() async {
        let transport = ScriptedTransport(["GET /v1/apps/a/ios/version": (200, #"{"required":"2.0.0"}"#)])
        let result = await run(["version", "show", "a"], transport)
        #expect(result.out.contains("download URL  as the configuration says\n"), "\(result.out)")
    }

    /// A new user writes APP PLATFORM as for every other command of a version.
    @Test func `The versions of one platform are shown alone`() async {
        let transport = ScriptedTransport([
            "GET /v1/apps/a/ios/version": (200, #"{"required":"2.0.0"}"#),
            "GET /v1/apps/a/android/version": (200, #"{"required":"3.0.0"}"#),
        ])
        let both = await run(["version", "show", "a"], transport)
        #expect(both.out.contains("2.0.0") && both.out.contains("3.0.0"), "\(both.out)")
        let one = await run(["version", "show", "a", "Android"], transport)
        #expect(!one.out.contains("2.0.0") && one.out.contains("3.0.0"), "\(one.out)")
        let wrong = await run(["version", "show", "a", "windows"], transport)
        #expect(wrong.code == .usage)
        #expect(wrong.err.hasPrefix("error: \"windows\" is not a platform; ios or android\n"), "\(wrong.err)")
        let missing = await run(["version", "show", "b", "ios"], ScriptedTransport([:]))
        #expect(missing.err.hasPrefix("error: no app \"b\" for ios\n"), "\(missing.err)")
    }

    @Test func `A device is shown with all that the registry knows of it`() async {
        let device = """
            {"app":"a","platform":"ios","token":"80012ab4","telephone":"13800138000","version":"1.9.0",\
            "environment":"production","osVersion":"17.4","country":"DE","provider":"fcm",\
            "registeredAt":"2026-01-31T09:05:07.250Z","retiredAt":null}
            """
        let transport = ScriptedTransport(["GET /v1/apps/a/ios/devices/80012ab4": (200, device)])
        let result = await run(["devices", "show", "80012ab4", "--app", "a", "--platform", "ios"], transport)
        #expect(
            result.out == """
                token         80012ab4
                app           a ios
                phone number  13800138000
                version       1.9.0
                system        17.4
                country       DE
                provider      fcm
                environment   production
                registered    2026-01-31T09:05:07.250Z

                """)
    }

    /// FAULTS 4: a line feed was shown as U+FFFD.
    @Test func `The faults of a reload stand on lines of their own`() async {
        let detail = #"not reloaded: error: the configuration c is invalid: 2 errors\n  a: bad\n  b: worse\nforged"#
        let problem = #"{"title":"Unprocessable","detail":"\#(detail)"}"#
        let transport = ScriptedTransport(["POST /v1/reload": (422, problem)])
        let result = await run(["reload"], transport)
        #expect(
            result.err == """
                error: Unprocessable: not reloaded: error: the configuration c is invalid: 2 errors
                  a: bad
                  b: worse
                  forged

                """)
    }

    @Test func `A fault of the store may have several lines`() async {
        let lines = #"{"faults":[{"check":"pages","detail":"*** in main ***\nTree 5: wrong"}],"isDone":true}"#
        let transport = ScriptedTransport(["GET /v1/store/check": (200, lines)])
        let result = await run(["store", "check"], transport)
        #expect(result.out == "pages: *** in main ***\n  Tree 5: wrong\n")
    }

    @Test func `The bound of --limit is said`() async {
        let result = await run(["campaigns", "list", "--help"], ScriptedTransport([:]))
        #expect(result.out.contains("entries at most, from 1 to 1000 (default: 50)"), "\(result.out)")
    }

    // MARK: Narrow screens

    private static let list = """
        {"items":[{"id":"17e3e1978cae","app":"com.example.shopping","platform":"android","required":"2.10.0",\
        "state":"superseded","createdAt":"2026-11-22T07:18:55.897Z","counts":{"audience":197564,"pending":7564,\
        "accepted":190000}}],"next":null}
        """

    /// FAULTS 4: 107 columns on a terminal of 80, and the time cut to "2026-11-22T…".
    @Test(arguments: [
        (
            80,
            """
            ID            APP          PLATFORM  REQUIRED  STATE       SETTLED  CREATED
            17e3e1978cae  com.exampl…  android   2.10.0    superseded      96%  11-22 07:18Z
            (no room for AUDIENCE, ACCEPTED)

            """
        ),
        (
            110,
            """
            ID            APP                   PLATFORM  REQUIRED  STATE       AUDIENCE  SETTLED  ACCEPTED  CREATED
            17e3e1978cae  com.example.shopping  android   2.10.0    superseded   197,564      96%   190,000  11-22 07:18Z

            """
        ),
    ])
    func `The list of campaigns fits the terminal`(width: Int, text: String) async throws {
        let transport = ScriptedTransport(["GET /v1/campaigns?limit=50": (200, Self.list)])
        let transcript = Transcript(columns: width)
        let code = await ConnectionOptions.$transport.withValue(transport) {
            await transcript.run(
                ["campaigns", "list"], of: CommandTree(commands: CommandTree.client), environment: ["TERM": "vt100"])
        }
        #expect(code == .done)
        #expect(transcript.out.replacing(/\u{1B}\[\d*m/, with: "") == text)
    }

    @Test func `A refusal is told with its fields`() async {
        let problem = """
            {"type":"about:blank","title":"Unprocessable","detail":"2 fields","errors":[{"field":"required","reason":"bad"},\
            {"field":"latest","reason":"worse"}]}
            """
        let transport = ScriptedTransport(["PUT /v1/apps/a/ios/version": (422, problem)])
        let result = await run(["version", "set", "a", "ios", "--required", "2"], transport)
        #expect(result.code == .failed)
        #expect(result.err == "error: Unprocessable: 2 fields\n  required: bad\n  latest: worse\n")
    }

    @Test(arguments: [
        (["required: bad"], "Unprocessable: required: bad"),
        (["required: bad", "latest: worse"], "Unprocessable\n  required: bad\n  latest: worse"),
    ])
    func `What the detail says is not said again`(faults: [String], message: String) {
        let errors = faults.map { fault in
            let parts = fault.components(separatedBy: ": ")
            return #"{"field":"\#(parts[0])","reason":"\#(parts[1])"}"#
        }
        let body =
            #"{"title":"Unprocessable","detail":"\#(faults.joined(separator: "; "))","errors":[\#(errors.joined(separator: ","))]}"#
        #expect(Problem(APIAnswer(status: 422, body: Array(body.utf8))).message == message)
    }

    @Test func `With --json the API's own words are printed`() async {
        let transport = ScriptedTransport(["GET /v1/campaigns?limit=50": (200, #"{"items":[],"next":null}"#)])
        let result = await run(["campaigns", "list", "--json"], transport)
        #expect(result.out == "{\"items\":[],\"next\":null}\n")
    }

    @Test func `Watching follows the events to the end`() async {
        let events = """
            event: campaign
            data: \(Self.campaign("running", accepted: 4))

            :

            event: campaign
            data: \(Self.campaign("completed", accepted: 9))


            """
        let transport = ScriptedTransport(["GET /v1/campaigns/1f0c2ab93d44/events": (200, events)])
        let result = await run(["campaigns", "watch", "1f0c2ab93d44"], transport)
        #expect(result.code == .done)
        #expect(result.err.contains("50%  5/10"))
        #expect(result.err.contains("100%  10/10"))
        #expect(result.out.contains("state         completed"))
        #expect(result.out.contains("  noTelephone      1    10%"))
        #expect(transport.requests.count == 1)
    }

    @Test func `Watching a cancelled campaign ends with 1`() async {
        let events = "data: \(Self.campaign("cancelled", accepted: 4))\n\n"
        let transport = ScriptedTransport(["GET /v1/campaigns/x/events": (200, events)])
        #expect(await run(["campaigns", "watch", "x", "--json"], transport).code == .failed)
    }

    @Test func `An import tells refused lines by their numbers in the file`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = "app,platform,token\na,ios,ff\nb,ios,fe\na,windows,fd\na,ios,zz\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let transport = ScriptedTransport([
            "POST /v1/apps/a/ios/devices": (
                200, #"{"stored":1,"new":1,"refusedCount":1,"refused":[{"line":2,"reason":"token: only hex digits"}]}"#
            ),
            "POST /v1/apps/b/ios/devices": (
                200, #"{"stored":1,"unchanged":1,"versionsKept":1200,"refusedCount":0,"refused":[]}"#
            ),
        ])
        let result = await run(["devices", "import", path], transport)
        #expect(result.code == .failed)
        #expect(
            result.out == "1 new, 0 updated, 1 unchanged, 2 refused; "
                + "1,200 older versions left out: the devices have reported newer ones since\n")
        #expect(result.err.contains("line 4: platform: \"windows\" is not a platform; ios or android\n"))
        #expect(result.err.contains("line 5: token: only hex digits\n"))
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [[], ["--json"]]) func `An import counts every refused line and tells a few`(
        options: [String]
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // More than one read of the file, more than one request's worth, and more than the API's own bound.
        let count = 25_000
        let text = "app,platform,token\n" + String(repeating: "a,windows,ff\n", count: count)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let result = await run(["devices", "import", path] + options, ScriptedTransport([:]))
        #expect(result.code == .failed)
        if options.isEmpty {
            let told = result.err.split(separator: "\n").filter { $0.hasPrefix("line ") }
            #expect(told.count == 20)
            #expect(told.last?.hasPrefix("line 21: platform: ") == true)
            #expect(
                result.out
                    == "0 new, 0 updated, 0 unchanged, 25,000 refused\n  25,000  platform: … is not a platform\n")
        } else {
            #expect(result.out.components(separatedBy: #""line":"#).count - 1 == 20)
            #expect(result.out.contains("\"refusedCount\":\(count),"))
            #expect(result.out.contains("\"refusedBy\":{\"platform: … is not a platform\":\(count)}"))
        }
    }

    @Test func `An unknown app keeps no other app's devices out`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString).ndjson")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text =
            "{\"app\":\"gone\",\"platform\":\"ios\",\"token\":\"ff\"}\n{\"app\":\"a\",\"platform\":\"ios\",\"token\":\"fe\"}\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let transport = ScriptedTransport([
            "POST /v1/apps/a/ios/devices": (200, #"{"stored":1,"updated":1,"refusedCount":0,"refused":[]}"#)
        ])
        let result = await run(["devices", "import", path, "--json"], transport)
        #expect(result.code == .failed)
        #expect(
            result.out
                == "{\"stored\":1,\"new\":0,\"updated\":1,\"unchanged\":0,\"versionsKept\":0,\"refusedCount\":1,"
                + "\"refusedBy\":{\"Not Found: nothing here\":1},"
                + "\"refused\":[{\"line\":1,\"reason\":\"Not Found: nothing here\"}],\"warnings\":[],\"dryRun\":false}\n"
        )
    }

    @Test func `An export is CSV that an import reads`() async {
        let transport = ScriptedTransport([
            "GET /v1/apps": (200, #"{"items":[{"app":"a","platform":"ios"}],"next":null}"#),
            "GET /v1/apps/a/ios/devices": (
                200,
                """
                app,platform,token,telephone,version,environment,registeredAt,deadSince,seenAt
                a,ios,ff,"1,2",,sandbox,2026-01-31T09:05:07.250Z,,

                """
            ),
        ])
        let result = await run(["devices", "export", "--csv"], transport)
        #expect(
            result.out == "app,platform,token,telephone,version,environment,registeredAt,deadSince,seenAt\n"
                + "a,ios,ff,\"1,2\",,sandbox,2026-01-31T09:05:07.250Z,,\n")
        #expect(transport.requests.last?.accept == "text/csv")
    }

    @Test func `A token that two apps have must be told apart`() async {
        let device = #"{"token":"ff","telephone":"1","version":"1.0","environment":"production"}"#
        let transport = ScriptedTransport([
            "GET /v1/apps": (
                200, #"{"items":[{"app":"a","platform":"ios"},{"app":"b","platform":"ios"}],"next":null}"#
            ),
            "GET /v1/apps/a/ios/devices/ff": (200, device), "GET /v1/apps/b/ios/devices/ff": (200, device),
            "DELETE /v1/apps/b/ios/devices/ff?ifText=1": (204, ""),
        ])
        let ambiguous = await run(["devices", "remove", "ff"], transport)
        #expect(ambiguous.code == .failed)
        #expect(ambiguous.err.contains("several apps have this token: a ios, b ios"))
        let exact = await run(["devices", "remove", "ff", "--app", "b", "--platform", "ios", "--yes"], transport)
        #expect(exact.code == .done)
        #expect(transport.requests.last?.method == "DELETE")
    }

    @Test func `A token is asked for with each way of naming scopes`() async {
        for words in [
            ["--scope", "status", "devices"], ["--scope", "status", "--scope", "devices"],
            ["--scope", "status,devices"],
        ] {
            let transport = ScriptedTransport(["POST /v1/tokens": (201, #"{"name":"n","scopes":[],"token":"urt_x"}"#)])
            let result = await run(["tokens", "create", "--name", "n"] + words, transport)
            #expect(result.out == "urt_x\n")
            let body = transport.requests.first?.body.map { String(decoding: $0, as: UTF8.self) }
            #expect(body == #"{"name":"n","scopes":["status","devices"]}"#)
        }
    }

    @Test(arguments: [("a b/c?ü", "/v1/a%20b%2Fc%3F%C3%BC"), ("com.example-app_1~", "/v1/com.example-app_1~")])
    func `Parts of a path are encoded`(part: String, path: String) {
        #expect(APIRequest("GET", ["v1", part]).path == path)
    }
}
