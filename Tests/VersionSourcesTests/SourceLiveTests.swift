// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestPeers
import Testing
import UpgradeRules
import VersionSources

/// A server whose answer the test changes, and that keeps its requests.
private final class Script: Sendable {
    private let state: Mutex<(answer: String, requests: [String])>

    init(_ answer: String) {
        state = Mutex((answer, []))
    }

    var requests: [String] { state.withLock { $0.requests } }

    func set(_ answer: String) { state.withLock { $0.answer = answer } }

    @Sendable func answer(_ request: String) -> String {
        state.withLock {
            $0.requests.append(request)
            return $0.answer
        }
    }

    static func ok(_ body: String, _ headers: [String] = []) -> String {
        LocalServer.response("200 OK", headers: headers, body: body)
    }
}

@Suite("Sources on the network, live", .ownThread)
struct SourceNetworkTests {
    private static func lookup(_ server: LocalServer, country: String? = "cn") -> VersionSource.Kind {
        .appStore(
            AppStoreSource(
                trackID: 1_173_193_999, bundleID: SourceBench.app.app, country: country, every: .milliseconds(50),
                server: server.address))
    }

    @Test("the lookup asks by both keys and raises latest, and only latest")
    func lookupRaisesLatest() throws {
        let script = Script(Script.ok(LookupSample.body(storefront: "cn")))
        let server = try LocalServer(answer: script.answer)
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([Self.lookup(server)])
        bench.wait("the listing is stored") { !$0.bumps.isEmpty }
        let record = try #require(try bench.store.version(of: SourceBench.app))
        #expect(record.latest?.text == "1.01")
        #expect(record.required == nil)
        #expect(record.texts?.downloadURL?.hasSuffix("id1173193999?mt=8&uo=4") == true)
        #expect(bench.seen.now.sources == ["appStore"])
        let lines = script.requests.prefix(2).map { $0.prefix { $0 != "\r\n" } }
        #expect(lines[0].hasPrefix("GET /lookup?id=1173193999&country=cn&_cb="))
        #expect(lines[1].hasPrefix("GET /lookup?bundleId=com.imlian.QZJapanese&country=cn&_cb="))
        #expect(bench.runner.faults().isEmpty)
        // The same again is no bump; a newer one is.
        script.set(Script.ok(LookupSample.body(version: "1.10", storefront: "cn")))
        bench.wait("the next version is stored") { $0.bumps.count > 1 }
        #expect(bench.seen.now.bumps.compactMap(\.latest?.text) == ["1.01", "1.10"])
    }

