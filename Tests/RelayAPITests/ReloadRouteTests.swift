// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import OwnThread
import RelayStore
import Synchronization
import Testing
import Threading

@testable import HTTPServer
@testable import RelayAPI

@Suite(.ownThread) struct ReloadRouteTests {
    @Test func `Who asks for a reload gets the verdict`() throws {
        let bench = try Bench()
        let taken = try bench.ask("POST", "/v1/reload")
        #expect(taken.status == 200)
        #expect(taken.text("status") == "reloaded")
        #expect(taken.number("apps") == "2")
        #expect(taken.text("warnings", "0") == "what changed in listen needs a restart")

        bench.control.reloadRefusal.withLock { $0 = "apps.x: is no object" }
        let refused = try bench.ask("POST", "/v1/reload")
        #expect(refused.status == 422)
        #expect(refused.text("detail") == "apps.x: is no object")
        #expect(try bench.askNetwork("POST", "/v1/reload").status == 401)
    }

    @Test func `Every change by hand is logged with who made it`() throws {
        let bench = try Bench()
        let by = SystemUser.shown(geteuid())
        #expect(by.hasSuffix("(uid \(geteuid()))"))
        let alert = #"{"message":"Down tonight"}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/alert", alert).status < 300)
        // The line may come after the answer.
        try #require(bench.logged.wait(for: "changed by hand"))
        let line = try #require(bench.logged.all.last { $0.contains("changed by hand") })
        #expect(line.contains("change=PUT /v1/apps/{app}/{platform}/alert"))
        #expect(line.contains("by=\(by)"))

        let token = try bench.newToken(.versions)
        #expect(
            try bench.askNetwork(
                "PUT", "/v1/apps/com.example.app/ios/alert", Array(alert.utf8),
                headers: [("Authorization", "Bearer \(token)")]
            ).status < 300)
        #expect(bench.logged.wait(for: "source=api"))
        #expect(bench.logged.all.last { $0.contains("changed by hand") }?.contains("source=api") == true)

        let before = bench.logged.all.count { $0.contains("changed by hand") }
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/alert", "{}").status == 422)
        // A requirement has its own line, which the store writes.
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", #"{"required":"2.0"}"#).status < 300)
        #expect(bench.logged.all.count { $0.contains("changed by hand") } == before)
    }
}
