// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import StorePeers
import TestPeers
import Testing
import UpgradeRules
import VersionSources

/// A runner that asks a stand-in for Google over TLS.
private final class PlayBench: Sendable {
    static let app = AppKey(app: "com.example.app", platform: .android)

    let bench: SourceBench
    let google: PlayStandIn

    init() throws {
        let bench = try SourceBench()
        self.bench = bench
        // Conditions are looked at again after each answer.
        google = try PlayStandIn { bench.seen.change { _ in } }
    }

    func start(minimumFraction: Double = 1, _ kind: VersionSource.Kind? = nil) throws {
        try bench.start(plan(minimumFraction, try kind ?? google.source()))
    }

    func plan(_ minimumFraction: Double = 1, _ kind: VersionSource.Kind) -> SourceRunner.Plan {
        .init(
            sources: [VersionSource(app: Self.app, kind: kind)],
            rules: [Self.app: .init(minimumFraction: minimumFraction)])
    }

    func stop() {
        bench.stop()
        google.stop()
    }

    func require(_ version: String, build: Int64?) throws {
        var bump = VersionBump(app: Self.app, required: try Version(version))
        bump.builds.required = build
        _ = try bench.store.apply(
            bump, actor: "test", source: "test", at: SourceBench.now(), draft: nil,
            waitingReason: "waiting for its store", receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
    }

    func verdict(_ version: String = "2.0.0", build: Int64? = 200) -> GateVerdict? {
        (try? Version(version)).flatMap { bench.runner.verdict(GateQuestion($0, build: build), of: Self.app) }
    }

    /// The offer of 2.0.0 to a user whose country is not known.
    var offer: StoreOffer? {
        (try? Version("2.0.0")).map {
            bench.runner.offer(
                GateQuestion($0, build: 200), of: Self.app, to: AudienceCountries(hasUnknown: true))
        }
    }

    var inForce: String? { (try? bench.store.version(of: Self.app))?.inForce.required?.text }

    var fault: String? { bench.runner.faults()["source:com.example.app/android:googlePlay"] }

    func publish(_ summaries: String..., track: String) {
        google.change { state in
            state.list.body = "{ \"releases\": [ \(summaries.joined(separator: ",")) ] }"
            state.track.body = track
        }
    }

    func publishOld() {
        publish(
            PlaySample.summary("1.9.0", [190]), track: PlaySample.track(PlaySample.rollout("1.9.0", [190], "completed"))
        )
    }

    func roll(_ status: String, _ fraction: Double?) {
        publish(
            PlaySample.summary("200 (2.0.0)", [200]), PlaySample.summary("1.9.0", [190]),
            track: PlaySample.track(
                PlaySample.rollout("200 (2.0.0)", [200], status, fraction),
                PlaySample.rollout("1.9.0", [190], "completed")))
    }
}

@Suite("Google Play as a source, live", .ownThread)
struct PlayLiveTests {
    @Test("a completed release raises latest with its code, opens the gate, and most polls take no edit")
    func completed() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publishOld()
        try play.require("2.0.0", build: 200)
        try play.start()
        play.bench.wait("the track was read") { _ in play.verdict()?.reason.contains("version code 190") == true }
        #expect(play.verdict()?.state == .closed)
        #expect(play.offer?.answer == .notYet && play.offer?.askedAt != nil)
        play.publish(
            PlaySample.summary("200 (2.0.0)", [200]),
            track: PlaySample.track(PlaySample.rollout("200 (2.0.0)", [199, 200], "completed")))
        play.bench.wait("the gate opens") { _ in play.verdict()?.isOpen == true }
        #expect(play.offer?.answer == .yes)
        play.publish(
            PlaySample.summary("210 (2.1.0)", [210]),
            track: PlaySample.track(PlaySample.rollout("210 (2.1.0)", [210], "completed")))
        play.bench.wait("latest rises") { $0.bumps.contains { $0.latest?.text == "2.1.0" } }
        let record = try #require(try play.bench.store.version(of: PlayBench.app))
        #expect(record.latest?.text == "2.1.0" && record.requirements.latest?.build == 210)
        #expect(record.required?.text == "2.0.0" && record.requirements.required?.build == 200)
        #expect(record.texts?.downloadURL == "https://play.google.com/store/apps/details?id=com.example.app")
        #expect(Set(play.bench.seen.now.sources) == ["googlePlay"])
        let lists = play.google.count(.list)
        play.bench.wait("five polls without news") { _ in play.google.count(.list) >= lists + 5 }
        play.bench.runner.stop()
        let google = play.google.now
        // By the clock, a wanted version's rollout is read at every sixth poll; a busy machine polls later (`PlayMachineTests`).
        let edits = google.counts[.open] ?? 0
        #expect(edits >= 3 && edits < play.google.count(.list), "one for each release, and none for most polls")
        #expect(google.counts[.delete] == edits && google.openEdits.isEmpty)
        #expect(google.counts[.token] == 1, "one token serves all of them")
        #expect(google.complaints == [])
        #expect(play.fault == nil)
    }

