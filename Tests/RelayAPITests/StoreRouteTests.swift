// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayStore
import Testing

@Suite("The store's status", .ownThread)
struct StoreRouteTests {
    @Test("shows the chain, the first and the current release, on the control socket")
    func status() throws {
        let bench = try Bench()
        let answer = try bench.ask("GET", "/v1/store")
        #expect(answer.status == 200)
        #expect(answer.text("path") == bench.directory.appending(path: "relay.db").path)
        #expect(answer.number("size").flatMap { Int($0) } ?? 0 > 0)
        #expect(answer.number("schemaVersion") == answer.number("newestSchemaVersion"))
        #expect(answer.text("chain", "0", "name") == "the first schema")
        #expect(answer.number("chain", "0", "version") == "1")
        #expect(answer.text("chain", "0", "appliedAt")?.hasSuffix("Z") == true)
        #expect(answer.text("firstInstalled", "release") != nil)
        #expect(answer.text("current", "openedAt")?.hasSuffix("Z") == true)
        #expect(try bench.ask("GET", "/v1/store?x=1").status == 422)
    }

    @Test("is nobody else's")
    func rights() throws {
        let bench = try Bench()
        #expect(try bench.askNetwork("GET", "/v1/store").status == 401)
        let token = try bench.newToken(.status, .versions, .devices, .campaigns)
        let answer = try bench.askNetwork("GET", "/v1/store", headers: [("authorization", "Bearer \(token)")])
        #expect(answer.status == 403)
    }
}
