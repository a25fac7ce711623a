// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Signing
import Synchronization
import Testing

@testable import RelayAPI

/// A caller without the right learns nothing of what a body should hold.
@Suite("Rights come before bodies, live", .ownThread)
struct RightsFirstTests {
    private static let bodies = ["{", "{}", #"{"nonsense":1}"#, "[", ""]

    /// A route's path with names in it that exist.
    private static func path(_ route: Route, campaign: String) -> String {
        route.path.replacing("{app}", with: "com.example.app").replacing("{platform}", with: "ios")
            .replacing("{id}", with: campaign).replacing("{token}", with: "ab").replacing("{name}", with: "ci")
    }

    private static func allows(_ right: Right, _ scope: Scope) -> Bool {
        if case .scope(let needed) = right { scope.covers(needed) } else { false }
    }

    @Test("no route looks into a body for who has no right to it")
    func everyRoute() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        let campaign = try bench.campaign(required: "2.0")
        let bound = try bench.newToken(.status, .versions, .devices, .campaigns, apps: ["com.example.other"])
        let tokens: [Scope: String] = try Dictionary(
            uniqueKeysWithValues: Scope.allCases.map { ($0, try bench.newToken($0)) })
        for route in Route.all where route.right != .nothing {
            let path = Self.path(route, campaign: campaign)
            for body in route.method == "GET" ? [""] : Self.bodies {
                func status(_ token: String?) throws -> Int {
                    try bench.askNetwork(
                        route.method, path, Array(body.utf8),
                        headers: token.map { [("Authorization", "Bearer \($0)")] } ?? []
                    ).status
                }
                #expect(try status(nil) == 401, "\(route.pattern) \(body)")
                guard route.right != .signature, route.right != .signedIn else { continue }
                for (scope, token) in tokens where !Self.allows(route.right, scope) {
                    #expect(try status(token) == 403, "\(route.pattern) \(body) with \(scope)")
                }
                // Another team's app is forbidden, and its campaigns are unknown.
                if route.path.contains("{app}") { #expect(try status(bound) == 403, "\(route.pattern) \(body)") }
                if route.path.contains("{id}") { #expect(try status(bound) == 404, "\(route.pattern) \(body)") }
            }
        }
    }

    @Test("a webhook's secret of another app learns nothing of a body either")
    func boundSecret() throws {
        var secret = try WebhookSecret(Bench.secret)
        secret.apps = ["com.example.other"]
        let bench = try Bench(secrets: [secret])
        for rest in ["", #","nonsense":1"#, #","required":7"#] {
            let answer = try bench.webhook(#"{"app":"com.example.app","platform":"ios"\#(rest)}"#)
            #expect(answer.status == 401, "\(rest): \(answer.body)")
        }
    }
}
