// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import StatusPage
import TestStores
import Testing

@testable import HTTPServer
@testable import RelayAPI

/// The scope for support, `users`: every route with a token that has it alone. Routes that are added later are included.
@Suite("A token of the scope users, live", .ownThread)
struct UsersScopeTests {
    /// Every route that such a token may call, beside the open ones and those with a signature of their own.
    private static let reads: Set<String> = [
        "GET /v1/apps/{app}/{platform}/devices", "GET /v1/apps/{app}/{platform}/devices/{token}", "GET /v1/devices",
        "GET /v1/users", "GET /v1/deliveries",
    ]
    /// Its own session, which is no act on data.
    private static let session: Set<String> = ["POST /v1/session", "DELETE /v1/session", "POST /page/session/end"]
    /// The pages that it may see. The first screen leads to the users.
    private static let pages: Set<String> = ["GET /", "GET /page/users", "GET /page/devices"]

    private static func status(_ answer: String) -> Int {
        Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    private static func isGuarded(_ route: Route) -> Bool { route.right != .nothing && route.right != .signature }

    @Test("it may call the intended reads, and nothing else")
    func rights() {
        var allowed: Set<String> = []
        for route in Route.all where Self.isGuarded(route) {
            let status = RightsTests.status(route.right, authorization: "Bearer urt_good", scopes: [.users])
            if status == 200 { allowed.insert(route.pattern) }
        }
        #expect(allowed == Self.reads.union(Self.session.filter { $0.contains("/v1/") }))
        #expect(
            Route.all.allSatisfy { route in
                guard allowed.contains(route.pattern), !Self.session.contains(route.pattern) else { return true }
                return route.method == "GET" && route.act == nil && !route.isNoteworthy
            }, "what it may call changes nothing")
    }

    @Test("its reads are answered in full, live")
    func reading() throws {
        let people = try PeopleBench()
        var (answered, refused): (Set<String>, Set<String>) = ([], [])
        let token = try people.bench.newToken(.users)
        for route in Route.all + StatusPage.routes where route.method == "GET" && Self.isGuarded(route) {
            for question in try people.questions(for: route) {
                switch Self.status(try people.answer(to: question, token)) {
                case 200...399: answered.insert(route.pattern)
                case 403: refused.insert(route.pattern)
                default: break
                }
            }
        }
        #expect(answered == Self.reads.union(Self.pages))
        #expect(refused.isDisjoint(with: answered), "\(refused.intersection(answered))")
    }

    @Test("every route that changes something refuses it, and nothing is changed")
    func changing() throws {
        let people = try PeopleBench()
        let store = people.bench.store
        let token = try people.bench.newToken(.users)
        func state() throws -> [[String]] {
            try ["device", "requirement", "campaign", "delivery", "alert"].map { table in
                try store.inspect("SELECT count(*) FROM \(table)").flatMap { $0 }
            } + [try store.inspect("SELECT count(*) FROM audit").flatMap { $0 }]
        }
        let before = try state()
        var tried = 0
        for route in Route.all + StatusPage.routes
        where route.method != "GET" && Self.isGuarded(route) && !Self.session.contains(route.pattern) {
            for question in try people.questions(for: route) {
                let answer = try people.answer(to: question, token)
                #expect(Self.status(answer) == 403, "\(question): \(answer.prefix(200))")
                tried += 1
            }
        }
        #expect(tried > 30)
        #expect(try state() == before)
    }

    @Test("deliveries of one user are exported in full, and a token of the scope status may not ask for them")
    func deliveries() throws {
        let people = try PeopleBench()
        let number = PeopleBench.user.replacing("+", with: "%2B")
        for format in ["json", "csv", "ndjson"] {
            let path = "/v1/deliveries?telephone=\(number)" + (format == "json" ? "" : "&format=\(format)")
            func ask(_ scopes: Scope...) throws -> Answer {
                let token = try people.bench.newToken(of: scopes)
                return try people.bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(token)")])
            }
            let full = try ask(.users)
            #expect(full.status == 200 && full.body.contains(PeopleBench.user), "\(full.body)")
            #expect(try ask(.status, .users).status == 200 && ask(.devices).status == 200)
            #expect(try ask(.status).status == 403)
        }
    }
}
