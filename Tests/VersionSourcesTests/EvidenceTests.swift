// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import TestStores
import Testing
import Threading
import UpgradeRules

@testable import VersionSources

/// The stores' answers outlive the process: lives of the sources one after the other on one store, by the test's clock.
@Suite("What the app stores said before a restart") struct EvidenceTests {
    /// A stand-in for the App Store's lookup and for a track of Google Play.
    private final class Script: SourceQuestions {
        struct State {
            var now = Timestamp(seconds: 1_800_000_000)
            /// The version that the lookup shows, undated; empty: it does not answer.
            var version = "2.0"
            var isHalted = false
            var log: [String] = []
        }

        let state = Mutex(State())

        func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault> {
            guard let version = try? Version(state.withLock { $0.version }) else {
                return .failure(SourceFault("nobody there"))
            }
            return .success(AppStoreEntry(listing: StoreListing(version: version)))
        }

        func connect(
            _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
        ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?) {
            (.failure(SourceFault("nobody there")), nil)
        }

        func document(
            _: LaunchGateURLSource, since validators: SourceDocument.Validators
        ) throws(SourceFault) -> SourceDocument { throw SourceFault("nobody there") }

        func file(_ path: String) throws(SourceFault) -> [UInt8] { throw SourceFault("no file") }

        func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault> {
            guard state.withLock({ !$0.version.isEmpty }) else { return .failure(SourceFault("nobody there")) }
            return .success([GooglePlaySummary(name: "2.0", builds: [200], lifecycle: "PUBLISHED")])
        }

        func rollouts(
            of source: GooglePlaySource
        ) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?) {
            let rollout = GooglePlayRollout(
                name: "2.0", builds: [200], status: state.withLock { $0.isHalted } ? .halted : .completed, fraction: 1)
            return (.success([rollout]), nil)
        }

        func discard(_ edit: String, of source: GooglePlaySource) -> Bool { true }

