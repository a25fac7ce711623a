// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Signing
import StorePeers
import Synchronization
import Testing
import UpgradeRules

@testable import VersionSources

@Suite("App Store Connect, live by TLS", .ownThread)
struct ConnectLiveTests {
    /// A source, its key and the server that it asks.
    private struct Ground {
        let key: ES256PrivateKey
        let server: ConnectStandIn
        let bench: SourceBench
        let name = "2X9R4HXF34"

        init(_ versions: [ConnectSample.Listed]) throws {
            key = try ES256PrivateKey.generate()
            server = try ConnectStandIn(keys: [name: key.publicKey]) { _ in .init(body: "") }
            bench = try SourceBench()
            show(versions)
        }

        var part: String { "\(bench.part)appStoreConnect" }
        var verdict: GateVerdict? {
            (try? Version("2.0")).flatMap { bench.runner.verdict(GateQuestion($0), of: SourceBench.app) }
        }

        /// Waits until the server has had so many questions in all.
        func waitForQuestions(_ count: Int) {
            #expect(server.wait(for: count), "asked \(server.questions.count) times")
        }

        func show(_ versions: [ConnectSample.Listed]) {
            let body = ConnectSample.page(versions, server: server.address)
            server.set { _ in .init(headers: ["X-Rate-Limit: user-hour-lim:3500;user-hour-rem:3499;"], body: body) }
        }

        func source(
            every: Duration = .milliseconds(30), key: ES256PrivateKey? = nil, issuer: String? = ConnectSample.issuer,
            name: String? = nil
        ) -> AppStoreConnectSource {
            let pem = (key ?? self.key).pem
            return ConnectSample.source(
                AppStoreConnectKey(issuerID: issuer, keyID: name ?? self.name, pem: pem), every: every,
                server: server.address, trusted: server.authority)
        }

        func stop() {
            bench.stop()
            server.stop()
        }
    }

    @Test("what is live raises latest, and only latest; a phased release that is paused holds the gate")
    func states() throws {
        let ground = try Ground([.init(version: "1.9"), .init(version: "2.0", state: "IN_REVIEW")])
        defer { ground.stop() }
        try ground.bench.start([.appStoreConnect(ground.source())])
        ground.bench.wait("1.9 is stored") { $0.bumps.count == 1 }
        #expect(ground.verdict?.reason.contains("App Store Connect says that 2.0 is IN_REVIEW") == true)
        let record = try #require(try ground.bench.store.version(of: SourceBench.app))
        #expect(record.latest?.text == "1.9" && record.required == nil)
        #expect(record.texts?.downloadURL == "https://apps.apple.com/app/id6446998023")
        #expect(ground.bench.seen.now.sources == ["appStoreConnect"])
        ground.show([.init(version: "2.0", phase: "PAUSED"), .init(version: "1.9", state: "REPLACED_WITH_NEW_VERSION")])
        ground.bench.wait("2.0 is stored") { $0.bumps.count == 2 }
        #expect(ground.verdict?.state == .closed)
        #expect(ground.verdict?.reason.contains("the phased release of 2.0 is paused") == true)
        ground.show([.init(version: "2.0", phase: "ACTIVE")])
        let asked = ground.server.questions.count
        ground.waitForQuestions(asked + 3)
        #expect(ground.verdict?.isOpen == true)
        #expect(ground.bench.runner.faults().isEmpty)
        // One token for all, and the request as it is documented.
        #expect(Set(ground.server.questions.map(\.token)).count == 1)
        #expect(ground.server.questions.allSatisfy { $0.refusal == nil })
        let target = try #require(ground.server.questions.first?.target)
        #expect(target.hasPrefix("/v1/apps/6446998023/appStoreVersions?filter%5Bplatform%5D=IOS&"))
        #expect(target.contains("&include=appStoreVersionPhasedRelease&"))
    }

