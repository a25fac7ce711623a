// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StatusPage
import TestStores
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// FAULTS 2.3: every route with every right, and the people that its answers name. Routes that are added later are included.
@Suite("Who reads people's data, live", .ownThread)
struct PeoplesDataTests {
    private static let routes = Route.all + StatusPage.routes
    /// The scopes without the right to people's data: each alone, and all together.
    private static let blind: [[Scope]] =
        Scope.allCases.filter { !$0.covers(.users) }.map { [$0] } + [Scope.allCases.filter { !$0.covers(.users) }]

    private static func status(_ answer: String) -> Int {
        Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    /// Compares the answers to one question with the operator's.
    ///
    /// - Returns: whether a token with the right to people's data gets people named.
    private func hold(_ people: (() throws -> PeopleBench), _ route: Route, _ place: Int) throws -> Bool {
        var shared: PeopleBench?
        // Each change gets a new store.
        func fresh() throws -> PeopleBench {
            if route.method == "GET", let shared { return shared }
            shared = try people()
            return try #require(shared)
        }
        func ask(_ scopes: [Scope]?, isLocal: Bool = false) throws -> String {
            let people = try fresh()
            let question = try people.questions(for: route)[place]
            let token = try scopes.map { try people.bench.newToken(of: $0) }
            return try people.answer(to: question, token, isLocal: isLocal)
        }
        let question = try fresh().questions(for: route)[place]
        for scopes in [nil] + Self.blind.map(Optional.some) {
            let named = PeopleBench.named(in: try ask(scopes))
            #expect(named.isEmpty, "\(question) with \(scopes.map { "\($0)" } ?? "no token") names \(named)")
        }
        let local = try ask(nil, isLocal: true)
        let named = PeopleBench.named(in: local)
        guard Self.status(local) < 300, !named.isEmpty, route.right != .operatorOnly else { return false }
        let right: [Scope] =
            if case .scope(let scope) = route.right { [scope] } else { [.status, .versions, .campaigns] }
        var seeing = try ask(Array(Set(right + [.users])))
        // The page asks before it erases, which needs `devices`.
        if route.isPage, Self.status(seeing) == 403 { seeing = try ask([.devices]) }
        #expect(PeopleBench.named(in: seeing) == named, "\(question) with \(right) and users: \(seeing.prefix(300))")
        return true
    }

    @Test("what reads names people to who may read their data, and to nobody else")
    func reading() throws {
        let people = try PeopleBench()
        #expect(people.campaigns.count == 2 && !people.campaigns[1].isEmpty)
        var naming: Set<String> = []
        for route in Self.routes where route.method == "GET" {
            for place in try people.questions(for: route).indices where try hold({ people }, route, place) {
                naming.insert(route.pattern)
            }
        }
        let must = [
            "/v1/apps", "/v1/apps/{app}/{platform}/version", "/v1/apps/{app}/{platform}/devices",
            "/v1/apps/{app}/{platform}/devices/{token}", "/v1/devices", "/v1/users", "/v1/campaigns",
            "/v1/campaigns/{id}",
            "/v1/campaigns/{id}/deliveries", "/v1/campaigns/{id}/events", "/v1/events", "/v1/deliveries", "/page/users",
            "/page/devices", "/page/deliveries",
        ]
        for path in must { #expect(naming.contains("GET \(path)"), "nobody is named by \(path): it is not tried") }
    }

    @Test("what acts names people to who may read their data, and to nobody else")
    func acting() throws {
        var naming: Set<String> = []
        let sample = try PeopleBench()
        for route in Self.routes where route.method != "GET" && route.right != .signature {
            for place in try sample.questions(for: route).indices where try hold({ try PeopleBench() }, route, place) {
                naming.insert(route.pattern)
            }
        }
        for path in ["PUT /v1/apps/{app}/{platform}/version", "POST /v1/campaigns/{id}/pause"] {
            #expect(naming.contains(path), "nobody is named by \(path): it is not tried")
        }
    }

    @Test("a webhook's answer, which is kept, names nobody")
    func webhooks() throws {
        let people = try PeopleBench()
        let bench = people.bench
        for _ in 0..<2 {
            let raised = try bench.webhook(
                #"{"app":"com.example.app","platform":"ios","latest":"3.0.1","telephones":["15500001111"]}"#)
            #expect(raised.status < 500 && PeopleBench.named(in: raised.body).isEmpty, "\(raised.body)")
        }
        let bump = try bench.webhook(#"{"app":"com.example.app","platform":"ios","latest":"3.0.2"}"#, id: "msg_2")
        #expect(bump.status == 200 && PeopleBench.named(in: bump.body).isEmpty, "\(bump.body)")
        #expect(bump.body.contains(#""telephones":["…"]"#), "it is counted: \(bump.body)")
        let release = ReleaseWebhookLiveTests.release("v3.0.3")
        let answers = [
            try ReleaseWebhookLiveTests.sendGitHub(bench, release, id: "1"),
            try ReleaseWebhookLiveTests.sendGitLab(bench, ReleaseWebhookLiveTests.created("v3.0.4"), id: "2"),
        ]
        for answer in answers {
            #expect(answer.status == 200 && answer.body.contains("3.0."), "\(answer.body)")
            #expect(PeopleBench.named(in: answer.body).isEmpty, "\(answer.body)")
        }
        #expect(
            try bench.store.inspect("SELECT count(*) FROM webhook WHERE instr(body, '\(PeopleBench.canary)')") == [
                ["0"]
            ])
    }

    @Test(
        "who is not asked for a right is sent counts alone, of every event and in every format",
        arguments: EventType.allCases)
    func events(type: EventType) throws {
        let people = try PeopleBench()
        let record = try #require(try people.bench.store.campaign(id: people.campaigns[1]))
        let device = try #require(
            try people.bench.store.deadDevices(of: Bench.app, after: DeadPlace(order: 0), limit: 9).first)
        let subject: RelayEvent.Subject
        switch type {
        case .waiting, .running, .paused, .suspended, .completed, .cancelled, .superseded, .canaryDone, .waveDone,
            .waitsLong,
            .inForce, .withdrawn:
            subject = .campaign(record)
        case .dead: subject = .dead(Bench.app, [device], through: device.place)
        case .retirable:
            let row = VersionShares.Row(
                version: try Version("1.0"), devices: 1, orOlder: 1, belowSince: nil, isNotified: false)
            subject = .retirable(Bench.app, row, devices: 9, retireBelow: 0.01)
        case .asked, .approved, .refused, .alone:
            var wish = Approval.Wish(.raise, try Version("2.0"))
            wish.telephones = [PeopleBench.canary]
            subject = .approval(
                Approval(
                    id: 3, Bench.app, wish, ApprovalReach(devices: 4, of: 10), shown: Shown(), by: .operator("ada"),
                    at: Bench.now, until: Bench.now + .seconds(60)))
        case .certificateEnds, .degraded, .recovered, .wentBack: subject = .part("store", reason: "it is full")
        }
        let event = RelayEvent(id: "0f4ad1b2", type: type, at: Bench.now, subject: subject)
        for format in NotificationFormat.allCases {
            let body = String(decoding: NotificationDocument.body(of: event, in: format), as: UTF8.self)
            var named = PeopleBench.named(in: body)
            // This event is for tokens that can no longer be pushed to; a receiver has to ask for it by name.
            if type == .dead, format == .json { named.remove(String(device.record.registration.token.prefix(12))) }
            #expect(named.isEmpty, "\(type) \(format): \(body)")
        }
    }

    /// FAULTS 3.12.
    @Test("no cell of any CSV begins a formula")
    func formulas() throws {
        let people = try PeopleBench()
        var (lists, escaped) = (0, 0)
        for route in Self.routes where route.method == "GET" {
            for question in try people.questions(for: route) where question.path.contains("format=csv") {
                let text = try people.answer(to: question, nil, isLocal: true)
                guard text.lowercased().contains("content-type: text/csv") else { continue }
                lists += 1
                escaped += text.contains("'\(PeopleBench.user)") ? 1 : 0
                let formula = text.firstMatch(of: /[,\n]"?[=+\-@\t][^\r\n]*/)
                #expect(formula == nil, "\(question): \(formula?.0 ?? "")")
            }
        }
        #expect(lists > 9 && escaped > 3, "\(lists) lists, \(escaped) with the number that begins with a plus")
    }

    // MARK: One by one

    private func get(_ people: PeopleBench, _ path: String, _ scopes: Scope...) throws -> Answer {
        let token = try people.bench.newToken(of: scopes)
        return try people.bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(token)")])
    }

    @Test("deliveries are masked for status, in every form, and nobody can be asked for by name")
    func deliveries() throws {
        let people = try PeopleBench()
        let path = "/v1/campaigns/\(people.campaigns[0])/deliveries"
        let masked = try get(people, path, .status)
        #expect(masked.count("items") == 4 && masked.body.contains(#""telephone":"+86…54""#), "\(masked.body)")
        #expect(try get(people, "\(path)?format=csv", .status).body.contains(",5eed…"))
        let refused = "\(path)?telephone=\(PeopleBench.canary)"
        for query in [
            refused, "\(path)?token=\(PeopleBench.tokens[PeopleBench.user] ?? "")", refused + "&format=csv",
            "/v1/deliveries?telephone=\(PeopleBench.canary)", "/v1/deliveries?telephone=1",
        ] {
            let answer = try get(people, query, .status, .versions, .campaigns)
            #expect(answer.status == 403 && answer.text("detail")?.contains(#"the scope "users""#) == true, "\(query)")
            #expect(answer[header: "www-authenticate"]?.contains(#"scope="users""#) == true)
            #expect(try get(people, query, .status, .users).status == 200, "\(query)")
            #expect(try get(people, query, .status, .devices).status == 200, "who may erase a user may read of one")
        }
    }

    @Test("users reads and changes nothing; devices goes on reading what it registers")
    func scopes() throws {
        let people = try PeopleBench()
        let reader = [("Authorization", "Bearer \(try people.bench.newToken(.users))")]
        let path = "/v1/apps/com.example.app/ios/devices"
        let token = PeopleBench.tokens[PeopleBench.user] ?? ""
        for (method, path, body) in [
            ("PUT", "\(path)/\(token)", "{}"), ("PATCH", "\(path)/\(token)", "{}"), ("DELETE", "\(path)/\(token)", nil),
            ("POST", path, ""), ("DELETE", "/v1/users?telephone=\(PeopleBench.canary)", nil),
        ] as [(String, String, String?)] {
            let answer = try people.bench.askNetwork(method, path, body.map { Array($0.utf8) }, headers: reader)
            #expect(answer.status == 403, "\(method) \(path): \(answer.body)")
        }
        for path in [
            path, "\(path)/\(token)", "/v1/users?telephone=\(PeopleBench.canary)", "/v1/devices?token=\(token)",
        ] {
            for scope in [Scope.users, .devices] {
                let answer = try get(people, path, scope)
                #expect(answer.status == 200 && !PeopleBench.named(in: answer.body).isEmpty, "\(path) with \(scope)")
            }
        }
        // The page names the right that is missing, and offers to erase to users who have that right.
        let view = "/page/users?telephone=\(PeopleBench.canary)"
        func page(_ scopes: Scope...) throws -> String {
            let token = try people.bench.newToken(of: scopes)
            return try people.answer(to: .init(method: "GET", path: view), token)
        }
        #expect(try page(.status).contains("This needs the scope “users”"))
        let read = try page(.users)
        #expect(
            read.hasPrefix("HTTP/1.1 200") && read.contains(PeopleBench.canary) && !read.contains("/page/users/erase"))
        #expect(try page(.devices).contains("/page/users/erase"))
    }

    @Test("of a short number less is shown: what is hidden is more than can be tried")
    func masks() {
        #expect(Redaction.masked.telephone("13800987654") == "138…54")
        #expect(Redaction.masked.telephone("91234567") == "…67")
        #expect(Redaction.masked.telephone("1234567") == "…")
        #expect(Redaction.counted.telephone("13800987654") == "…" && Redaction.whole.telephone("1") == "1")
        #expect(Redaction.masked.token(String(repeating: "ab", count: 32)) == "abab…abab")
    }
}
