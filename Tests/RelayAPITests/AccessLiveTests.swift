// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Signing
import Testing
import VersionSources
import WireFormat

@testable import RelayAPI

/// Made from the OpenAPI document: a route without a right, or with another one than documented, fails here.
@Suite("Who may ask what, live over TCP", .ownThread)
struct AccessLiveTests {
    /// The only paths that answer every caller (CONTRACT, "right: none").
    static let open: Set<String> = [
        "/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/check", "/v1/enforce",
        "/v1/apps/{app}/launchgate.json",
    ]

    struct Caller: CustomStringConvertible {
        var description: String
        var authorization: String?
        var scopes: Set<Scope>?
    }

    static func path(of entry: DocumentCheck.Entry) -> String {
        let segments = entry.path.split(separator: "/").map { segment in
            guard segment.hasPrefix("{") else { return String(segment) }
            let name = segment.dropFirst().dropLast()
            return DocumentCheck.example(name, of: entry) ?? "x"
        }
        let query = entry.path == "/v1/check" ? "?app=com.example.app&platform=ios&version=1.0" : ""
        return "/" + segments.joined(separator: "/") + query
    }

    @Test("every route × no token, nonsense, a revoked token, every scope alone, all but the right one")
    func matrix() throws {
        let bench = try Bench()
        let revoked = try bench.newToken(.status, .versions, .devices, .campaigns)
        for token in try bench.store.tokens() {
            #expect(try bench.ask("DELETE", "/v1/tokens/\(token.name)").status == 204)
        }
        var callers = [
            Caller(description: "nobody"),
            Caller(description: "an empty header", authorization: ""),
            Caller(description: "nonsense", authorization: "Bearer urt_" + String(repeating: "A", count: 43)),
            Caller(description: "another scheme", authorization: "Basic dXJ0XzpY"),
            Caller(description: "a revoked token", authorization: "Bearer \(revoked)"),
        ]
        for scope in Scope.allCases {
            callers.append(
                Caller(
                    description: "only \(scope)", authorization: "Bearer \(try bench.newToken(scope))", scopes: [scope])
            )
            let others = Scope.allCases.filter { $0 != scope }
            let token = try bench.newToken(of: others)
            callers.append(
                Caller(
                    description: "all but \(scope)", authorization: "Bearer \(token)", scopes: Set(others)))
        }
        var seen: Set<String> = []
        // Ends event streams at once: there is no such campaign.
        for entry in DocumentCheck.entries {
            let route = try #require(OpenAPITests.route(of: entry), "\(entry.method) \(entry.path) is not routed")
            let right = try #require(OpenAPITests.right(entry.operation), "\(entry.path) has no security")
            #expect(right == route.right)
            if right == .nothing { seen.insert(entry.path) }
            for caller in callers {
                // This stream lasts for as long as its reader stays.
                if entry.path == "/v1/events", caller.scopes?.contains(.status) == true { continue }
                let headers = caller.authorization.map { [("Authorization", $0)] } ?? []
                let body: [UInt8]? = ["PUT", "POST"].contains(entry.method) ? Array("{}".utf8) : nil
                let answer = try bench.askNetwork(entry.method, Self.path(of: entry), body, headers: headers)
                let told = "\(entry.method) \(entry.path) for \(caller): \(answer.status) \(answer.body.prefix(200))"
                switch (right, caller.scopes) {
                case (.nothing, _):
                    #expect([200, 204, 503].contains(answer.status), "\(told)")
                case (.signature, _):
                    #expect(answer.status == 401, "\(told)")
                    #expect(answer[header: "www-authenticate"]?.hasPrefix("Webhook-Signature") == true, "\(told)")
                case (_, nil):
                    #expect(answer.status == 401, "\(told)")
                    #expect(answer[header: "www-authenticate"]?.hasPrefix("Bearer realm=") == true, "\(told)")
                case (.scope(let scope), .some(let scopes)) where scopes.contains { $0.covers(scope) }:
                    #expect(![401, 403, 405, 500].contains(answer.status), "\(told)")
                case (.scope, _):
                    #expect(answer.status == 403, "\(told)")
                    #expect(answer[header: "www-authenticate"]?.contains("insufficient_scope") == true, "\(told)")
                case (.signedIn, _):
                    // A session is begun with a token, and ended with its cookie.
                    #expect(![401, 403, 405, 500].contains(answer.status), "\(told)")
                case (.operatorOnly, _):
                    #expect(answer.status == 403, "\(told)")
                }
                if answer.status >= 400 {
                    #expect(answer[header: "content-type"] == "application/problem+json", "\(told)")
                    #expect(answer.number("status") == String(answer.status), "\(told)")
                }
            }
        }
        #expect(seen.isSubset(of: Self.open), "open, and not called so by the contract: \(seen.subtracting(Self.open))")
    }

    @Test("a token's text is nowhere in the store's files, nor half of it, nor its base64 decoded")
    func hashed() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        #expect(
            try bench.askNetwork("GET", "/v1/campaigns", headers: [("Authorization", "Bearer \(token)")]).status == 200)
        let files = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
            .filter { $0.hasPrefix("relay.db") }
        #expect(files.contains("relay.db") && files.contains { $0.hasSuffix("-wal") }, "\(files)")
        let secret = try #require(Base64URL.decode(String(token.dropFirst(4))))
        let name = Array("t-status".utf8)
        var isNameFound = false
        for file in files {
            let data = try Data(contentsOf: bench.directory.appending(path: file))
            for needle in [Array(token.utf8), Array(token.utf8.dropFirst(4).prefix(21)), secret] {
                #expect(data.range(of: Data(needle)) == nil, "\(file)")
            }
            // This name is in the store, so the search does find what is there.
            if data.range(of: Data(name)) != nil { isNameFound = true }
        }
        #expect(isNameFound)
    }
}