    @Test("pages are followed, and a phased release that no page tells is asked for; 404 is none")
    func pages() throws {
        let ground = try Ground([])
        defer { ground.stop() }
        let address = ground.server.address
        let live = ConnectSample.Listed(version: "2.0", isIncluded: false)
        let first = ConnectSample.page(
            [.init(version: "2.1", state: "IN_REVIEW")], server: address,
            next: "\(address)/v1/apps/6446998023/appStoreVersions?cursor=AMg&limit=200")
        let second = ConnectSample.page([live], server: address)
        let isPaused = Mutex(false)
        ground.server.set { target in
            if target.contains("cursor=AMg") { return .init(body: second) }
            if target == "/v1/appStoreVersions/\(live.id)/appStoreVersionPhasedRelease" {
                return isPaused.withLock { $0 }
                    ? .init(body: ConnectSample.phase("PAUSED"))
                    : .init(
                        status: "404 Not Found",
                        body: ConnectSample.error(404, "NOT_FOUND", "The specified resource does not exist", ""))
            }
            return .init(body: first)
        }
        try ground.bench.start([.appStoreConnect(ground.source())])
        ground.bench.wait("2.0 is stored") { !$0.bumps.isEmpty }
        #expect(ground.verdict?.isOpen == true)
        isPaused.withLock { $0 = true }
        ground.waitForQuestions(ground.server.questions.count + 6)
        #expect(ground.verdict?.isOpen == false)
        #expect(ground.bench.runner.faults().isEmpty)
    }

