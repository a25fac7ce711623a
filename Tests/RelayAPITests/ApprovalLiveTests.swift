// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// The rights to see, approve and refuse a request, and to act alone.
@Suite("Requests for a second person, live", .ownThread)
struct ApprovalLiveTests {
    private let bench: Bench
    private let request: Approval

    init() throws {
        bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        request = try #require(try bench.ask(forSecondPerson: "2.0", body: #"{"required":"2.0"}"#))
    }

    private func ask(
        _ method: String, _ path: String, _ body: String? = nil, _ scopes: Scope..., apps: [String]? = nil
    ) throws -> Answer {
        let token = try bench.newToken(of: scopes, apps: apps)
        return try bench.askNetwork(
            method, path, body.map { Array($0.utf8) }, headers: [("Authorization", "Bearer \(token)")])
    }

    @Test("the list has what an act reaches, who asked and until when")
    func list() throws {
        let answer = try ask("GET", "/v1/approvals?state=open", nil, .status)
        #expect(answer.status == 200)
        for part in [
            #""deed":"require 2.0""#, #""askedBy":"ada""#, #""devices":4,"of":10"#, #""reason":"secondPerson""#,
            #""body":{"required":"2.0"}"#,
        ] {
            #expect(answer.body.contains(part), "\(part): \(answer.body)")
        }
        #expect(!answer.body.contains("sentence"), "no act is answered")
        #expect(try ask("GET", "/v1/approvals?state=refused", nil, .status).body.contains(#""items":[]"#))
        let other = try ask("GET", "/v1/approvals", nil, .status, apps: [Bench.other.app])
        #expect(other.body.contains(#""items":[]"#))
    }

    @Test("the right to the act is the right to its approval and its refusal")
    func rights() throws {
        let path = "/v1/approvals/\(request.id)"
        #expect(try ask("POST", "\(path)/approve", nil, .status, .campaigns).status == 403)
        #expect(try ask("POST", "\(path)/refuse", #"{"reason":"no"}"#, .status).status == 403)
        #expect(
            try ask("POST", "\(path)/approve", nil, .versions, apps: [Bench.other.app]).status == 404)
        #expect(try ask("POST", "\(path)/refuse", "{}", .versions).status == 422)
        let refused = try ask("POST", "\(path)/refuse", #"{"reason":"not now"}"#, .versions)
        #expect(refused.status == 200)
        #expect(refused.text("sentence")?.contains("require 2.0 of com.example.app ios, 4 devices: refused.") ?? false)
        #expect(try bench.store.approval(request.id)?.reason == "not now")
        #expect(try ask("POST", "/v1/approvals/77/approve", nil, .versions).status == 404)
    }

    @Test("only the control socket lets one person act alone")
    func alone() throws {
        let body = #"{"required":"2.0","alone":"data is lost"}"#
        let answer = try ask("PUT", "/v1/apps/com.example.app/ios/version", body, .versions)
        #expect(answer.status == 403)
        #expect(answer.body.contains("the control socket alone"), "\(answer.body)")
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", body).status == 202)
    }
}