    @Test("a halt is heard within two seconds beside fifty sources that hang")
    func besideSilence() throws {
        // The kernel takes connections into the backlog (listen(2)); nothing reads them.
        let (silence, port) = try Loopback.listen()
        defer { close(silence) }
        let play = try PlayBench()
        defer { play.stop() }
        try play.require("2.0.0", build: 200)
        play.roll("inProgress", 0.5)
        var plan = play.plan(0.5, try play.google.source())
        plan.sources += (0..<50).map {
            VersionSource(
                app: SourceBench.app, kind: .launchGateURL(.init(url: "http://127.0.0.1:\(port)/\($0)")))
        }
        try play.bench.start(plan)
        play.bench.wait("50 %") { _ in play.inForce == "2.0.0" }
        let halt = ContinuousClock.now
        play.roll("halted", 0.5)
        play.bench.wait("halted") { _ in play.inForce == nil }
        #expect(ContinuousClock.now - halt < .seconds(2))
    }

    @Test("a staged rollout puts the requirement in force at its fraction, and a halt takes it out until it goes on")
    func staged() throws {
        let play = try PlayBench()
        defer { play.stop() }
        try play.require("2.0.0", build: 200)
        play.roll("inProgress", 0.1)
        try play.start(minimumFraction: 0.5)
        play.bench.wait("10 %") { _ in play.verdict()?.reason.contains("to 10 % of users; waiting for 50 %") == true }
        // The list stays as it is.
        #expect(play.inForce == nil)
        play.roll("inProgress", 0.5)
        play.bench.wait("50 %") { _ in play.inForce == "2.0.0" }
        #expect(play.offer?.answer == .unknown, "it is in force, and half of the users cannot get it")
        play.roll("halted", 0.5)
        play.bench.wait("halted") { _ in play.verdict()?.state == .halted && play.inForce == nil }
        #expect(play.verdict()?.reason.contains("the rollout of 2.0.0 (version code 200) is halted") == true)
        play.roll("inProgress", 0.6)
        play.bench.wait("it goes on") { _ in play.inForce == "2.0.0" }
        // 1.9.0 is offered to all users.
        #expect(play.bench.seen.now.bumps.allSatisfy { $0.latest?.text != "2.0.0" })
        // A slow machine may have asked no more often than the track has changed.
        play.bench.wait("a look that finds no change") { _ in
            let counts = play.google.now.counts
            return (counts[.list] ?? 0) > (counts[.open] ?? 0)
        }
        play.bench.runner.stop()
        let google = play.google.now
        let edits = google.counts[.open] ?? 0
        #expect(edits >= 4 && google.counts[.delete] == edits && google.openEdits.isEmpty)
        #expect((google.counts[.list] ?? 0) > edits)
    }

