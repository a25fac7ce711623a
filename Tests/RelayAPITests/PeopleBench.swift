// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StatusPage
import StoreConformance
import Testing
import UpgradeRules

@testable import RelayAPI

/// A server with the page, and a store whose users are recognised in any text that names one.
struct PeopleBench {
    /// As apps of some countries send them: beginning with a plus.
    static let user = "+8613800987654"
    static let canary = "13911223344"
    static let dead = "13777000111"
    static let erased = "13666000222"
    static let tokens = Dictionary(
        uniqueKeysWithValues: zip([user, canary, dead, erased], ["5eed0a", "ca9a4b", "deadcc", "e4a5ed"]).map {
            ($0, String(repeating: $1, count: 11).prefix(64).description)
        })

    /// A text with one of these names a user. A masked token shows less of it.
    static let needles =
        [user, canary, dead, erased].map { $0.filter { $0 != "+" } } + tokens.values.map { String($0.prefix(12)) }

    static func named(in text: String) -> Set<String> { Set(needles.filter(text.contains)) }

    let bench: Bench
    /// One that was sent to all users, and one that is for its canary alone.
    let campaigns: [String]

    init() throws {
        bench = try Bench(hasPage: true)
        let app = "/v1/apps/com.example.app/ios"
        for (telephone, token) in Self.tokens {
            let body = #"{"telephone":"\#(telephone)","version":"1.0"}"#
            guard try bench.ask("PUT", "\(app)/devices/\(token)", body).status == 201 else { throw Failure() }
        }
        let sent = try bench.campaign(required: "2.0")
        try bench.send(sent)
        var batch = RegistrationBatch(app: Bench.app)
        batch.append(
            DeviceChange(
                token: Self.tokens[Self.dead] ?? "", telephone: .set(Self.dead), deadSince: Bench.now + .seconds(1)))
        _ = try bench.store.register(batch, at: Bench.now + .seconds(60), isDryRun: false) { _ in }
        for path in ["\(app)/devices/\(Self.tokens[Self.erased] ?? "")", "/v1/users?telephone=\(Self.erased)"] {
            guard try bench.ask("DELETE", path).status < 300 else { throw Failure() }
        }
        let canary = try bench.ask(
            "PUT", "\(app)/version", #"{"required":"3.0","telephones":["\#(Self.canary)"]}"#)
        campaigns = [sent, canary.text("campaign", "id") ?? ""]
    }

    private struct Failure: Error {}

    // MARK: Questions

    /// One question to a route.
    struct Question: CustomStringConvertible {
        var method: String
        var path: String
        var body: String?

        var description: String { "\(method) \(path) \(body ?? "")" }
    }

    private static let examples: [String: [String]] = [
        "telephone": [user, canary, dead].map { $0.replacing("+", with: "%2B") }, "token": Array(tokens.values),
        "format": ["csv", "ndjson"], "dead": ["true", "false"], "since": ["2020-01-01T00:00:00Z"], "below": ["9"],
        "state": ["accepted", "waiting"], "reason": ["x"], "limit": ["2"], "app": ["com.example.app"],
        "platform": ["ios"], "version": ["1.0"], "os": ["17"], "lang": ["en"], "deny": ["403"], "after": ["x"],
        "environment": ["production"], "actor": ["t"], "action": ["device.remove"], "cursor": ["x"],
        "ifVersion": ["1.0"], "ifState": ["x"], "ifWave": ["1"], "ifRound": ["1"], "ifDevices": ["1"], "ifText": ["x"],
    ]
    /// Pages read more parameters than their routes list.
    private static let pageParameters = [
        "telephone", "token", "campaign", "state", "reason", "app", "platform", "below", "dead", "actor", "action",
        "version",
    ]
    /// Parameters that a question needs.
    private static let needed = [
        "GET /v1/check": "app=com.example.app&platform=ios&version=1.0&",
        "GET /v1/enforce": "app=com.example.app&platform=ios&version=1.0&",
    ]
    private static let bodies: [String: [String]] = [
        "PUT /v1/apps/{app}/{platform}/version": [#"{"latest":"3.1","confirm":true}"#, #"{"required":"2.0"}"#],
        "PUT /v1/apps/{app}/version": [#"{"latest":"3.2","confirm":true}"#, #"{"required":"2.0"}"#],
        "POST /v1/apps/{app}/{platform}/release": ["{}"],
        "POST /v1/apps/{app}/{platform}/withdraw": [#"{"required":"3.0"}"#],
        "POST /v1/apps/{app}/{platform}/plan": [#"{"required":"4.0","telephones":["15500001111"],"confirm":true}"#],
        "POST /v1/apps/{app}/{platform}/test-push": tokens.values.map { #"{"token":"\#($0)"}"# } + [
            #"{"telephone":"\#(user)"}"#
        ],
        "PUT /v1/apps/{app}/{platform}/notice": [#"{"message":"x"}"#],
        "PUT /v1/apps/{app}/{platform}/alert": [#"{"message":"x"}"#],
        "PUT /v1/apps/{app}/{platform}/devices/{token}": [#"{"telephone":"\#(user)","version":"1.0"}"#],
        "PATCH /v1/apps/{app}/{platform}/devices/{token}": [#"{"version":"1.1"}"#],
        "POST /v1/apps/{app}/{platform}/devices": [
            #"{"token":"\#(tokens[user] ?? "")","telephone":"\#(user)"}"# + "\n"
        ],
        "POST /v1/campaigns/{id}/approve": ["{}"],
        "POST /v1/campaigns/{id}/resume": ["{}"], "POST /v1/campaigns/{id}/release": ["{}"],
        "POST /v1/campaigns/{id}/pause": ["{}"], "POST /v1/campaigns/{id}/cancel": ["{}"],
        "POST /v1/store/accept": ["{}"], "POST /v1/approvals/{id}/refuse": [#"{"reason":"not now"}"#],
        "POST /v1/campaigns/{id}/retry": ["{}"], "POST /v1/store/prune": [#"{"olderThan":"90d"}"#],
        "PUT /v1/log": [#"{"level":"info"}"#], "POST /v1/tokens": [#"{"name":"x","scopes":["status"]}"#],
    ]
    private static let form =
        "app=com.example.app&version=3.0&required=4.0&step=plan&telephones=15500001111&again=no&token=no&telephone="
        + user.replacing("+", with: "%2B")

    /// All questions to a route. Throws for a new route that has no example here, and names what is missing.
    func questions(for route: Route) throws -> [Question] {
        var paths = [
            route.path.replacing("{app}", with: "com.example.app").replacing("{platform}", with: "ios")
                .replacing("{token}", with: Self.tokens[Self.user] ?? "").replacing("{name}", with: "en")
        ]
        paths = paths.flatMap { path in
            path.contains("{id}") ? campaigns.map { path.replacing("{id}", with: $0) } : [path]
        }
        switch route.answer {
        case .body, .signed, .stream:
            let bodies = try #require(Self.bodies[route.pattern], "\(route.pattern): say what it is sent, in `bodies`")
            return paths.flatMap { path in bodies.map { Question(method: route.method, path: path, body: $0) } }
        case .form: return paths.map { Question(method: route.method, path: $0, body: Self.form) }
        case .head: break
        }
        let names = route.isPage ? Self.pageParameters : route.parameters
        let start = "?" + (Self.needed[route.pattern] ?? "")
        var queries: [String] = [start]
        for name in names {
            let values =
                try name == "campaign"
                ? campaigns : #require(Self.examples[name], "\(route.pattern): an example of \(name), in `examples`")
            queries += values.map { "\(start)\(name)=\($0)" }
        }
        if names.contains("format") {
            queries += queries.flatMap { query in ["csv", "ndjson"].map { "\(query)&format=\($0)" } }
        }
        if names.contains("since") { queries += queries.map { "\($0)&dead=true&since=2020-01-01T00:00:00Z" } }
        return paths.flatMap { path in queries.map { Question(method: route.method, path: path + $0) } }
    }

    /// Head and body of the answer. A page comes with its parts, as the script asks for them.
    ///
    /// - Parameters:
    ///   - token: the API token that is sent; nil: none.
    ///   - isLocal: whether the control socket is asked.
    func answer(to question: Question, _ token: String?, isLocal: Bool = false) throws -> String {
        let client =
            try isLocal ? RawClient(unixSocket: bench.socketPath) : RawClient(port: bench.server.port ?? 0)
        let body = question.body ?? ""
        let kind = body.contains("=") ? "application/x-www-form-urlencoded" : "application/json"
        try client.send(
            "\(question.method) \(question.path) HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n"
                + "Content-Type: \(kind)\r\nContent-Length: \(body.utf8.count)\r\n"
                + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "") + "\r\n\(body)")
        var text = try client.receive(silence: 200)
        guard question.method == "GET", text.contains("text/html"), !question.path.contains("part=") else {
            return text
        }
        for part in text.matches(of: /id="([a-z-]+)"[^>]*data-live/) {
            let mark = question.path.contains("?") ? "&" : "?"
            text += try answer(
                to: Question(method: "GET", path: "\(question.path)\(mark)part=\(part.1)"), token, isLocal: isLocal)
        }
        return text
    }
}