    static let lies: [(String, ConnectStandIn.Answer, says: String)] = [
        ("an empty list", .init(body: ConnectSample.page([], server: "SERVER")), "no version that is live; 2.0"),
        ("an older one", .init(body: ConnectSample.page([.init(version: "1.9")], server: "SERVER")), "older than 2.0"),
        (
            "another app", .init(body: ConnectSample.page([.init(version: "3.0")], server: "SERVER", appID: 7)),
            "not for the app"
        ),
        ("a page of HTML", .init(body: "<!DOCTYPE html>"), "a page (HTML)"),
        ("nothing", .init(body: ""), "the answer is empty"),
        ("5 MB", .init(body: String(repeating: " ", count: 5 << 20)), "exceeds 2097152 bytes"),
        ("a redirect", .init(status: "302 Found", headers: ["Location: https://127.0.0.1:1/"], body: ""), "HTTP 302"),
        (
            "no right",
            .init(
                status: "403 Forbidden",
                body: ConnectSample.error(403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons", "")),
            "such as Developer"
        ),
        (
            "too often",
            .init(
                status: "429 Too Many Requests", headers: ["Retry-After: 1"],
                body: ConnectSample.error(429, "RATE_LIMIT_EXCEEDED", "The request rate limit has been reached.", "")),
            "asked again in 1 s"
        ),
        ("a failure", .init(status: "500 Internal Server Error", body: "{}"), "HTTP 500"),
    ]

    @Test(
        "an answer that fails or lies is reported once, changes nothing and closes nothing; recovery too",
        arguments: lies)
    func refused(_ name: String, _ answer: ConnectStandIn.Answer, _ says: String) throws {
        let ground = try Ground([.init(version: "2.0", phase: "ACTIVE")])
        defer { ground.stop() }
        try ground.bench.start([.appStoreConnect(ground.source())])
        ground.bench.wait("a good answer first") { !$0.bumps.isEmpty }
        var lie = answer
        lie.body = lie.body.replacing("SERVER", with: ground.server.address)
        let said = lie
        ground.server.set { _ in said }
        ground.bench.wait("the fault is logged") { $0.log.contains { $0.hasPrefix("a source of versions fails") } }
        #expect(ground.bench.runner.faults()[ground.part]?.contains(says) == true, "\(ground.bench.runner.faults())")
        #expect(ground.verdict?.isOpen == true)
        #expect(try ground.bench.store.version(of: SourceBench.app)?.latest?.text == "2.0")
        ground.show([.init(version: "2.1")])
        ground.bench.wait("the recovery is logged") {
            $0.log.contains { $0.hasPrefix("a source of versions is well again") }
        }
        #expect(ground.bench.runner.faults().isEmpty)
        #expect(ground.bench.seen.now.bumps.compactMap(\.latest?.text) == ["2.0", "2.1"])
        #expect(ground.bench.seen.now.log.count { $0.hasPrefix("a source of versions fails") } == 1)
        // The log holds no token.
        let token = try #require(ground.server.questions.first?.token)
        #expect(!ground.bench.seen.now.log.contains { $0.contains(token) || $0.contains("eyJ") })
    }

    @Test("a key that was revoked is told with its remedy; a reload brings another")
    func rotation() throws {
        let ground = try Ground([.init(version: "2.0")])
        defer { ground.stop() }
        try ground.bench.start([.appStoreConnect(ground.source())])
        ground.bench.wait("a good answer first") { !$0.bumps.isEmpty }
        let new = try ES256PrivateKey.generate()
        ground.server.set(keys: ["NEWKEY1234": new.publicKey])
        ground.bench.wait("the fault is logged") {
            $0.log.contains { $0.contains("the key 2X9R4HXF34 may be revoked") }
        }
        #expect(ground.verdict?.isOpen == true)
        // A key that is refused is tried with another token.
        let refused = ground.server.questions.count
        ground.waitForQuestions(refused + 3)
        #expect(Set(ground.server.questions.filter { $0.refusal != nil }.map(\.token)).count > 1)
        let source = ground.source(key: new, issuer: nil, name: "NEWKEY1234")
        ground.bench.runner.reload(.init(sources: [.init(app: SourceBench.app, kind: .appStoreConnect(source))]))
        ground.show([.init(version: "2.1")])
        ground.bench.wait("the new key's answer is taken") { $0.bumps.count == 2 }
        #expect(ground.bench.runner.faults().isEmpty)
        // The gate stayed open: the app's evidence was kept.
        #expect(ground.verdict?.isOpen == true)
    }

    @Test("a certificate that is not trusted is a fault")
    func untrusted() throws {
        let ground = try Ground([.init(version: "2.0")])
        defer { ground.stop() }
        var source = ground.source()
        source.egress.trustedCertificates = nil
        try ground.bench.start([.appStoreConnect(source)])
        ground.bench.wait("the fault is logged") { !$0.log.isEmpty }
        #expect(ground.bench.runner.faults()[ground.part] != nil)
        #expect(ground.server.questions.isEmpty)
    }

    @Test("others may ask what is live now; who is told of something asks at once")
    func now() throws {
        let ground = try Ground([.init(version: "2.0")])
        defer { ground.stop() }
        // This does not ask the lookup that is configured beside it.
        let lookup = try LocalServer { _ in LocalServer.response("500 Oops") }
        defer { lookup.stop() }
        try ground.bench.start([
            .appStoreConnect(ground.source(every: .seconds(86_400))),
            .appStore(
                AppStoreSource(trackID: 6_446_998_023, bundleID: nil, every: .seconds(86_400), server: lookup.address)),
        ])
        ground.bench.wait("the first answer") { !$0.bumps.isEmpty }
        #expect(ground.bench.runner.hasLookup(SourceBench.app))
        ground.show([.init(version: "2.1")])
        #expect(try ground.bench.runner.current(of: SourceBench.app)?.version.text == "2.1")
        ground.show([.init(version: "2.2")])
        ground.bench.runner.askNow(AppKey(app: "other", platform: .ios))
        ground.bench.runner.askNow(SourceBench.app)
        ground.bench.wait("it is asked at once") { $0.bumps.last?.latest?.text == "2.2" }
        let fault = ConnectSample.error(429, "RATE_LIMIT_EXCEEDED", "The request rate limit has been reached.", "")
        ground.server.set { _ in .init(status: "429 Too Many Requests", headers: ["Retry-After: 3600"], body: fault) }
        #expect(throws: SourceFault.self) { try ground.bench.runner.current(of: SourceBench.app) }
        let asked = ground.server.questions.count
        // The key is not used again, for any caller.
        #expect(throws: SourceFault.self) { try ground.bench.runner.current(of: SourceBench.app) }
        #expect(ground.server.questions.count == asked)
    }

    @Test("two sources that differ for a day are reported once, and when they agree again")
    func crossCheck() throws {
        let bench = try SourceBench()
        defer { bench.stop() }
        let app = SourceBench.app
        let plan = SourceRunner.Plan(sources: [
            .init(app: app, kind: .appStore(AppStoreSource(trackID: 1, bundleID: nil))),
            .init(app: app, kind: .appStoreConnect(ConnectSample.source())),
        ])
        // Without its thread, whose own loop would adopt its plan at a moment of its own.
        bench.runner.adopt(plan)
        var loop = SourceLoop(
            runner: bench.runner, callbacks: .init(apply: { _, _ in }, inForceChanged: {}), plan: plan)
        func look(_ hour: Int64, _ lookup: String, _ exact: String) throws {
            let asked = Timestamp(seconds: 1_784_000_000 + hour * 3600)
            bench.runner.status.note(
                .appStore(
                    LookupEvidence(
                        askedAt: asked, version: try Version(lookup), releasedAt: nil, firstShownAt: asked)), of: app)
            bench.runner.status.note(
                .appStoreConnect(
                    .init(
                        askedAt: asked,
                        releases: [.init(version: try Version(exact), state: AppStoreConnectEvidence.Release.live)])),
                of: app)
            loop.crossCheck(app)
        }
        let part = "\(bench.part)crossCheck"
        try look(0, "1.9", "2.0")
        #expect(bench.runner.faults().isEmpty)
        try look(24, "1.9", "2.0")
        try look(25, "1.9", "2.0")
        #expect(bench.runner.faults()[part]?.contains("has shown 1.9; App Store Connect decides") == true)
        #expect(
            bench.runner.figures().first { $0.name == "crossCheck" }.map { [$0.failures, $0.isFailing ? 1 : 0] } == [
                1, 1,
            ])
        #expect(bench.seen.now.log.count { $0.hasPrefix("two sources of one store disagree") } == 1)
        // The exact one decides all the same.
        #expect(bench.runner.verdict(GateQuestion(try Version("2.0")), of: app)?.isOpen == true)
        try look(26, "2.0", "2.0")
        #expect(bench.runner.faults().isEmpty)
        #expect(bench.seen.now.log.last?.hasPrefix("two sources of one store agree again") == true)
    }

    @Test("where both are asked, App Store Connect decides, and a difference is no fault within a day")
    func both() throws {
        let ground = try Ground([.init(version: "2.0")])
        defer { ground.stop() }
        let lookup = try LocalServer { _ in
            LocalServer.response("200 OK", body: LookupSample.body(version: "1.9"))
        }
        defer { lookup.stop() }
        try ground.bench.start([
            .appStore(
                AppStoreSource(
                    trackID: nil, bundleID: SourceBench.app.app, every: .milliseconds(20), server: lookup.address)),
            .appStoreConnect(ground.source()),
        ])
        ground.bench.wait("2.0 is stored") { $0.bumps.contains { $0.latest?.text == "2.0" } }
        #expect(ground.verdict?.isOpen == true)
        #expect(ground.bench.runner.faults().isEmpty)
        #expect(ground.bench.runner.figures().map(\.name) == ["appStore", "appStoreConnect", "crossCheck"])
        // Without the lookup there is nothing to check.
        ground.bench.runner.reload(
            .init(sources: [.init(app: SourceBench.app, kind: .appStoreConnect(ground.source(every: .seconds(3600))))]))
        ground.show([.init(version: "2.3")])
        ground.bench.wait("the reload is taken") { $0.bumps.contains { $0.latest?.text == "2.3" } }
        #expect(ground.bench.runner.figures().map(\.name) == ["appStoreConnect"])
    }
}