    @Test("what is in review is not offered, whatever its edit says")
    func review() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publish(
            PlaySample.summary("2.0.0", [200], "IN_REVIEW"), PlaySample.summary("1.9.0", [190]),
            track: PlaySample.track(
                PlaySample.rollout("2.0.0", [200], "completed"), PlaySample.rollout("1.9.0", [190], "completed")))
        try play.start()
        play.bench.wait("in review") { _ in play.verdict()?.reason.contains("is IN_REVIEW") == true }
        #expect(play.verdict()?.state == .closed)
        #expect(play.bench.seen.now.bumps.allSatisfy { $0.latest?.text != "2.0.0" })
    }

    @Test("what is offered in some countries waits for the others, for devices that tell where they are, or for nobody")
    func countries() throws {
        let play = try PlayBench()
        defer { play.stop() }
        try play.require("2.0.0", build: 200)
        let store = play.bench.store
        var device = DeviceRegistration(app: PlayBench.app, token: "one", telephone: "1", version: try Version("1.9.0"))
        _ = try store.register([device], at: SourceBench.now())
        play.publish(
            PlaySample.summary("200 (2.0.0)", [200]), PlaySample.summary("1.9.0", [190]),
            track: PlaySample.track(
                PlaySample.rollout(
                    "200 (2.0.0)", [200], "inProgress", 1, more: #""countryTargeting": { "countries": ["DE", "AT"] },"#),
                PlaySample.rollout("1.9.0", [190], "completed")))
        try play.start()
        play.bench.wait("unknown") { _ in
            play.verdict()?.reason.contains("AT, DE alone, and devices whose country is not known could not get it")
                == true
        }
        #expect(play.inForce == nil)
        device.country = "FR"
        _ = try store.register([device], at: SourceBench.now())
        play.bench.wait("elsewhere") { _ in play.verdict()?.reason.contains("and devices in FR could not") == true }
        #expect(play.inForce == nil)
        device.country = "AT"
        _ = try store.register([device], at: SourceBench.now())
        play.bench.wait("there") { _ in play.inForce == "2.0.0" }
        let row = try #require(try store.version(of: PlayBench.app)?.requirements.required)
        let warnings = play.bench.runner.warnings(of: row, PlayBench.app)
        #expect(
            warnings.count == 1 && warnings[0].contains("(version code 200) has inAppUpdatePriority 0"), "\(warnings)")
    }

    @Test("the system that a release's name says is that of what is required, unless a person has said another")
    func systems() throws {
        let play = try PlayBench()
        defer { play.stop() }
        try play.require("2.0.0", build: 200)
        play.publish(
            PlaySample.summary("2.0.0 (API 29)", [200]), PlaySample.summary("1.9.0", [190]),
            track: PlaySample.track(
                PlaySample.rollout("2.0.0 (API 29)", [200], "inProgress", 0.1),
                PlaySample.rollout("1.9.0", [190], "completed")))
        guard case .googlePlay(var source) = try play.google.source() else { return }
        source.namePattern = try TagPattern(#"^(\d+(?:\.\d+)+)"#)
        source.minimumOSPattern = try TagPattern(#"API (\d+)"#)
        try play.start(.googlePlay(source))
        func minimum() -> String? {
            (try? play.bench.store.version(of: PlayBench.app))?.requirements.required?.minimumOS?.text
        }
        play.bench.wait("API 29") { seen in seen.bumps.contains { $0.minimumOS == .set(try? Version("29")) } }
        #expect(play.bench.seen.now.bumps.allSatisfy { $0.latest?.text != "2.0.0" && $0.required == nil })
    }

    struct Lie: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var route: PlayStandIn.Route
        var answer: PlayStandIn.Answer
        /// A part of the fault's text.
        var says: String
    }

    private static func wrong(
        _ name: String, _ route: PlayStandIn.Route, _ status: String, _ body: String, says: String
    ) -> Lie {
        Lie(testDescription: name, route: route, answer: .init(status: status, body: body), says: says)
    }

    static let lies = [
        wrong("500", .list, "500 Oops", "", says: "Google Play answers HTTP 500"),
        wrong("HTML", .list, "200 OK", "<!DOCTYPE html>", says: "a page (HTML)"),
        wrong("an empty track", .list, "200 OK", "{}", says: "where it listed version code 200 before"),
        wrong(
            "no such track", .list, "404 Not Found",
            PlaySample.error(404, "NOT_FOUND", "Track not found.", reason: "notFound"),
            says: "where it listed version code 200 before"),
        wrong("a page of 404", .list, "404 Not Found", "<html>", says: "HTTP 404"),
        wrong(
            "no such app", .list, "404 Not Found",
            PlaySample.error(404, "NOT_FOUND", "Package not found: com.example.app.", reason: "applicationNotFound"),
            says: "is the packageName right"),
        wrong(
            "not invited", .list, "403 Forbidden",
            PlaySample.error(403, "PERMISSION_DENIED", "The caller does not have permission", reason: "forbidden"),
            says: "invite it in Play Console under Users and permissions"),
        wrong(
            "not enabled", .list, "403 Forbidden",
            PlaySample.error(403, "PERMISSION_DENIED", "has not been used in project 1", reason: "accessNotConfigured"),
            says: "the Google Play Android Developer API is not enabled"),
        wrong(
            "a token that never does", .list, "401 Unauthorized", "", says: "does not take the service account's token"),
        wrong("no permission for edits", .open, "403 Forbidden", "{}", says: "invite it in Play Console"),
        wrong("an edit without an id", .open, "200 OK", "{}", says: "has no \"id\""),
        wrong(
            "another edit at the same time", .open, "409 Conflict",
            PlaySample.error(409, "ABORTED", "Try again.", reason: "concurrentUpdate"), says: "ABORTED, Try again."),
        wrong("500 inside an edit", .track, "500 Oops", "", says: "HTTP 500"),
        wrong(
            "nonsense inside an edit", .track, "200 OK", #"{"releases":[{"versionCodes":["1"],"status":"gone"}]}"#,
            says: "not completed, inProgress, halted or draft"),
        wrong("another track inside an edit", .track, "200 OK", "{}", says: "its edit does not have it"),
    ]

    @Test(
        "an answer that fails or lies is reported once, changes nothing, closes nothing and leaves no edit",
        arguments: lies)
    func lie(_ lie: Lie) throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publish(
            PlaySample.summary("2.0.0", [200]), track: PlaySample.track(PlaySample.rollout("2.0.0", [200], "completed"))
        )
        try play.start()
        play.bench.wait("a good answer first") { _ in play.verdict()?.isOpen == true }
        // A change in the list, so that an edit is needed.
        play.publish(
            PlaySample.summary("2.1.0", [210]), track: PlaySample.track(PlaySample.rollout("2.1.0", [210], "completed"))
        )
        play.google.change { $0.instead[lie.route] = lie.answer }
        play.bench.wait("the fault is logged") { $0.log.contains { $0.hasPrefix("a source of versions fails") } }
        #expect(play.fault?.contains(lie.says) == true, "\(play.fault ?? "none")")
        #expect(play.verdict()?.isOpen == true)
        let asked = play.google.count(lie.route)
        play.bench.wait("it is asked on") { _ in play.google.count(lie.route) > asked + 2 }
        #expect(play.google.now.complaints == [])
        play.google.change { $0.instead = [:] }
        play.bench.wait("the recovery is logged") { $0.log.contains { $0.hasPrefix("a source of versions is well") } }
        #expect(play.fault == nil)
        #expect(play.bench.seen.now.log.count { $0.hasPrefix("a source of versions fails") } == 1)
        #expect(try play.bench.store.version(of: PlayBench.app)?.latest?.text == "2.1.0")
        play.bench.runner.stop()
        #expect(play.google.now.openEdits.isEmpty)
    }

    @Test("an edit that could not be deleted is deleted later")
    func leftover() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publishOld()
        play.google.change { $0.instead[.delete] = .init(status: "503 Service Unavailable") }
        try play.start()
        play.bench.wait("it failed") { _ in
            play.google.count(.delete) >= 1 && play.verdict("1.9.0", build: 190)?.isOpen == true
        }
        #expect(play.google.now.openEdits.count == 1)
        play.google.change { $0.instead = [:] }
        play.bench.wait("it is gone") { _ in play.google.now.openEdits.isEmpty }
        #expect(play.google.count(.open) == 1)
    }

    @Test("a token is exchanged before it ends, and at once where it is not taken")
    func expiry() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publishOld()
        play.google.change { $0.lifetime = 1 }
        try play.start()
        play.bench.wait("a third token") { _ in play.google.count(.token) >= 3 }
        play.google.change { $0.lifetime = 3599 }
        let before = play.google.count(.token)
        play.bench.wait("a long one") { _ in play.google.count(.token) > before }
        // Google forgets it.
        play.google.change { $0.tokens = [] }
        play.bench.wait("another one") { _ in !play.google.now.tokens.isEmpty }
        let lists = play.google.count(.list)
        play.bench.wait("it serves") { _ in play.google.count(.list) > lists + 2 }
        #expect(play.bench.seen.now.log.allSatisfy { !$0.contains("fails") })
        #expect(play.verdict("1.9.0", build: 190)?.isOpen == true)
    }

    @Test("a key that Google does not know is a fault with its remedy, and Google is not asked at each poll")
    func invalidGrant() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.publishOld()
        let stranger = try RS256PrivateKey.generate()
        try play.start(try play.google.source(key: stranger))
        play.bench.wait("the fault is logged") {
            $0.log.contains { $0.contains("the key was deleted, or is of another") }
        }
        #expect(play.fault?.contains("invalid_grant: Invalid JWT Signature.") == true)
        let reason = try #require(play.verdict()?.reason)
        #expect(reason.contains(" fails: ") && reason.contains("invalid_grant"), "\(reason)")
        #expect(play.google.count(.token) == 1 && play.google.count(.list) == 0)
        // The right key, and a reload.
        play.bench.runner.reload(play.plan(1, try play.google.source()))
        play.bench.wait("it is well") { _ in play.verdict("1.9.0", build: 190)?.isOpen == true }
        #expect(play.fault == nil)
        #expect(play.bench.seen.now.log.allSatisfy { !$0.contains("PRIVATE KEY") && !$0.contains("token-") })
    }

    @Test("a track that was never used is empty")
    func unused() throws {
        let play = try PlayBench()
        defer { play.stop() }
        play.google.change {
            $0.list = .init(
                status: "404 Not Found",
                body: PlaySample.error(404, "NOT_FOUND", "Track not found.", reason: "notFound"))
        }
        try play.start()
        play.bench.wait("empty") { _ in play.verdict()?.reason.contains("is empty") == true }
        #expect(play.google.count(.open) == 0 && play.fault == nil)
    }
}