        func keep(_ sources: [VersionSource]) {}
    }

    /// One life of the process.
    private struct Life {
        let runner: SourceRunner
        var loop: SourceLoop

        mutating func turn() { _ = loop.turn([]) }
    }

    private let script = Script()
    private let bench: SourceBench
    private let app = SourceBench.app
    private static let lookup = AppStoreSource(trackID: 1, bundleID: nil)

    init() throws { bench = try SourceBench() }

    private func plan(_ kind: VersionSource.Kind, hold: Duration = .seconds(86_400)) -> SourceRunner.Plan {
        .init(sources: [VersionSource(app: app, kind: kind)], rules: [app: .init(hold: hold)])
    }

    private func live(
        _ kind: VersionSource.Kind = .appStore(lookup), hold: Duration = .seconds(86_400)
    ) throws -> Life {
        let (script, store) = (script, bench.store)
        let runner = try SourceRunner(
            store: store,
            log: .init(minimum: .debug) { _, message, fields in
                let line = "\(message)" + fields.map { " \($0.name)=\($0.value)" }.joined()
                script.state.withLock { $0.log.append(line) }
            }, clock: { script.state.withLock { $0.now } }, questions: script, rest: { _ in })
        let plan = plan(kind, hold: hold)
        runner.adopt(plan)
        let callbacks = SourceRunner.Callbacks(
            apply: { bump, source in
                _ = try store.apply(
                    bump, actor: source, source: source, at: script.state.withLock { $0.now }, draft: nil, receipt: nil
                ) { _ in StoredAnswer(status: 200, body: []) }
            }, inForceChanged: {})
        return Life(runner: runner, loop: SourceLoop(runner: runner, callbacks: callbacks, plan: plan))
    }

    private var now: Timestamp { script.state.withLock { $0.now } }
    private func pass(_ time: Duration) { script.state.withLock { $0.now = $0.now + time } }
    private func show(_ version: String) { script.state.withLock { $0.version = version } }
    private var said: [String] {
        script.state.withLock { state in
            state.log.filter { $0.contains("what an app store said") || $0.contains("what the app stores") }
        }
    }

    private func verdict(_ life: Life, _ version: String = "2.0") throws -> GateVerdict {
        try #require(life.runner.verdict(GateQuestion(Version(version)), of: app))
    }

    private func require(_ version: String) throws {
        try bench.store.administer(
            """
            INSERT INTO version(app, platform, required, download_url)
                VALUES ('\(app.app)', '\(app.platform.rawValue)', '\(version)', 'https://a.example')
                ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required, download_url = excluded.download_url
            """)
    }

    private var inForce: Version? {
        get throws { try bench.store.versions().first { $0.app == app }?.inForce.required }
    }

    @Test func `A hold of a day goes on over restarts, however many`() throws {
        defer { bench.stop() }
        let end = now + .seconds(86_400)
        var life = try live()
        life.turn()
        try require("2.0")
        _ = life.loop.turn([.poke])
        #expect(try verdict(life).state == .held(until: end))
        for _ in 0..<2 {
            pass(.seconds(11 * 3600))
            life = try live()
            #expect(try verdict(life).state == .held(until: end), "before it was asked")
            life.turn()
            #expect(try verdict(life).state == .held(until: end))
            #expect(try inForce == nil)
        }
        pass(.seconds(2 * 3600))
        life = try live()
        life.turn()
        #expect(try inForce == Version("2.0"))
        #expect(said.isEmpty)
    }

    @Test func `A relay that begins to lead goes on with what the one before it has heard`() throws {
        defer { bench.stop() }
        let end = now + .seconds(86_400)
        let membership = bench.store.membership
        membership.beginFleet { MonotonicTime(nanoseconds: 0) }
        let (node, _) = try bench.store.join(NodeDescription(name: "a", release: "test"), for: .seconds(60))
        membership.note(node, trustedUntil: MonotonicTime(nanoseconds: 1 << 60))
        var next = try live()
        membership.note(leads: true)
        var leader = try live()
        leader.turn()
        #expect(try verdict(leader).state == .held(until: end))
        // It has no answer of its own.
        show("")
        pass(.seconds(3600))
        next.turn()
        #expect(try verdict(next).state == .held(until: end))
    }

    @Test func `A relay that leads again asks the store at once`() throws {
        defer { bench.stop() }
        let membership = bench.store.membership
        membership.beginFleet { MonotonicTime(nanoseconds: 0) }
        let (node, _) = try bench.store.join(NodeDescription(name: "a", release: "test"), for: .seconds(60))
        membership.note(node, trustedUntil: MonotonicTime(nanoseconds: 1 << 60))
        membership.note(leads: true)
        var life = try live(hold: .zero)
        life.turn()
        #expect(try verdict(life).isOpen)
        membership.note(leads: false)
        life.turn()
        membership.note(leads: true)
        pass(.seconds(60))
        // Its own next question is hours away, and until then the answer would be one from before.
        life.turn()
        life.turn()
        #expect(try verdict(life).isOpen)
    }

    @Test func `Another version begins another hold, also after a restart`() throws {
        defer { bench.stop() }
        var life = try live()
        life.turn()
        pass(.seconds(3600))
        show("2.1")
        life = try live()
        life.turn()
        #expect(try verdict(life).state == .held(until: now + .seconds(86_400)))
    }

    @Test func `After a restart beside a store that does not answer, all is known that was known before`() throws {
        defer { bench.stop() }
        var life = try live(hold: .zero)
        life.turn()
        #expect(try verdict(life).isOpen)
        let before = try verdict(life, "2.1")
        #expect(before.reason.contains("it shows 2.0, last asked at"))
        show("")
        pass(.seconds(60))
        life = try live(hold: .zero)
        #expect(life.runner.offered(of: app) == (try Version("2.0")))
        #expect(try verdict(life, "2.1") == before)
        // The store may answer otherwise now: its answer to an earlier life forces no user.
        #expect(try verdict(life).state == .closed)
        let reason = try verdict(life).reason
        #expect(reason.hasPrefix("waiting until the App Store answers; before the relay started: the App"), "\(reason)")
        life.turn()
        #expect(try verdict(life).isOpen, "as without the restart")
    }

    @Test func `A rollout that was halted while the relay was down lets nobody through`() throws {
        defer { bench.stop() }
        let play = VersionSource.Kind.googlePlay(GooglePlaySource(packageName: "com.example.app"))
        var life = try live(play)
        for _ in 0..<2 { life.turn() }
        #expect(try verdict(life).isOpen)
        script.state.withLock { $0.isHalted = true }
        try require("2.0")
        life = try live(play)
        for _ in 0..<3 {
            life.turn()
            #expect(try inForce == nil)
        }
        #expect(try verdict(life).state == .halted)
    }

    @Test func `What another app, country or track offers is not believed, and forgotten`() throws {
        defer { bench.stop() }
        let others = [
            AppStoreSource(trackID: 2, bundleID: nil), AppStoreSource(trackID: 1, bundleID: "a"),
            AppStoreSource(trackID: 1, bundleID: nil, country: "de"),
            AppStoreSource(trackID: 1, bundleID: nil, server: "https://other.example"),
        ].map { VersionSource.Kind.appStore($0) }
        let tracks = [
            GooglePlaySource(packageName: "com.example.app"), GooglePlaySource(packageName: "com.example.b"),
            GooglePlaySource(packageName: "com.example.app", track: "beta"),
            GooglePlaySource(packageName: "com.example.app", namePattern: .standard),
        ].map { VersionSource.Kind.googlePlay($0) }
        #expect(Set(([.appStore(Self.lookup)] + others + tracks).map(\.query)).count == 9)
        for other in others + tracks {
            var life = try live()
            life.turn()
            #expect(try bench.store.evidence().map(\.key.kind) == [.appStore])
            show("")
            life = try live(other)
            #expect(life.runner.offered(of: app) == nil)
            #expect(try verdict(life).reason.contains("has not answered yet"))
            life.turn()
            #expect(try bench.store.evidence() == [])
            show("2.0")
        }
        #expect(said.isEmpty)
    }

    @Test func `An answer to what is not asked any more says nothing`() throws {
        defer { bench.stop() }
        let life = try live()
        let evidence = LookupEvidence(askedAt: now, version: try Version("3.0"), releasedAt: nil, firstShownAt: now)
        life.runner.status.note(.appStore(evidence), of: app, asked: "https://itunes.apple.com/lookup?id=2")
        #expect(life.runner.offered(of: app) == nil)
        life.runner.status.note(.appStore(evidence), of: app, asked: Self.lookup.query)
        #expect(life.runner.offered(of: app) == (try Version("3.0")))
    }

    @Test func `A source that leaves the configuration takes along what it said`() throws {
        defer { bench.stop() }
        var life = try live()
        life.turn()
        #expect(try bench.store.evidence().count == 1)
        life.runner.reload(.init(sources: [], rules: [app: .init()]))
        _ = life.loop.turn(life.runner.mailbox.take())
        #expect(try bench.store.evidence() == [])
    }

    @Test func `A row that cannot be read is named, not believed, and replaced by the next answer`() throws {
        defer { bench.stop() }
        var life = try live()
        life.turn()
        try bench.store.administer("UPDATE source_evidence SET said = '{\"version\":\"many\"}'")
        let damaged = try bench.store.evidence()
        show("")
        life = try live()
        #expect(
            said == [
                "what an app store said cannot be read from the relay's store: it is asked anew app=\(app.app) platform=ios "
                    + "source=appStore reason=version is \"many\", not a version such as \"2.1.0\""
            ])
        #expect(life.runner.offered(of: app) == nil)
        life.turn()
        #expect(try bench.store.evidence() == damaged)
        show("2.0")
        pass(.seconds(3600))
        life.turn()
        #expect(try bench.store.evidence().first?.said.hasPrefix(#"{"version":"2.0","firstShownAt":"#) == true)
    }

    @Test func `The same again is written once an hour, and what is new at once`() throws {
        defer { bench.stop() }
        let start = now
        var life = try live()
        func asked() throws -> Timestamp? { try bench.store.evidence().first?.askedAt }
        life.turn()
        #expect(try asked() == start)
        for quarter in 1...3 {
            pass(.seconds(900))
            life.turn()
            #expect(try asked() == start, "\(quarter)")
        }
        pass(.seconds(900))
        life.turn()
        #expect(try asked() == start + .seconds(3600))
        pass(.seconds(900))
        show("2.1")
        life.turn()
        #expect(try asked() == start + .seconds(4500))
    }

    @Test func `While the relay's store refuses the sources go on, and it is tried again`() throws {
        defer { bench.stop() }
        try bench.store.administer(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON source_evidence
                BEGIN SELECT RAISE(ABORT, 'not today'); END;
            """)
        let end = now + .seconds(86_400)
        var life = try live()
        for _ in 0..<3 { life.turn() }
        #expect(try bench.store.version(of: app)?.latest == Version("2.0"), "the source has raised it")
        #expect(life.runner.faults()["evidence"]?.contains("not today") == true)
        #expect(said.count == 1)
        try bench.store.administer("DROP TRIGGER refuse")
        life.turn()
        #expect(try bench.store.evidence() == [])
        pass(.seconds(30))
        life.turn()
        #expect(try bench.store.evidence().count == 1)
        #expect(life.runner.faults().isEmpty)
        #expect(said.last == "the store keeps again what the app stores say")
        life = try live()
        #expect(try verdict(life).state == .held(until: end))
    }

    @Test func `What could not be read at the start is read later, and nothing of it is lost meanwhile`() throws {
        defer { bench.stop() }
        let end = now + .seconds(86_400)
        var life = try live()
        life.turn()
        try bench.store.administer("ALTER TABLE source_evidence RENAME TO elsewhere")
        pass(.seconds(3600))
        life = try live()
        life.turn()
        #expect(life.runner.faults()["evidence"]?.hasPrefix("what the app stores said before the start") == true)
        #expect(try verdict(life).state == .held(until: now + .seconds(86_400)), "it knows no better")
        try bench.store.administer("ALTER TABLE elsewhere RENAME TO source_evidence")
        pass(.seconds(30))
        life.turn()
        #expect(try verdict(life).state == .held(until: end))
        #expect(try StoreEvidence(.appStore, said: bench.store.evidence()[0].said, askedAt: now).askedAt == now)
        life = try live()
        #expect(try verdict(life).state == .held(until: end))
    }

    @Test func `A hold that began while the clock was ahead ends a day after it was right`() throws {
        defer { bench.stop() }
        pass(.seconds(365 * 86_400))
        var life = try live()
        life.turn()
        pass(.seconds(-365 * 86_400))
        life = try live()
        life.turn()
        #expect(try verdict(life).state == .held(until: now + .seconds(86_400)))
    }
}
