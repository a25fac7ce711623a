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

/// The sources without thread, network and disk: turn by turn, by the test's clock.
@Suite struct SourceTurnTests {
    /// Answers in place of the stores, and keeps the questions.
    private final class Script: SourceQuestions {
        struct State {
            var now = Timestamp(seconds: 1_800_000_000)
            var asked: [String] = []
            var version = ""
            var rested = Duration.zero
        }

        let state = Mutex(State())

        func heard(_ question: String) { state.withLock { $0.asked.append(question) } }

        func lookup(_ key: LookupKey, in source: AppStoreSource) -> Result<AppStoreEntry?, SourceFault> {
            heard("\(key)")
            return Result { () throws(SourceFault) in
                guard let version = try? Version(state.withLock { $0.version }) else { throw SourceFault("no version") }
                return AppStoreEntry(listing: StoreListing(version: version))
            }
        }

        func connect(
            _ question: AppStoreConnectMachine.Question, _ source: AppStoreConnectSource
        ) -> (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?) {
            (.failure(SourceFault("nobody there")), nil)
        }

        func document(
            _ source: LaunchGateURLSource, since validators: SourceDocument.Validators
        ) throws(SourceFault) -> SourceDocument {
            heard("\(source.url) \(validators.etag ?? "")")
            let text = SourceBench.document(required: "3.0")
            return validators.etag == "a"
                ? .unchanged : .body(Array(text.utf8), validators: SourceDocument.Validators(etag: "a"))
        }

        func file(_ path: String) throws(SourceFault) -> [UInt8] { throw SourceFault("no file") }

        func releases(of source: GooglePlaySource) -> Result<[GooglePlaySummary], SourceFault> {
            heard("releases")
            return .success([GooglePlaySummary(name: "2.1", builds: [210], lifecycle: "PUBLISHED")])
        }

        func rollouts(
            of source: GooglePlaySource
        ) -> (answer: Result<[GooglePlayRollout], SourceFault>, leftover: String?) {
            heard("rollouts")
            let rollout = GooglePlayRollout(
                name: "2.1", builds: [210], status: .completed, fraction: 1)
            return (.success([rollout]), "edit")
        }

        func discard(_ edit: String, of source: GooglePlaySource) -> Bool {
            heard("discard \(edit)")
            return true
        }

        func keep(_ sources: [VersionSource]) { heard("keep \(sources.count)") }
    }

    private let script = Script()
    private let bench: SourceBench
    private let runner: SourceRunner

    init() throws {
        bench = try SourceBench()
        let script = script
        runner = try SourceRunner(
            store: bench.store, log: .init(minimum: .debug) { _, _, _ in },
            clock: { script.state.withLock { $0.now } }, questions: script,
            rest: { time in
                script.state.withLock {
                    $0.now = $0.now + time
                    $0.rested += time
                }
            })
    }

    private func loop(_ kinds: VersionSource.Kind...) -> SourceLoop {
        let store = bench.store
        let plan = SourceRunner.Plan(sources: kinds.map { VersionSource(app: SourceBench.app, kind: $0) })
        runner.adopt(plan)
        return SourceLoop(
            runner: runner,
            callbacks: .init(
                apply: { bump, source in
                    _ = try store.apply(
                        bump, actor: source, source: source, at: SourceBench.now(), draft: nil, receipt: nil
                    ) { _ in StoredAnswer(status: 200, body: []) }
                }, inForceChanged: {}),
            plan: plan)
    }

    private var asked: [String] {
        script.state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }

    private func pass(_ time: Duration) { script.state.withLock { $0.now = $0.now + time } }

    @Test func `An app whose part of the store refuses keeps no other app's version waiting`() throws {
        defer { bench.stop() }
        let other = AppKey(app: "a.first.app", platform: .ios)
        let plan = SourceRunner.Plan(
            sources: [], rules: [other: .init(hold: .zero), SourceBench.app: .init(hold: .zero)])
        runner.adopt(plan)
        let heard = Mutex(0)
        var loop = SourceLoop(
            runner: runner,
            callbacks: .init(apply: { _, _ in }, inForceChanged: { heard.withLock { $0 += 1 } }), plan: plan)
        // Rows of another program, which wait for the look that takes them up.
        try bench.store.administer(
            """
            INSERT INTO version(app, platform, required, download_url) VALUES
                ('\(other.app)', 'ios', '2.0.0', 'https://a.example'),
                ('\(SourceBench.app.app)', 'ios', '2.0.0', 'https://b.example');
            CREATE TRIGGER refuse BEFORE UPDATE ON requirement
                WHEN NEW.app = '\(other.app)'
                BEGIN SELECT RAISE(ABORT, 'this app is refused'); END;
            """)
        func inForce(_ app: AppKey) throws -> Version? {
            try bench.store.versions().first { $0.app == app }?.inForce.required
        }
        let next = loop.turn([.poke])
        #expect(try inForce(SourceBench.app) == Version("2.0.0"))
        #expect(try inForce(other) == nil && heard.withLock { $0 } == 1)
        #expect(runner.faults()["app:\(other.app)/ios"]?.contains("this app is refused") == true)
        #expect(runner.faults().count == 1)
        // The loop tries the app again by itself.
        #expect(next == script.state.withLock { $0.now } + .seconds(5))
        try bench.store.administer("DROP TRIGGER refuse")
        pass(.seconds(5))
        _ = loop.turn([])
        #expect(try inForce(other) == Version("2.0.0"))
        #expect(runner.faults().isEmpty)
    }

    @Test func `A turn does what is due and says when to come again`() throws {
        defer { bench.stop() }
        var loop = loop(.launchGateURL(LaunchGateURLSource(url: "u", every: .seconds(300))))
        let start = script.state.withLock { $0.now }
        #expect(loop.turn([]) == start + .seconds(300))
        #expect(asked == ["keep 1", "u "])
        #expect(try bench.store.version(of: SourceBench.app)?.required?.text == "3.0")
        pass(.seconds(299))
        #expect(loop.turn([]) == start + .seconds(300))
        #expect(asked == [])
        pass(.seconds(1))
        #expect(loop.turn([]) == start + .seconds(600))
        #expect(asked == ["u a"])
        runner.reload(SourceRunner.Plan(sources: []))
        #expect(loop.turn(runner.mailbox.take()) != nil)
        #expect(asked == ["keep 0"])
        runner.askToStop()
        #expect(loop.turn(runner.mailbox.take()) == nil)
    }

    @Test func `The machines are the real ones: a list, an edit, and the edit that was left over`() throws {
        defer { bench.stop() }
        var loop = loop(
            .googlePlay(GooglePlaySource(packageName: "com.example.app", every: .seconds(600))))
        for _ in 0..<2 { _ = loop.turn([]) }
        #expect(asked == ["keep 1", "releases", "rollouts"])
        #expect(try bench.store.version(of: SourceBench.app)?.latest?.text == "2.1")
        pass(.seconds(600))
        for _ in 0..<2 { _ = loop.turn([]) }
        #expect(asked == ["discard edit", "releases"])
    }

    @Test func `Who asks for the current version rests as long as the store wants`() throws {
        defer { bench.stop() }
        script.state.withLock { $0.version = "2.0" }
        _ = loop(.appStore(AppStoreSource(trackID: 1, bundleID: "a")))
        #expect(try runner.current(of: SourceBench.app)?.version.text == "2.0")
        #expect(asked == ["keep 1", "trackID(1)", "bundleID(\"a\")"])
        #expect(script.state.withLock { $0.rested } == .seconds(3))
    }
}
