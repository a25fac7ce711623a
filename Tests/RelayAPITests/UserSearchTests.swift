// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import StatusPage
import Synchronization
import Testing
import WireFormat

@testable import RelayAPI

/// FAULTS 1.9: each route that takes a telephone names the known spelling. Routes that are added later are included.
@Suite("Who is meant by a telephone, live", .ownThread)
struct UserSearchTests {
    private static let user = "+8613800138000"
    /// As support staff write it down.
    private static let miss = "13800138000"

    /// The login check answers every caller, so it names no spelling.
    private static let silent: Set<String> = ["GET /v1/check"]
    /// Routes that register the telephone they are sent.
    private static let registering: Set<String> = [
        "PUT /v1/apps/{app}/{platform}/devices/{token}", "PATCH /v1/apps/{app}/{platform}/devices/{token}",
        "POST /v1/apps/{app}/{platform}/devices",
    ]
    /// Routes whose answers are stored, and therefore name no user.
    private static let kept: Set<String> = ["POST /v1/webhooks/version"]
    private static let bodies = [
        "PUT /v1/apps/{app}/{platform}/version": #"{"required":"3.0","telephones":["\#(miss)"]}"#,
        "PUT /v1/apps/{app}/version": #"{"required":"3.0","telephones":["\#(miss)"]}"#,
        "POST /v1/apps/{app}/{platform}/plan": #"{"required":"3.0","telephones":["\#(miss)"]}"#,
        "POST /v1/apps/{app}/{platform}/test-push": #"{"telephone":"\#(miss)"}"#,
    ]

    /// A user with a device, and a campaign with a delivery to it.
    private func bench() throws -> (Bench, campaign: String) {
        let people = try people()
        return (people.bench, people.campaigns[0])
    }

    private func people() throws -> PeopleBench {
        let people = try PeopleBench()
        people.bench.control.hasOther.withLock { $0 = true }
        let device = #"{"telephone":"\#(Self.user)","version":"1.0"}"#
        let path = "/v1/apps/com.example.app/ios/devices/abcd01"
        #expect(try people.bench.ask("PUT", path, device).status == 201)
        return people
    }

    private func path(_ route: Route, _ campaign: String) -> String {
        route.path.replacing("{app}", with: "com.example.app").replacing("{platform}", with: "ios")
            .replacing("{id}", with: campaign)
    }

    /// Head and body.
    private func text(_ answer: Answer) -> String {
        answer.body + (answer[header: "X-Similar-Telephones"].map { " similar: \($0)" } ?? "")
    }

    @Test("every route with the parameter names the spelling that is known, in every form")
    func parameters() throws {
        let (bench, campaign) = try bench()
        let other = [
            ("Authorization", "Bearer \(try bench.newToken(.users, .devices, apps: ["com.example.other"]))")
        ]
        var walked: Set<String> = []
        for route in Route.all where route.parameters.contains("telephone") {
            let needed = route.pattern == "GET /v1/check" ? "app=com.example.app&platform=ios&version=1.0&" : ""
            for format in route.parameters.contains("format") ? ["", "&format=csv", "&format=ndjson"] : [""] {
                let path = "\(path(route, campaign))?\(needed)telephone="
                let answer = try bench.ask(route.method, "\(path)\(Self.miss)\(format)")
                #expect(answer.status == (route.method == "DELETE" ? 404 : 200), "\(path): \(answer.body)")
                let isSilent = Self.silent.contains(route.pattern)
                #expect(text(answer).contains(Self.user) != isSilent, "\(route.pattern)\(format): \(text(answer))")
                #expect(answer.body.isEmpty || !format.isEmpty || !isSilent || !answer.body.contains("similar"))
                let bound = try bench.askNetwork(route.method, "\(path)\(Self.miss)\(format)", headers: other)
                #expect(!text(bound).contains(Self.user), "\(route.pattern) to another team: \(text(bound))")
                // A telephone that an app knows as it is written has no similar one.
                let known = try bench.ask("GET", "\(path)%2B8613800138000\(format)")
                if route.method == "GET", known.status == 200, route.path != "/v1/users" {
                    #expect(!text(known).contains("similar"), "\(route.pattern)\(format)")
                }
            }
            walked.insert(route.pattern)
        }
        #expect(
            walked == [
                "GET /v1/check", "GET /v1/apps/{app}/{platform}/devices", "GET /v1/devices", "GET /v1/users",
                "DELETE /v1/users", "GET /v1/campaigns/{id}/deliveries", "GET /v1/deliveries",
            ], "a new one is walked, too; say so here")
    }

    @Test("a campaign names the spelling that its own app knows")
    func ofTheApp() throws {
        let (bench, campaign) = try bench()
        let path = "/v1/campaigns/\(campaign)/deliveries?telephone="
        #expect(try bench.ask("GET", "\(path)\(Self.miss)").text("similar", "0") == Self.user)
        // The state leaves the list empty, but the user is known.
        let filtered = try bench.ask("GET", "\(path)%2B8613800987654&state=expired")
        #expect(filtered.count("items") == 0 && filtered.value("similar") == nil, "\(filtered.body)")
        let elsewhere = #"{"telephone":"0086139","version":"1.0"}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.other/ios/devices/abcd02", elsewhere).status == 201)
        #expect(try bench.ask("GET", "\(path)86139").value("similar") == nil)
        #expect(try bench.ask("GET", "/v1/devices?telephone=86139").text("similar", "0") == "0086139")
    }

    @Test("so does each that takes it in its body, to who may read people's data")
    func inBodies() throws {
        let documented = Set(
            DocumentCheck.entries.filter { entry in
                let content = entry.operation["requestBody"]?["content"]?.members.first?.value
                let schema = content?["x-itemSchema"] ?? content?["schema"]
                let forms = schema?["anyOf"]?.array ?? [schema].compactMap(\.self)
                return forms.contains { form in
                    let members = form["$ref"]?.text.flatMap(DocumentCheck.check.resolve) ?? form
                    return members["properties"]?.members.contains { ["telephone", "telephones"].contains($0.name) }
                        == true
                }
            }.map { "\($0.method) \($0.path)" })
        #expect(documented == Self.registering.union(Self.kept).union(Self.bodies.keys), "say how a new one answers")
        for route in Route.all {
            guard let body = Self.bodies[route.pattern] else { continue }
            let (bench, campaign) = try bench()
            let path = path(route, campaign)
            func ask(_ scopes: Scope...) throws -> String {
                let token = [("Authorization", "Bearer \(try bench.newToken(of: scopes))")]
                return text(try bench.askNetwork(route.method, path, Array(body.utf8), headers: token))
            }
            #expect(try !ask(.versions).contains(Self.user), "\(route.pattern)")
            #expect(try ask(.versions, .users).contains(Self.user), "\(route.pattern)")
        }
    }

    @Test("so does each page that takes it")
    func pages() throws {
        let people = try people()
        var walked: Set<String> = []
        for route in StatusPage.routes where route.method == "GET" && !route.path.contains("{") {
            let question = PeopleBench.Question(method: "GET", path: "\(route.path)?telephone=\(Self.miss)")
            let answer = try people.answer(to: question, nil, isLocal: true)
            if answer.hasPrefix("HTTP/1.1 422 ") { continue }
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(">\(Self.user)<"), "\(route.pattern)")
            walked.insert(route.pattern)
        }
        #expect(walked == ["GET /page/users", "GET /page/users/erase", "GET /page/deliveries"])
    }
}