    struct Lie: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: String
        /// A part of the fault's text.
        var says: String
    }

    static let lies = [
        Lie(
            testDescription: "empty results", answer: Script.ok(LookupSample.empty), says: "lists no such app in \"cn\""
        ),
        Lie(testDescription: "HTML", answer: Script.ok("<!DOCTYPE html><p>Sorry</p>"), says: "a page (HTML)"),
        Lie(testDescription: "nothing", answer: Script.ok(""), says: "empty"),
        Lie(
            testDescription: "5 MB", answer: Script.ok(String(repeating: " ", count: 5 << 20)),
            says: "exceeds 1048576 bytes"),
        Lie(
            testDescription: "a redirect",
            answer: LocalServer.response("302 Found", headers: ["Location: http://u:p@127.0.0.1:1/elsewhere?sign=x"]),
            says: "redirects to http://…@127.0.0.1:1/elsewhere?…; "),
        Lie(
            testDescription: "an older version", answer: Script.ok(LookupSample.body(version: "1.9", storefront: "cn")),
            says: "shows 1.9, older than 1.10"),
        Lie(
            testDescription: "403 with Retry-After",
            answer: LocalServer.response("403 Forbidden", headers: ["Retry-After: 1"]),
            says: "HTTP 403, to be asked again in 1 s"),
        Lie(testDescription: "500", answer: LocalServer.response("500 Oops"), says: "HTTP 500"),
    ]

    @Test("a lookup that fails or lies is reported once and changes nothing; recovery too", arguments: lies)
    func lookupLies(_ lie: Lie) throws {
        let script = Script(Script.ok(LookupSample.body(version: "1.10", storefront: "cn")))
        let server = try LocalServer(answer: script.answer)
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([Self.lookup(server)])
        bench.wait("a good answer first") { !$0.bumps.isEmpty }
        script.set(lie.answer)
        bench.wait("the fault is logged") { $0.log.contains { $0.hasPrefix("a source of versions fails") } }
        #expect(bench.runner.faults()["\(bench.part)appStore"]?.contains(lie.says) == true, "\(bench.runner.faults())")
        #expect(try bench.store.version(of: SourceBench.app)?.latest?.text == "1.10")
        script.set(Script.ok(LookupSample.body(version: "1.11", storefront: "cn")))
        bench.wait("the recovery is logged") { $0.log.contains { $0.hasPrefix("a source of versions is well again") } }
        #expect(bench.runner.faults().isEmpty)
        #expect(bench.seen.now.bumps.compactMap(\.latest?.text) == ["1.10", "1.11"])
        #expect(bench.seen.now.log.count { $0.hasPrefix("a source of versions fails") } == 1)
    }

    @Test("others may ask what the store shows now")
    func current() throws {
        let script = Script(Script.ok(LookupSample.body(storefront: "cn")))
        let server = try LocalServer(answer: script.answer)
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([Self.lookup(server)])
        let listing = try bench.runner.current(of: SourceBench.app)
        #expect(listing?.version.text == "1.01")
        #expect(try bench.runner.current(of: AppKey(app: "other", platform: .ios)) == nil)
        script.set(LocalServer.response("429 Too Many Requests", headers: ["Retry-After: 3600"]))
        #expect(throws: SourceFault.self) { try bench.runner.current(of: SourceBench.app) }
        #expect(throws: SourceFault.self) { try bench.runner.current(of: SourceBench.app) }
    }

    @Test("a LaunchGate URL is polled conditionally")
    func launchGateURL() throws {
        let version = Mutex("2.0.0")
        let counts = Mutex((full: 0, unchanged: 0))
        let bench = try SourceBench()
        let server = try LocalServer { request in
            let text = version.withLock { $0 }
            if request.contains("If-None-Match: \"\(text)\""), request.contains("If-Modified-Since: Sun, 06 Nov 1994") {
                counts.withLock { $0.unchanged += 1 }
                bench.seen.change { _ in }
                return LocalServer.response("304 Not Modified")
            }
            counts.withLock { $0.full += 1 }
            return Script.ok(
                SourceBench.document(required: text, latest: "3.0"),
                ["ETag: \"\(text)\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([.launchGateURL(.init(url: "\(server.address)/gate.json", every: .milliseconds(20)))])
        bench.wait("three answers that nothing changed") { _ in counts.withLock { $0.unchanged >= 3 } }
        #expect(bench.seen.now.bumps.count == 1)
        #expect(counts.withLock { $0.full } == 1)
        let record = try #require(try bench.store.version(of: SourceBench.app))
        #expect(record.required?.text == "2.0.0")
        #expect(record.latest?.text == "3.0")
        #expect(record.texts?.message == "Upgrade.")
        #expect(bench.seen.now.sources == ["launchGate"])
        version.withLock { $0 = "2.1.0" }
        bench.wait("the change is stored") { $0.bumps.count == 2 }
        // An older one is a lie: the store only rises.
        version.withLock { $0 = "1.0.0" }
        bench.wait("the fall is reported") { $0.log.contains { $0.contains("2.1.0; 1.0.0 is older") } }
        #expect(try bench.store.version(of: SourceBench.app)?.required?.text == "2.1.0")
    }

    @Test(
        "a LaunchGate URL that fails or lies changes nothing",
        arguments: [
            Script.ok("<html>"), Script.ok(String(repeating: "x", count: 5 << 20)), Script.ok("{}"),
            LocalServer.response("301 Moved", headers: ["Location: https://example.org/"]),
            LocalServer.response("404 Not Found"), LocalServer.response("304 Not Modified"),
        ])
    func launchGateLies(_ answer: String) throws {
        let server = try LocalServer { _ in answer }
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([.launchGateURL(.init(url: server.address, every: .milliseconds(20)))])
        bench.wait("the fault is logged") { !$0.log.isEmpty }
        #expect(bench.runner.faults()["\(bench.part)launchGate"] != nil)
        #expect(try bench.store.version(of: SourceBench.app) == nil)
    }

    @Test("asked to stop, it does not wait for a source that takes long")
    func asked() throws {
        let bench = try SourceBench()
        let file = bench.path("gate.json")
        try Data(SourceBench.document(required: "1.0").utf8).write(to: URL(filePath: file))
        let (isTaken, goesOn, isAsked) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        try bench.runner.start(
            .init(sources: [.init(app: SourceBench.app, kind: .launchGateFile(path: file))]),
            callbacks: .init(
                apply: { _, _ in
                    isTaken.signal()
                    goesOn.wait()
                }, inForceChanged: {}))
        #expect(isTaken.wait(timeout: .now() + 60) == .success)
        // On a thread of its own: the call waits for the source, which goes on below.
        let runner = bench.runner
        let asker = Thread {
            runner.askToStop()
            isAsked.signal()
        }
        asker.start()
        #expect(isAsked.wait(timeout: .now() + 60) == .success)
        goesOn.signal()
        bench.stop()
    }

    @Test("a source that is gone after a reload takes its fault along")
    func reload() throws {
        let server = try LocalServer { _ in Script.ok("") }
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
        }
        try bench.start([.launchGateURL(.init(url: server.address))])
        bench.wait("the fault is logged") { !$0.log.isEmpty }
        let file = bench.path("gate.json")
        try Data(SourceBench.document(required: "1.0").utf8).write(to: URL(filePath: file))
        bench.runner.reload(.init(sources: [.init(app: SourceBench.app, kind: .launchGateFile(path: file))]))
        bench.wait("the new source is read") { !$0.bumps.isEmpty }
        #expect(bench.runner.faults().isEmpty)
    }
}

@Suite("Sources beside others that hang, live", .ownThread)
struct SilentSourceTests {
    @Test("a file and a store are heard within two seconds beside fifty sources that hang")
    func besideSilence() throws {
        // The kernel takes connections into the backlog (listen(2)); nothing reads them.
        let (silence, port) = try Loopback.listen()
        let script = Script(Script.ok(LookupSample.body()))
        let server = try LocalServer(answer: script.answer)
        let bench = try SourceBench()
        defer {
            bench.stop()
            server.stop()
            close(silence)
        }
        let path = bench.path("launchgate.json")
        try Data(SourceBench.document(required: "1.0").utf8).write(to: URL(filePath: path))
        let hanging = (0..<50).map { LaunchGateURLSource(url: "http://127.0.0.1:\(port)/\($0)") }
        let store = AppStoreSource(trackID: nil, bundleID: SourceBench.app.app, server: server.address)
        let start = ContinuousClock.now
        try bench.start(
            hanging.map(VersionSource.Kind.launchGateURL) + [.launchGateFile(path: path), .appStore(store)])
        bench.wait("the file as it was at the start, and the store") {
            $0.bumps.contains { $0.required?.text == "1.0" } && $0.sources.contains("appStore")
        }
        #expect(ContinuousClock.now - start < .seconds(2))
        let change = ContinuousClock.now
        try Data(SourceBench.document(required: "2.0").utf8).write(to: URL(filePath: path))
        bench.wait("the file as it is now") { $0.bumps.contains { $0.required?.text == "2.0" } }
        #expect(ContinuousClock.now - change < .seconds(2))
    }
}
