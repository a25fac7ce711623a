// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestStores
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

/// Readers copy the document's examples.
@Suite("The document's requests", .ownThread)
struct ExampleTests {
    /// Entries whose examples are a whole request: with a body, or with a query or header that is required.
    static let requests = DocumentCheck.entries.filter { entry in
        entry.operation["requestBody"] != nil
            || entry.parameters.contains { $0["in"]?.text != "path" && $0["required"] == .bool(true) }
    }

    @Test("there are such requests, webhooks among them")
    func some() {
        #expect(Self.requests.count >= 13)
        #expect(Self.requests.count { $0.path.hasPrefix("/v1/webhooks/") } == 4)
    }

    @Test("each is accepted as it stands", arguments: requests.map { "\($0.method) \($0.path)" })
    func accepted(request: String) throws {
        let entry = try #require(Self.requests.first { "\($0.method) \($0.path)" == request })
        let bench = try Bench()
        // App Store Connect's event names no version: the store is asked.
        let lookup = LookupDouble()
        lookup.answer.withLock { $0 = .success(StoreListing(version: try? Version("2.1.0"))) }
        bench.control.lookup.withLock { $0 = lookup }
        var sent = entry
        if entry.path.hasPrefix("/v1/campaigns/{id}") {
            // A campaign that is over and did not reach every user, is paused, or waits for its release.
            try bench.store.register(
                [DeviceRegistration(app: Bench.app, token: "ab", telephone: "138", version: nil)], at: Bench.now)
            let isReleased = entry.path.hasSuffix("/release") || entry.path.hasSuffix("/approve")
            let id = try isReleased ? bench.canary(required: "2.0") : bench.campaign(required: "2.0")
            let verb =
                entry.path.hasSuffix("/resume") ? "pause" : entry.path.hasSuffix("/retry") ? "cancel" : nil
            if let verb { #expect(try bench.ask("POST", "/v1/campaigns/\(id)/\(verb)").status == 200) }
            sent.path.replace("{id}", with: id)
        }
        if entry.path.hasPrefix("/v1/approvals/") { try Self.ask(bench) }
        if entry.path.hasSuffix("{platform}/release") { _ = try bench.canary(required: "2.0") }
        if entry.path.hasSuffix("/withdraw") { _ = try bench.campaign(required: "20.0.0") }
        if entry.path == "/v1/devices" || entry.path == "/v1/users" {
            try bench.store.register(
                [DeviceRegistration(app: Bench.app, token: "ab", telephone: "13800138000", version: nil)],
                at: Bench.now)
        }
        if entry.method == "PATCH" {
            // A device that is registered.
            let token = entry.parameters.first { $0["name"]?.text == "token" }?["example"]?.text
            try bench.store.register(
                [DeviceRegistration(app: Bench.app, token: try #require(token), telephone: nil, version: nil)],
                at: Bench.now)
        }
        if entry.path == "/v1/store/accept" {
            // The example's store, and the fall that the example names.
            try bench.store.administer(
                """
                UPDATE store_identity SET identity = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'; DELETE FROM decision;
                INSERT INTO decision (number, sign) VALUES (38, '8899aabbccddeeff')
                """)
            let memory = bench.store.membership.memory
            memory.fell(to: nil)
            _ = memory.rises(
                to: StoreMark(
                    identity: "0f1e2d3c4b5a69788796a5b4c3d2e1f0", decision: 41, sign: "00112233aabbccdd", recorded: 7))
            memory.fell(to: nil)
        }
        let answer = try Self.send(sent, to: bench)
        #expect((200..<300).contains(answer.status), "\(answer.body)")
        // A request that the relay ignores would pass with any body.
        #expect(answer.text("status") != "ignored")
        #expect(answer.number("refusedCount") ?? "0" == "0")
        #expect(bench.control.acceptances.withLock { $0 } == (entry.path == "/v1/store/accept" ? 1 : 0))
    }

    /// Three requests for a second person, of which the last, 3, waits.
    private static func ask(_ bench: Bench) throws {
        for version in ["2.0", "2.1", "2.2"] { _ = try bench.ask(forSecondPerson: version) }
    }

    static func send(_ entry: DocumentCheck.Entry, to bench: Bench) throws -> Answer {
        var path = entry.path
        var query: [String] = []
        var headers: [(String, String)] = []
        for parameter in entry.parameters {
            guard let name = parameter["name"]?.text else { continue }
            guard let example = parameter["example"]?.text else {
                #expect(parameter["required"] == .bool(false), "\(name) has no example")
                continue
            }
            switch parameter["in"]?.text {
            case "path": path.replace("{\(name)}", with: example)
            case "query": query.append("\(name)=\(example)")
            default: headers.append((name, example))
            }
        }
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        let body = try entry.operation["requestBody"]?["content"]?.members.first.map { media in
            let example = try #require(media.value["example"])
            // Lines stand in the document as a text.
            if let text = example.text { return text }
            var writer = JSONWriter()
            writer.value(example)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        guard entry.path.hasPrefix("/v1/webhooks/") else {
            return try bench.ask(entry.method, path, body, headers: headers)
        }
        return try bench.webhook(try #require(body), path: path, headers: headers)
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let text): raw(Array(text.utf8))
        case .string(let text): string(text)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let members):
            object { writer in
                for member in members {
                    writer.name(member.name)
                    writer.value(member.value)
                }
            }
        }
    }
}
