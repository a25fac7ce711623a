// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry
import Testing
import Threading
import UpgradeRules
import WireFormat

@testable import RelayAPI
@testable import VersionSources

/// No channel forces a version before the user can obey it: one table for pushes, login check, launch document and
/// `/v1/enforce`. 1.9.0 is in force, 2.0.0 is asked for, and the user has 1.9.5.
@Suite("One gate for four channels, live")
struct GateTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var gate: StoreKind?
        var state: String
        /// nil: the source has not answered.
        var evidence: StoreEvidence?
        /// Whether every channel forces 2.0.0.
        var forces: Bool

        init(_ gate: StoreKind?, _ state: String, _ evidence: StoreEvidence?, forces: Bool) {
            (self.gate, self.state, self.evidence, self.forces) = (gate, state, evidence, forces)
        }

        var testDescription: String { "\(gate?.rawValue ?? "no gate"): \(state)" }
    }

    private static let hour = Duration.seconds(3600)
    private static let two = version("2.0.0")
    private static let old = version("1.9.0")

    private static func version(_ text: String) -> Version {
        do {
            return try Version(text)
        } catch {
            fatalError("\(error)")
        }
    }

    private static func lookup(_ version: Version, ago: Duration) -> StoreEvidence {
        .appStore(
            LookupEvidence(
                askedAt: Bench.now, version: version, releasedAt: Bench.now - ago, firstShownAt: Bench.now - ago))
    }

    private static func connect(_ state: String?, _ phase: AppStoreConnectEvidence.Phase? = nil) -> StoreEvidence {
        let live = AppStoreConnectEvidence.Release(version: old, state: AppStoreConnectEvidence.Release.live)
        let new = state.map { AppStoreConnectEvidence.Release(version: two, state: $0, phase: phase) }
        return .appStoreConnect(.init(askedAt: Bench.now, releases: [new, live].compactMap(\.self)))
    }

    private static func play(_ status: GooglePlayEvidence.Status?, _ fraction: Double = 0) -> StoreEvidence {
        let live = GooglePlayEvidence.Release(build: 190, version: old, status: .completed, fraction: 1)
        let new = status.map { GooglePlayEvidence.Release(build: 200, version: two, status: $0, fraction: fraction) }
        return .googlePlay(.init(askedAt: Bench.now, track: "production", releases: [new, live].compactMap(\.self)))
    }

    static let rows: [Row] = [
        Row(nil, "nobody is asked", nil, forces: true),

        Row(.appStore, "source down", nil, forces: false),
        Row(.appStore, "not there", lookup(old, ago: hour * 1000), forces: false),
        Row(.appStore, "in review, which the lookup cannot see", lookup(old, ago: hour * 1000), forces: false),
        Row(.appStore, "there since an hour", lookup(two, ago: hour), forces: false),
        Row(.appStore, "there since the hold", lookup(two, ago: hour * 24), forces: true),
        Row(.appStore, "phased, paused or not, which the lookup cannot see", lookup(two, ago: hour * 30), forces: true),

        Row(.appStoreConnect, "source down", nil, forces: false),
        Row(.appStoreConnect, "not there", connect(nil), forces: false),
        Row(.appStoreConnect, "in review", connect("IN_REVIEW"), forces: false),
        Row(.appStoreConnect, "approved, to be released by hand", connect("PENDING_DEVELOPER_RELEASE"), forces: false),
        Row(.appStoreConnect, "there", connect("READY_FOR_DISTRIBUTION"), forces: true),
        Row(.appStoreConnect, "phased", connect("READY_FOR_DISTRIBUTION", .active), forces: true),
        Row(.appStoreConnect, "phased and paused", connect("READY_FOR_DISTRIBUTION", .paused), forces: false),
        Row(.appStoreConnect, "phased to the end", connect("READY_FOR_DISTRIBUTION", .complete), forces: true),

        Row(.googlePlay, "source down", nil, forces: false),
        Row(.googlePlay, "not there", play(nil), forces: false),
        Row(.googlePlay, "in review", play(.draft), forces: false),
        Row(.googlePlay, "10 %", play(.inProgress, 0.1), forces: false),
        Row(.googlePlay, "50 %, which is what the owner wants", play(.inProgress, 0.5), forces: true),
        Row(.googlePlay, "100 %", play(.completed, 1), forces: true),
        Row(.googlePlay, "halted", play(.halted, 0.1), forces: false),
    ]

    @Test("what each state of each store makes of every channel", arguments: rows)
    func channels(_ row: Row) throws {
        let stand = try Stand(row.gate)
        stand.note(row.evidence)
        try stand.expect(row.forces)
        // A restart changes nothing, and a source that no longer answers closes nothing.
        try stand.restart()
        try stand.expect(row.forces)
    }

    @Test("what was open stays open while the source fails, and what it shows is older")
    func staysOpen() throws {
        let stand = try Stand(.appStore)
        stand.note(Self.lookup(Self.two, ago: Self.hour * 24))
        try stand.expect(true)
        stand.note(Self.lookup(Self.old, ago: Self.hour * 1000))
        try stand.expect(true)
    }

    @Test("a rollout that is halted takes back what it let through, on every channel, until it goes on")
    func halted() throws {
        let stand = try Stand(.googlePlay)
        stand.note(Self.play(.completed, 1))
        try stand.expect(true)
        stand.note(Self.play(.halted, 0.9))
        try stand.expect(false)
        #expect(try stand.campaign().state == .waiting)
        stand.note(Self.play(.completed, 1))
        try stand.expect(true)
    }

    @Test(
        "release opens every channel at once, and no store closes it again",
        arguments: [StoreKind.appStore, .googlePlay])
    func released(_ gate: StoreKind) throws {
        let stand = try Stand(gate)
        try stand.expect(false)
        let answer = try stand.bench.ask("POST", "\(stand.path)/release")
        #expect(answer.status == 200 && answer.text("inForce") == "2.0.0")
        #expect(answer.text("inForceBy") == SystemUser.shown(geteuid()))
        try stand.expect(true)
        stand.note(gate == .googlePlay ? Self.play(.halted, 0.1) : Self.lookup(Self.old, ago: Self.hour))
        try stand.expect(true)
        #expect(try stand.bench.ask("POST", "\(stand.path)/release").status == 409)
    }

    @Test("App Store Connect decides where both are asked")
    func both() throws {
        let stand = try Stand(.appStore, .appStoreConnect)
        stand.note(Self.lookup(Self.two, ago: Self.hour * 48))
        try stand.expect(false)
        stand.note(Self.connect("READY_FOR_DISTRIBUTION"))
        try stand.expect(true)
    }

    @Test("the gates are looked at again when the first of two moments comes")
    func twoMoments() throws {
        let bench = try Bench()
        let (ios, android) = (Bench.app, AppKey(app: Bench.app.app, platform: .android))
        for (app, hours) in [(ios, 1), (android, 2)] {
            let moment = Bench.now + Self.hour * hours
            let answer = try bench.ask(
                "PUT", "/v1/apps/\(app.app)/\(app.platform.rawValue)/version",
                #"{"required":"2.0","requiredFrom":"\#(moment.internetTime)"}"#)
            #expect(answer.status == 202, "\(answer.body)")
        }
        let rules = AvailabilityGate.Rules()
        let runner = try SourceRunner(store: bench.store, log: bench.logged.log, clock: { Bench.now })
        runner.reload(.init(sources: [], rules: [ios: rules, android: rules]))
        var keeper = GateKeeper()
        #expect(
            keeper.update(runner, .init(apply: { _, _ in }, inForceChanged: {})) == Bench.now + Self.hour)
    }

    @Test("a waiting campaign that is cancelled forces nothing, whatever the store offers then")
    func cancelled() throws {
        let stand = try Stand(.appStore)
        try stand.expect(false)
        _ = try stand.bench.ask("POST", "/v1/campaigns/\(stand.campaign().id)/cancel")
        stand.note(Self.lookup(Self.two, ago: Self.hour * 48))
        stand.look()
        #expect(try stand.channels().values.allSatisfy { !$0 })
    }

    /// The relay's own parts except the push service, and a source whose answers the test sets.
    private final class Stand {
        let bench: Bench
        let app: AppKey
        let path: String
        private let gates: [StoreKind]
        private var runner: SourceRunner
        private var keeper = GateKeeper()

        init(_ gates: StoreKind?...) throws {
            self.gates = gates.compactMap(\.self)
            bench = try Bench()
            app = AppKey(app: Bench.app.app, platform: gates.contains(.googlePlay) ? .android : .ios)
            path = "/v1/apps/\(app.app)/\(app.platform.rawValue)"
            runner = try Self.runner(bench, app, self.gates)
            _ = try bench.ask("PUT", "\(path)/version", #"{"required":"1.9.0","builds":{"required":190}}"#)
            bench.control.waitingReason.withLock { $0 = self.gates.isEmpty ? nil : "waiting" }
            let bump = try bench.ask("PUT", "\(path)/version", #"{"required":"2.0.0","builds":{"required":200}}"#)
            #expect(bump.status == 202)
        }

        private static func runner(_ bench: Bench, _ app: AppKey, _ gates: [StoreKind]) throws -> SourceRunner {
            let runner = try SourceRunner(store: bench.store, log: bench.logged.log, clock: { Bench.now })
            let rules = AvailabilityGate.Rules(hold: .seconds(24 * 3600), minimumFraction: 0.5)
            runner.reload(.init(sources: gates.map { .init(app: app, kind: kind($0)) }, rules: [app: rules]))
            return runner
        }

        private static func kind(_ gate: StoreKind) -> VersionSource.Kind {
            switch gate {
            case .appStore: .appStore(AppStoreSource(trackID: 1, bundleID: nil))
            case .appStoreConnect:
                .appStoreConnect(
                    AppStoreConnectSource(appID: 1, key: AppStoreConnectKey(issuerID: nil, keyID: "2X9R4HXF34")))
            case .googlePlay: .googlePlay(GooglePlaySource(packageName: "com.example.app"))
            }
        }

        func note(_ evidence: StoreEvidence?) {
            if let evidence { runner.status.note(evidence, of: app) }
        }

        func restart() throws {
            runner = try Self.runner(bench, app, gates)
            keeper = GateKeeper()
        }

        func look() {
            _ = keeper.update(runner, .init(apply: { _, _ in }, inForceChanged: {}))
            bench.server.api.versionCache.refresh()
        }

        func campaign() throws -> CampaignRecord {
            try #require(try bench.store.campaigns(before: nil, limit: 1).first)
        }

        /// Whether each channel forces 2.0.0.
        func channels() throws -> [String: Bool] {
            let query = "app=\(app.app)&platform=\(app.platform.rawValue)&version=1.9.5"
            let check = try bench.askNetwork("GET", "/v1/check?\(query)")
            let document = try bench.askNetwork("GET", "/v1/apps/\(app.app)/launchgate.json")
            let minimum = document.text(app.platform.rawValue, "requiredUpdate", "minimumVersion")
            return [
                "push": try campaign().state == .running,
                "check": check.text("body", "needUpgrade") == "1",
                "document": minimum == (app.platform == .ios ? "2.0.0" : "200"),
                "enforce": try bench.askNetwork("GET", "/v1/enforce?\(query)").status == 426,
            ]
        }

        func expect(_ forces: Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
            look()
            let all = ["push", "check", "document", "enforce"]
            let channels = try channels()
            #expect(all.filter { channels[$0] == true } == (forces ? all : []), sourceLocation: sourceLocation)
        }
    }
}
